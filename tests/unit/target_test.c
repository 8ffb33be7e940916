// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Functions of user programs: where they lie, as the maps of this process say; and why a file has
 * none that can be timed. */
#include "run/target.h"

#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/log.h"
#include "support/test.h"

static char said[PATH_MAX + 512];

static void keep(const struct log_message *message)
{
	snprintf(said, sizeof(said), "%s: %s", message->message,
		 message->cause ? message->cause : "");
}

/* The place in its file of an address of this process. */
static uint64_t offset_of(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t start, end, offset;
	char line[PATH_MAX];

	if (!maps)
		test__fatal("maps", "%s", strerror(errno));
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &start, &end, &offset) ==
			    3 &&
		    address >= start && address < end) {
			fclose(maps);
			return address - start + offset;
		}
	test__fatal("maps", "the address is in none");
}

static void check_found(void)
{
	struct user_function user;
	char path[64];

	test__equal("its own program",
		    (uint64_t)user_function__find(&user, "/proc/self/exe", "keep", 0, true), 0);
	test__equal("the function's place", user.offset, offset_of((uintptr_t)keep));
	test__equal("the program of a process",
		    (uint64_t)user_function__find(&user, "", "keep", (uint32_t)getpid(), true), 0);
	test__equal("the same place", user.offset, offset_of((uintptr_t)keep));
	test__equal("a library", (uint64_t)user_function__find(&user, "c", "nanosleep", 0, true),
		    0);
	test__equal("the place in it", user.offset, offset_of((uintptr_t)nanosleep));
	test__equal("a library of a process",
		    (uint64_t)user_function__find(&user, "c", "nanosleep", (uint32_t)getpid(),
						  true),
		    0);
	snprintf(path, sizeof(path), "/proc/%d/root/", getpid());
	test__check(!strncmp(user.path, path, strlen(path)), "below its root", "%s", user.path);
}

static void check_refused(const char *binary, const char *function, int err, const char *why)
{
	struct user_function user;
	char check[PATH_MAX + 64];
	int seen;

	said[0] = '\0';
	seen = user_function__find(&user, binary, function, 0, true);
	snprintf(check, sizeof(check), "refused: %s:%s", *binary == '/' ? "PATH" : binary, why);
	test__check(seen == err && strstr(said, why), check, "%d: %s", seen, said);
}

/* A file that has sections of these names and no symbols. */
static void write_elf(const char *path, const char *section, uint32_t type)
{
	static const char null[1];
	char names[64] = "";
	Elf64_Ehdr header = { .e_type = ET_EXEC,
			      .e_machine = EM_X86_64,
			      .e_version = EV_CURRENT,
			      .e_shoff = sizeof(header) + sizeof(names),
			      .e_ehsize = sizeof(header),
			      .e_phentsize = sizeof(Elf64_Phdr),
			      .e_shentsize = sizeof(Elf64_Shdr),
			      .e_shnum = 3,
			      .e_shstrndx = 1 };
	const Elf64_Shdr sections[3] = {
		{},
		{ .sh_name = 1,
		  .sh_type = SHT_STRTAB,
		  .sh_offset = sizeof(header),
		  .sh_size = sizeof(names) },
		{ .sh_name = 11, .sh_type = type, .sh_offset = sizeof(header), .sh_size = 1 },
	};
	FILE *file = fopen(path, "we");

	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	header.e_ident[EI_VERSION] = EV_CURRENT;
	memcpy(names + 1, ".shstrtab", 10);
	snprintf(names + 11, sizeof(names) - 11, "%s", section);
	if (!file || fwrite(&header, sizeof(header), 1, file) != 1 ||
	    fwrite(names, sizeof(names), 1, file) != 1 ||
	    fwrite(sections, sizeof(sections), 1, file) != 1 || fwrite(null, 1, 1, file) != 1 ||
	    fclose(file))
		test__fatal("file", "%s", strerror(errno));
}

struct cache_entry {
	int32_t flags;
	uint32_t key;
	uint32_t value;
	uint32_t os_version;
	uint64_t hwcap;
};

/* A cache of the loader with three libraries, behind what an older format left. */
static void write_cache(const char *path, uint32_t nr)
{
	static const char strings[] = "libfoo.so.1\0/lib32/libfoo.so.1\0/lib64/libfoo.so.1\0"
				      "libfoobar.so\0/lib64/libfoobar.so";
	const uint32_t base = 48 + 3 * sizeof(struct cache_entry);
	const struct cache_entry entries[3] = {
		{ 0x0803, base + 0, base + 12, 0, 0 },
		{ 0x0303, base + 51, base + 64, 0, 0 },
		{ 0x0303, base + 0, base + 31, 0, 0 },
	};
	const uint32_t numbers[7] = { nr, sizeof(strings) };
	FILE *file = fopen(path, "we");

	if (!file || fwrite("ld.so-1.7.0\0padding", 1, 20, file) != 20 ||
	    fwrite("glibc-ld.so.cache1.1", 1, 20, file) != 20 ||
	    fwrite(numbers, sizeof(numbers), 1, file) != 1 ||
	    fwrite(entries, sizeof(entries), 1, file) != 1 ||
	    fwrite(strings, sizeof(strings), 1, file) != 1 || fclose(file))
		test__fatal("cache", "%s", strerror(errno));
}

static void check_cache(const char *path)
{
	char found[PATH_MAX];

	write_cache(path, 3);
	test__check(!loader_cache__find(path, "foo", found) && !strcmp(found, "/lib64/libfoo.so.1"),
		    "cache: a library of 64-bit code, by its short name", "%s", found);
	test__check(!loader_cache__find(path, "libfoo.so.1", found) &&
			    !strcmp(found, "/lib64/libfoo.so.1"),
		    "cache: by its whole name", "%s", found);
	test__equal("cache: one that is not there",
		    (uint64_t)-loader_cache__find(path, "fo", found), ENOENT);
	write_cache(path, 1000000);
	test__equal("cache: one that says more than it holds",
		    (uint64_t)-loader_cache__find(path, "absent", found), ENOENT);
	test__equal("cache: none", (uint64_t)-loader_cache__find("/no/cache", "foo", found),
		    ENOENT);
}

int main(void)
{
	char path[] = "/tmp/target_test.XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0)
		test__fatal("file", "%s", strerror(errno));
	close(fd);
	check_found();
	log__set_writer(keep);
	check_refused("/proc/self/exe", "no_such_function", -ENOENT, "none of that name");
	check_refused("/proc/self/maps", "f", -ENOEXEC, "no ELF file");
	check_refused("/proc", "f", -ENOEXEC, "no regular file");
	check_refused("/no/such/file", "f", -ENOENT, "No such file");
	check_refused("nolib", "f", -ENOENT, "loader's cache");
	check_refused("", "f", -EINVAL, "no program");
	check_refused("c", "memcpy", -ENOENT, "indirect");
	write_elf(path, ".note.go.buildid", SHT_NOTE);
	check_refused(path, "main.main", -EOPNOTSUPP, "Go");
	write_elf(path, ".text", SHT_PROGBITS);
	check_refused(path, "main", -ENOENT, "stripped");
	check_cache(path);
	unlink(path);
	return test__done();
}
