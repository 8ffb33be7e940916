// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"
#include "symbols/ksyms.h"
#include "test.h"

static const char all[] = "0000000000000000 A fixed_percpu_data\n"
			  "ffffffff81000000 T first_alias\n"
			  "ffffffff81000000 T second_alias\n"
			  "ffffffff81000100 t inner\n"
			  "not a line\n"
			  "ffffffff81000180 W weak_one\n"
			  "ffffffff81000200 T _etext\n"
			  "ffffffff81800000 D some_data\n"
			  "ffffffffc0001000 t module_function\t[some_module]\n"
			  "ffffffffc0001040 T module_last\t[some_module]\n"
			  "ffffffffc0009000 t bpf_prog_0123456789abcdef_my_program\t[bpf]\n";

static const char modules[] = "other_module 4096 0 - Live 0xffffffffc0000000\n"
			      "some_module 8192 1 other_module, Live 0xffffffffc0001000 (E)\n";

static struct ksyms *open_text(const char *text, size_t size)
{
	struct ksyms *ksyms;
	const char *path = scratch__write("kallsyms", text, size, 0644);
	int err = ksyms__open(&ksyms, path,
			      scratch__write("modules", modules, sizeof(modules) - 1, 0644));

	if (err)
		test__fatal("kallsyms", "cannot open: %s", strerror(-err));
	return ksyms;
}

static void check_named(struct ksyms *ksyms, const char *what, uint64_t address, const char *name,
			uint64_t offset, const char *module)
{
	struct symbol symbol;
	char text[128];

	ksyms__find(ksyms, address, &symbol);
	snprintf(text, sizeof(text), "%s: name", what);
	test__same(text, symbol.name, name);
	snprintf(text, sizeof(text), "%s: offset", what);
	test__equal(text, symbol.offset, offset);
	snprintf(text, sizeof(text), "%s: module", what);
	test__same(text, symbol.module, module);
}

static void check_unnamed(struct ksyms *ksyms, const char *what, uint64_t address,
			  enum symbol_reason reason)
{
	struct symbol symbol;

	ksyms__find(ksyms, address, &symbol);
	test__check(!symbol.name && symbol.reason == reason, what, "expected %s, saw %s, %s",
		    symbol_reason__name(reason), symbol.name ? symbol.name : "no name",
		    symbol_reason__name(symbol.reason));
}

static void test_names(void)
{
	struct ksyms *ksyms = open_text(all, sizeof(all) - 1);
	struct symbol symbol;

	check_named(ksyms, "the first alias", 0xffffffff81000000, "first_alias", 0, NULL);
	check_named(ksyms, "the last byte", 0xffffffff810000ff, "first_alias", 0xff, NULL);
	check_named(ksyms, "the next symbol", 0xffffffff81000100, "inner", 0, NULL);
	check_named(ksyms, "a weak function", 0xffffffff810001ff, "weak_one", 0x7f, NULL);
	check_unnamed(ksyms, "behind the text", 0xffffffff81000200, SYMBOL_KERNEL_UNKNOWN);
	check_unnamed(ksyms, "data", 0xffffffff81800010, SYMBOL_KERNEL_UNKNOWN);
	check_unnamed(ksyms, "below the kernel", 0xffffffff80ffffff, SYMBOL_KERNEL_UNKNOWN);
	check_unnamed(ksyms, "a user address", 0x401000, SYMBOL_KERNEL_UNKNOWN);
	check_unnamed(ksyms, "address 0", 0, SYMBOL_KERNEL_UNKNOWN);
	check_named(ksyms, "a module", 0xffffffffc0001001, "module_function", 1, "some_module");
	check_named(ksyms, "the end of a module", 0xffffffffc0002fff, "module_last", 0x1fbf,
		    "some_module");
	check_unnamed(ksyms, "behind a module", 0xffffffffc0003000, SYMBOL_KERNEL_LATER);
	check_named(ksyms, "a BPF program", 0xffffffffc0009010,
		    "bpf_prog_0123456789abcdef_my_program", 0x10, "bpf");
	check_unnamed(ksyms, "far behind a BPF program", 0xffffffffc0029000, SYMBOL_KERNEL_LATER);
	ksyms__find(ksyms, 0xffffffff81000101, &symbol);
	test__equal("the size reaches to the next symbol", symbol.size, 0x80);
	ksyms__close(ksyms);
}

static void test_hidden(void)
{
	static const char zeros[] = "0000000000000000 T first\n0000000000000000 t second\n";
	struct ksyms *ksyms = open_text(zeros, sizeof(zeros) - 1);

	test__equal("zeros are recognised", ksyms__reason(ksyms), SYMBOL_KERNEL_HIDDEN);
	check_unnamed(ksyms, "zeros: no name", 0xffffffff81000000, SYMBOL_KERNEL_HIDDEN);
	check_unnamed(ksyms, "zeros: no name for address 0", 0, SYMBOL_KERNEL_HIDDEN);
	ksyms__close(ksyms);
	test__equal("a file that is not there", -ksyms__open(&ksyms, scratch__path("none"), NULL),
		    ENOENT);
}

/* What is loaded, unloaded and replaced while it runs. */
static void test_later(void)
{
	static const char later[] = "ffffffff81000000 T first_alias\n"
				    "ffffffffc0001000 t other_function\t[some_module]\n"
				    "ffffffffc0205000 t new_function\t[new_module]\n";
	struct ksyms *ksyms = open_text(all, sizeof(all) - 1);
	int err;

	check_named(ksyms, "later: before", 0xffffffffc0001001, "module_function", 1,
		    "some_module");
	err = truncate(scratch__path("kallsyms"), 0) ?
		      -errno :
		      file__write(scratch__path("kallsyms"), later);
	test__equal("later: the file is written", -err, 0);
	check_unnamed(ksyms, "later: not read again at once", 0xffffffffc0205001,
		      SYMBOL_KERNEL_LATER);
	test__sleep_ms(1100);
	check_named(ksyms, "later: a new module", 0xffffffffc0205001, "new_function", 1,
		    "new_module");
	check_named(ksyms, "later: what went is kept", 0xffffffffc0009001,
		    "bpf_prog_0123456789abcdef_my_program", 1, "bpf");
	check_unnamed(ksyms, "later: two names for one place", 0xffffffffc0001001,
		      SYMBOL_AMBIGUOUS);
	ksyms__close(ksyms);
}

/* The kernel that runs, by a symbol that every kernel has. */
static void test_real(void)
{
	struct ksyms *ksyms;
	FILE *file = fopen("/proc/kallsyms", "re");
	unsigned long long address = 0, seen;
	char line[512], name[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %*c %127s", &seen, name) == 2 && !strcmp(name, "schedule"))
			address = seen;
	if (file)
		fclose(file);
	test__equal("the running kernel", -ksyms__open(&ksyms, "/proc/kallsyms", "/proc/modules"),
		    0);
	if (address)
		check_named(ksyms, "schedule", address + 1, "schedule", 1, NULL);
	else
		test__equal("hidden addresses are recognised", ksyms__reason(ksyms),
			    SYMBOL_KERNEL_HIDDEN);
	ksyms__close(ksyms);
}

static void test_reasons(void)
{
	for (int i = 0; i < SYMBOL_NR_REASONS; i++)
		if (!symbol_reason__name(i) || !symbol_reason__sentence(i))
			test__check(false, "each reason has words", "number %d has none", i);
	test__check(!symbol_reason__name(SYMBOL_NR_REASONS), "there are no more reasons",
		    "one has a name");
}

int main(void)
{
	test_names();
	test_hidden();
	test_later();
	test_real();
	test_reasons();
	return test__done();
}
