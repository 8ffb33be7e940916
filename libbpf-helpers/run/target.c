// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/target.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/log.h"

#define CACHE_PATH "/etc/ld.so.cache"
#define CACHE_BYTES_MAX (64 << 20)
#define DEBUG_FOLDER "/usr/lib/debug/.build-id"

/* Of the file's new format, which all versions of glibc since 2.32 write alone, and older ones
 * behind the old one: sysdeps/generic/dl-cache.h. */
#define CACHE_MAGIC "glibc-ld.so.cache1.1"
/* A library of 64-bit x86 code for the glibc of today: the same file. */
#define CACHE_LIBRARY_X86_64 0x0303

struct cache_header {
	char magic[sizeof(CACHE_MAGIC) - 1];
	uint32_t nr;
	uint32_t strings_size;
	uint32_t unused[5];
};

struct cache_entry {
	int32_t flags;
	uint32_t key; /* the name of the library; from the start of the header */
	uint32_t value; /* its path */
	uint32_t os_version;
	uint64_t hwcap;
};

/* Whether a file name is that of the library "c": libc.so.6, libc.so; or is the name itself. */
static bool is_library(const char *file, const char *library)
{
	size_t length = strlen(library);

	if (!strcmp(file, library))
		return true;
	return !strncmp(file, "lib", 3) && !strncmp(file + 3, library, length) &&
	       !strncmp(file + 3 + length, ".so", 3) &&
	       (!file[length + 6] || file[length + 6] == '.');
}

static char *read_file(const char *path, size_t *size, int *err)
{
	FILE *file = fopen(path, "re");
	char *data = NULL;
	struct stat stat;

	*err = file && !fstat(fileno(file), &stat) ? 0 : -errno;
	if (!*err && stat.st_size > CACHE_BYTES_MAX)
		*err = -EFBIG;
	if (!*err) {
		/* With a NUL behind it, at which the last string ends in any case. */
		data = calloc(1, (size_t)stat.st_size + 1);
		*err = data ? 0 : -ENOMEM;
	}
	if (!*err)
		*size = fread(data, 1, (size_t)stat.st_size, file);
	if (file)
		fclose(file);
	return data;
}

int loader_cache__find(const char *cache, const char *library, char path[PATH_MAX])
{
	struct cache_header header;
	size_t size = 0, left;
	char *data, *start;
	int err;

	data = read_file(cache, &size, &err);
	if (err)
		return err;
	err = -ENOENT;
	start = memmem(data, size, CACHE_MAGIC, strlen(CACHE_MAGIC));
	left = start ? size - (size_t)(start - data) : 0;
	if (left >= sizeof(header))
		memcpy(&header, start, sizeof(header));
	for (uint32_t i = 0; left >= sizeof(header) && i < header.nr && err; i++) {
		size_t at = sizeof(header) + i * sizeof(struct cache_entry);
		struct cache_entry entry;

		if (left - sizeof(entry) < at)
			break;
		memcpy(&entry, start + at, sizeof(entry));
		if (entry.flags != CACHE_LIBRARY_X86_64 || entry.key >= left ||
		    entry.value >= left || !is_library(start + entry.key, library))
			continue;
		snprintf(path, PATH_MAX, "%s", start + entry.value);
		err = 0;
	}
	free(data);
	return err;
}

/* Where loaders look beside their cache; and those that have none (musl). */
static int folders__find(const char *library, char path[PATH_MAX])
{
	static const char *const folders[] = {
		"/lib64",   "/usr/lib64",     "/lib",
		"/usr/lib", "/usr/local/lib", "/lib/x86_64-linux-gnu"
	};
	char pattern[PATH_MAX];
	glob_t found;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		int err;

		snprintf(pattern, sizeof(pattern), "%s/lib%s.so*", folders[i], library);
		err = glob(pattern, 0, NULL, &found);
		if (!err)
			snprintf(path, PATH_MAX, "%s", found.gl_pathv[0]);
		globfree(&found);
		if (!err)
			return 0;
	}
	return -ENOENT;
}

/* The library that a process has mapped, as it is in that process's view. */
static int maps__find(uint32_t pid, const char *library, char path[PATH_MAX])
{
	char name[64], line[PATH_MAX + 128], *mapped, *file;
	FILE *maps;
	int err = -ENOENT;

	snprintf(name, sizeof(name), "/proc/%u/maps", pid);
	maps = fopen(name, "re");
	if (!maps)
		return -errno;
	while (err && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		mapped = strchr(line, '/');
		file = mapped ? strrchr(mapped, '/') + 1 : NULL;
		if (!file || !is_library(file, library))
			continue;
		snprintf(path, PATH_MAX, "/proc/%u/root%.*s", pid, PATH_MAX - 32, mapped);
		err = 0;
	}
	fclose(maps);
	return err;
}

static int user_function__find_file(struct user_function *user, const char *binary, uint32_t pid)
{
	int err;

	if (!*binary && !pid)
		return log_error_because(EINVAL, "before the colon stands no program",
					 "Name the program, or one process with -p.",
					 "cannot tell whose function is meant");
	if (!*binary) {
		snprintf(user->path, sizeof(user->path), "/proc/%u/exe", pid);
		return 0;
	}
	if (strchr(binary, '/')) {
		snprintf(user->path, sizeof(user->path), "%s", binary);
		if (pid && *binary == '/')
			snprintf(user->path, sizeof(user->path), "/proc/%u/root%.*s", pid,
				 PATH_MAX - 32, binary);
		return 0;
	}
	err = pid ? maps__find(pid, binary, user->path) :
		    loader_cache__find(CACHE_PATH, binary, user->path);
	if (err && !pid)
		err = folders__find(binary, user->path);
	if (!err)
		return 0;
	log_error_because(ENOENT,
			  pid ? "the process has mapped none of that name" :
				"neither the loader's cache (" CACHE_PATH
				") nor the usual folders have one of that name",
			  "Give its path instead, with a slash in it.", "cannot find library '%s'",
			  binary);
	return -ENOENT;
}

/* The symbols that a stripped file has left in the folder of debug files. */
static int matches__add_debug(struct elf_matches *matches, const struct elf_file *file,
			      const char *function, bool demangled)
{
	char path[sizeof(DEBUG_FOLDER) + 2 * ELF_FILE_BUILD_ID_MAX + 16];
	struct elf_file debug;
	size_t used;
	int fd, err;

	if (file->build_id_size < 2)
		return 0;
	used = (size_t)snprintf(path, sizeof(path), DEBUG_FOLDER "/%02x/", file->build_id[0]);
	for (size_t i = 1; i < file->build_id_size; i++)
		used += (size_t)snprintf(path + used, sizeof(path) - used, "%02x",
					 file->build_id[i]);
	snprintf(path + used, sizeof(path) - used, ".debug");
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	err = elf_file__open(&debug, fd, NULL, 0);
	if (!err && debug.build_id_size == file->build_id_size &&
	    !memcmp(debug.build_id, file->build_id, file->build_id_size))
		err = elf_matches__add(matches, file, &debug, function, demangled);
	elf_file__close(&debug);
	close(fd);
	return err == -ENOMEM ? err : 0;
}

static int matches__find(struct elf_matches *matches, const struct elf_file *file,
			 const char *function)
{
	int err = 0;

	for (int demangled = 0; demangled < 2 && !err && !matches->nr; demangled++) {
		err = elf_matches__add(matches, file, file, function, demangled);
		if (!err && !matches->nr)
			err = matches__add_debug(matches, file, function, demangled);
	}
	return err;
}

/* The one match, or why there is no such. */
static int user_function__take(struct user_function *user, const struct elf_matches *matches,
			       const char *function)
{
	const struct elf_function *first = &matches->items[0];
	bool has_resolver = false;

	for (size_t i = 0; i < matches->nr && i < ELF_MATCHES_MAX; i++)
		has_resolver = has_resolver || matches->items[i].is_resolver;
	if (!matches->nr)
		return log_error_because(
			ENOENT,
			matches->nr_symbols ? "the file has none of that name" :
					      "the file is stripped, and no debug file was found",
			matches->nr_symbols ?
				"nm -D shows its names, nm -C those of C++ and Rust." :
				"Install its debug symbols.",
			"cannot time %s of %s", function, user->path);
	if (has_resolver)
		return log_error_because(ENOENT,
					 "it is an indirect function: what has its name only "
					 "chooses, once, which code is run in its place",
					 "Time the code that is chosen, by its own name.",
					 "cannot time %s of %s", function, user->path);
	if (matches->nr > 1)
		return log_error_because(ENOENT, "several functions have that name",
					 "Give one of their full names.",
					 "cannot time %s of %s: %s, %s%s", function, user->path,
					 first->name, matches->items[1].name,
					 matches->nr > 2 ? " and more" : "");
	snprintf(user->name, sizeof(user->name), "%s", first->name);
	user->offset = first->offset;
	return 0;
}

static int user_function__look(struct user_function *user, int fd, const char *function,
			       bool at_return)
{
	struct elf_matches matches = {};
	struct elf_file file;
	int err = elf_file__open(&file, fd, NULL, 0);

	if (err)
		log_error_because(err, err == -ENOEXEC ? "it is no ELF file" : "it is damaged",
				  NULL, "cannot read %s", user->path);
	else if (at_return && elf_file__is_go(&file))
		err = log_error_because(EOPNOTSUPP,
					"it is a Go program: Go moves its stacks, and a return "
					"probe would make it crash",
					NULL, "cannot time a function of %s", user->path);
	if (!err) {
		err = matches__find(&matches, &file, function);
		if (err)
			log_error(err, NULL, "cannot read the symbols of %s", user->path);
	}
	if (!err)
		err = user_function__take(user, &matches, function);
	elf_file__close(&file);
	return err;
}

int user_function__find(struct user_function *user, const char *binary, const char *function,
			uint32_t pid, bool at_return)
{
	struct stat stat;
	int fd, err;

	*user = (struct user_function){};
	err = user_function__find_file(user, binary, pid);
	if (err)
		return err;
	/* A FIFO must not keep it waiting. */
	fd = open(user->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &stat)) {
		err = log_error(errno, "Give the path of a program or of a library.",
				"cannot open %s", user->path);
		if (fd >= 0)
			close(fd);
		return err;
	}
	if (S_ISREG(stat.st_mode))
		err = user_function__look(user, fd, function, at_return);
	else
		err = log_error_because(ENOEXEC, "it is no regular file",
					"Give the path of a program or of a library.",
					"cannot time a function of %s", user->path);
	close(fd);
	return err;
}
