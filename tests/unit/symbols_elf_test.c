// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Symbol tables, demangling, and files as a compiler and binutils make them. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/log.h"
#include "scratch.h"
#include "symbols/demangle.h"
#include "symbols/mapped_file.h"
#include "test.h"

static struct symbol_table table;

static void add(uint64_t start, uint64_t end, const char *name, int rank, bool sized)
{
	const struct symbol_table_entry entry = {
		.start = start,
		.end = end,
		.name = name ? symbol_table__add_name(&table, name, strlen(name)) :
			       SYMBOL_TABLE_NO_NAME,
		.rank = rank,
		.sized = sized,
	};

	symbol_table__add(&table, &entry);
}

static void check(const char *what, uint64_t address, const char *name, uint64_t offset)
{
	struct symbol_table_hit hit = {};
	bool found = symbol_table__find(&table, address, &hit);

	test__check(found == (name != NULL) &&
			    (!found || (!strcmp(hit.name, name) && hit.offset == offset)),
		    what, "expected %s+%" PRIu64 ", saw %s+%" PRIu64, name ? name : "nothing",
		    offset, found ? hit.name : "nothing", hit.offset);
}

static void test_table(void)
{
	add(100, 200, "outer", 1, true);
	add(120, 140, "inner", 1, true);
	add(150, 1000, "label", 9, false);
	add(190, 230, "overlap", 1, true);
	add(300, 320, "weak", 1, true);
	add(300, 310, "strong", 2, true);
	add(400, 500, "open", 1, false);
	add(450, 460, "closed", 1, true);
	add(470, 500, "tail", 1, false);
	add(480, 500, NULL, 0, false);
	test__equal("the table is finished", -symbol_table__finish(&table), 0);
	check("below all", 99, NULL, 0);
	check("its start", 100, "outer", 0);
	check("the inner one", 139, "inner", 19);
	check("behind the inner one", 140, "outer", 40);
	check("a label inside names nothing", 160, "outer", 60);
	check("the later start", 195, "overlap", 5);
	check("reaches further", 229, "overlap", 39);
	check("the end is outside", 230, NULL, 0);
	check("the higher rank", 305, "strong", 5);
	check("the longer one", 315, "weak", 15);
	check("without a size, to the next", 449, "open", 49);
	check("the next", 455, "closed", 5);
	check("not again behind it", 465, NULL, 0);
	check("the last one, to the mark", 479, "tail", 9);
	check("behind the mark", 480, NULL, 0);
	symbol_table__free(&table);
}

static void check_demangled(const char *name, const char *expected)
{
	char *text = demangle(name);

	test__same(name, text, expected);
	free(text);
}

static void test_demangle(void)
{
	char bomb[1024] = "_Z1f";
	char *text;

	check_demangled("_ZN3foo3barEi", "foo::bar(int)");
	check_demangled("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE",
			"core::fmt::Write::write_fmt");
	check_demangled("_RNvCs1234_7mycrate3foo", "mycrate::foo");
	check_demangled("main", NULL);
	check_demangled("_Z", NULL);
	check_demangled("_ZN", NULL);
	check_demangled("", NULL);
	/* Each substitution doubles what it stands for. */
	strcat(bomb, "St4pairIiiE");
	for (int i = 0; i < 30; i++)
		sprintf(bomb + strlen(bomb), "St4pairIS%c_S%c_E", i < 10 ? '0' + i : 'A' + i - 10,
			i < 10 ? '0' + i : 'A' + i - 10);
	text = demangle(bomb);
	test__check(!text || strlen(text) < 65536, "a name that stands for gigabytes is bounded",
		    "it has %zu bytes", text ? strlen(text) : 0);
	free(text);
}

/* Whether this machine has what it takes to make the files. */
static bool run(const char *command)
{
	return system(command) == 0;
}

static bool make_files(void)
{
	static const char source[] =
		"int inner(int x) { return x * 3; }\n"
		"static __attribute__((noinline, used)) int hidden(int x) { return x + 5; }\n"
		"__asm__(\".globl bare\\n.type bare,@function\\nbare: nop\\nnop\\nret\\n\");\n"
		"int data_object = 7;\n"
		"int outer(int x) { return hidden(inner(x)); }\n";
	char command[4096];

	scratch__write("source.c", source, sizeof(source) - 1, 0644);
	snprintf(
		command, sizeof(command),
		"cd '%s/..' && gcc -O1 -fno-inline -fno-ipa-icf -nostdlib -shared -fPIC "
		"-Wl,--build-id -o full source.c && "
		"gcc -O1 -fno-inline -nostdlib -shared -fPIC -Wl,--build-id=none -o plain source.c && "
		"strip -o stripped full && strip -o plain.stripped plain && "
		"objcopy --only-keep-debug plain plain.debug && "
		"objcopy --add-gnu-debuglink=plain.debug plain.stripped linked && "
		"xz -k -c full >inner.xz && "
		"objcopy --add-section .gnu_debugdata=inner.xz stripped mini",
		scratch__path("x"));
	return mkdir(scratch__path("x"), 0755) == 0 && run(command);
}

/* The value of a symbol, by nm. */
static uint64_t value_of(const char *name)
{
	unsigned long long value = 0;
	char command[512];
	FILE *pipe;

	snprintf(command, sizeof(command), "nm '%s' | awk '$3 == \"%s\" { print $1 }'",
		 scratch__path("plain"), name);
	pipe = popen(command, "re");
	if (!pipe || fscanf(pipe, "%llx", &value) != 1)
		test__check(false, "nm", "it does not know %s", name);
	if (pipe)
		pclose(pipe);
	return value;
}

/* Loads a file as one that this process has mapped. */
static void load(struct mapped_file *file, struct opener *opener, const char *name)
{
	struct opener_request request = { .pid = getpid() };
	void *mapped;

	*file = (struct mapped_file){ .fd = open(scratch__path(name), O_RDONLY | O_CLOEXEC) };
	mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file->fd, 0);
	request.start = (uintptr_t)mapped;
	request.end = request.start + 4096;
	mapped_file__load(file, opener, &request, 64 << 20);
	munmap(mapped, 4096);
}

static void check_symbol(const struct mapped_file *file, const char *what, uint64_t value,
			 const char *expected)
{
	struct symbol_table_hit hit = {};
	char text[128];

	snprintf(text, sizeof(text), "%s: %s", what, expected ? expected : "no name");
	symbol_table__find(&file->table, value, &hit);
	test__same(text, hit.name, expected);
}

static void test_files(void)
{
	static const struct {
		const char *name;
		bool has_hidden;
	} files[] = {
		{ "full", true },      { "plain", true },
		{ "stripped", false }, { "plain.stripped", false },
		{ "linked", true },    { "mini", true },
	};
	struct mapped_file damaged;
	struct opener opener;

	if (opener__start(&opener))
		return;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct mapped_file file;

		load(&file, &opener, files[i].name);
		test__equal(files[i].name, file.reason, SYMBOL_NAMED);
		check_symbol(&file, files[i].name, value_of("outer") + 1, "outer");
		check_symbol(&file, files[i].name, value_of("bare") + 1, "bare");
		check_symbol(&file, files[i].name, value_of("hidden") + 1,
			     files[i].has_hidden ? "hidden" : NULL);
		check_symbol(&file, files[i].name, value_of("data_object"), NULL);
		mapped_file__free(&file);
	}
	/* A debug file that is not the one of the link: another CRC. */
	if (file__write(scratch__path("plain.debug"), "\177ELF\2\1\1\1"))
		test__check(false, "damage", "cannot write");
	load(&damaged, &opener, "linked");
	check_symbol(&damaged, "a debug file with another CRC", value_of("hidden") + 1, NULL);
	mapped_file__free(&damaged);
	opener__stop(&opener);
}

/* Each prefix of a file, and each of its first bytes changed: no crash, no hang. */
static void test_damaged(void)
{
	size_t size;
	char *bytes = file__read(scratch__path("full"), &size);

	for (size_t cut = 0; cut < size; cut += 97) {
		struct mapped_file file = { .fd = -1, .data = bytes, .size = cut };

		mapped_file__load(&file, NULL, NULL, 1 << 20);
		mapped_file__free(&file);
	}
	for (size_t at = 0; at < 2 * sizeof(Elf64_Ehdr); at++) {
		struct mapped_file file = { .fd = -1, .data = bytes, .size = size };
		char before = bytes[at];

		bytes[at] = 0xff;
		mapped_file__load(&file, NULL, NULL, 1 << 20);
		mapped_file__free(&file);
		bytes[at] = before;
	}
	test__check(true, "damaged files end the reading", "not reached");
	free(bytes);
}

/* A file of 1 TiB that claims tables as large as itself. */
static void test_huge(void)
{
	const Elf64_Ehdr header = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_shoff = sizeof(Elf64_Ehdr),
		.e_shnum = 2,
		.e_shentsize = sizeof(Elf64_Shdr),
	};
	const Elf64_Shdr sections[2] = {
		{ .sh_type = SHT_STRTAB, .sh_size = 1ULL << 40 },
		{ .sh_type = SHT_SYMTAB, .sh_size = 1ULL << 40, .sh_entsize = sizeof(Elf64_Sym) },
	};
	struct mapped_file file = { .fd = open(scratch__path("huge"), O_RDWR | O_CREAT, 0600) };
	uint64_t begin = test__now_ns();

	if (pwrite(file.fd, &header, sizeof(header), 0) != sizeof(header) ||
	    pwrite(file.fd, sections, sizeof(sections), sizeof(header)) != sizeof(sections) ||
	    ftruncate(file.fd, 1LL << 40)) {
		test__skip("a sparse file of 1 TiB", "%s", strerror(errno));
		return;
	}
	mapped_file__load(&file, NULL, NULL, 64 << 20);
	test__equal("a sparse file of 1 TiB is above the limit", file.reason, SYMBOL_LIMIT);
	test__check(test__now_ns() - begin < 2000000000, "and takes no time", "it took longer");
	mapped_file__free(&file);
}

int main(void)
{
	log__init("symbols_elf_test");
	test_table();
	test_demangle();
	if (make_files()) {
		test_files();
		test_damaged();
	} else {
		test__check(false, "files of the compiler", "they could not be made");
	}
	test_huge();
	return test__done();
}
