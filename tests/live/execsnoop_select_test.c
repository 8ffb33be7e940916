// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What user space decides: patterns on name and arguments, and arguments cut when asked to. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static const char *program, *other;

static pid_t execute(const char *path, const char *const *argv)
{
	pid_t pid = workload__start(&(struct workload){ .program = path, .argv = argv });

	workload__wait(pid, NULL);
	return pid;
}

static void check_wanted(const char *const *args, const char *name, bool first, bool second)
{
	const struct json_value *account;
	struct records records;
	struct tool_run run;
	size_t first_at = 0, second_at = 0;
	pid_t first_pid, second_pid;
	char check[128];

	tool_run__trace(&run, NULL, args);
	first_pid = execute(program, ARGS("prog", "--flag", "two words"));
	second_pid = execute(other, ARGS("prog", "--flag=two", "words"));
	tool_run__stop(&run);
	records__load(&records, &run);
	snprintf(check, sizeof(check), "select: %s: what matches is shown, the rest is not", name);
	test__check(!!records__next(&records, "exec", first_pid, &first_at) == first &&
			    !!records__next(&records, "exec", second_pid, &second_at) == second,
		    check, "the first is at %zu, the second at %zu", first_at, second_at);
	account = records__account(&records);
	snprintf(check, sizeof(check), "select: %s: the rest is filtered", name);
	test__check(account__term(account, "exec", "filtered") >= 2 - first - second, check,
		    "filtered is %" PRId64, account__term(account, "exec", "filtered"));
	check_exact(account, name);
	records__free(&records);
	tool_run__free(&run);
}

/* Both begin as the test program's own name does. */
static void check_patterns(void)
{
	const char *name = file_name(program);
	char pattern[64];

	check_wanted(ARGS("-j", "-n", name), "-n with a part of the name", true, false);
	snprintf(pattern, sizeof(pattern), "^(sel|%s)", file_name(other));
	check_wanted(ARGS("-j", "-n", pattern), "-n with an alternative", true, true);
	check_wanted(ARGS("-j", "-n", "^elect"), "-n with an anchor", false, false);
	check_wanted(ARGS("-j", "-n", "flag"), "-n does not look at arguments", false, false);
	snprintf(pattern, sizeof(pattern), "^prog --flag two words$");
	check_wanted(ARGS("-j", "-l", pattern), "-l joins arguments by a blank", true, false);
	check_wanted(ARGS("-j", "-l", "--flag=t[a-z]+ w"), "-l with a class", false, true);
	check_wanted(ARGS("-j", "-l", "words", "-n", name), "-l and -n", true, false);
	check_wanted(ARGS("-j", "--max-args", "1", "-l", "words$"), "-l sees what is cut", true,
		     true);
}

static void check_cut(const char *const *args, const char *const *argv, size_t nr_bytes,
		      uint64_t cut, const char *name)
{
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	char check[128], *words;
	size_t size = 0;
	pid_t pid;

	tool_run__trace(&run, NULL, args);
	pid = execute(program, ARGS("prog", "two", "", "last one"));
	tool_run__stop(&run);
	records__load(&records, &run);
	snprintf(check, sizeof(check), "cut: %s", name);
	record = records__only(&records, "exec", pid, check);
	words = array__words(json__get(record, "args"), &size);
	test__same_bytes(check, words, size, argv[0], nr_bytes);
	test__equal(check, (uint64_t)record__number(record, "args_cut"), cut);
	check_exact(records__account(&records), check);
	free(words);
	records__free(&records);
	tool_run__free(&run);
}

/* The words make 19 bytes. */
static void check_cuts(void)
{
	static const char words[] = "prog\0two\0\0last one";

	check_cut(ARGS("-j", "--max-args", "4"), ARGS(words), 19, 0,
		  "as many arguments as there are");
	check_cut(ARGS("-j", "--max-args", "5"), ARGS(words), 19, 0, "more than there are");
	check_cut(ARGS("-j", "--max-args", "3"), ARGS(words), 10, 9, "one less");
	check_cut(ARGS("-j", "--max-args", "1"), ARGS(words), 5, 14, "the first");
	check_cut(ARGS("-j", "--max-bytes", "19"), ARGS(words), 19, 0,
		  "as many bytes as there are");
	check_cut(ARGS("-j", "--max-bytes", "5"), ARGS(words), 5, 14, "bytes of the first word");
	check_cut(ARGS("-j", "--max-bytes", "9", "--max-args", "1"), ARGS(words), 5, 14,
		  "the lesser of both limits");
}

static void check_text(void)
{
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("--utc", "--max-args", "2", "-n", file_name(program)));
	execute(program, ARGS("prog", "two", "", "last one"));
	tool_run__stop(&run);
	test__check(strstr(run.out, " prog two …(+10 bytes)\n"), "cut: text says by how much",
		    "saw: %s", run.out);
	test__check(!strncmp(run.out, "TIME(UTC)", 9), "utc: the heading says so", "saw: %s",
		    run.out);
	test__check(strstr(run.err, file_name(program)), "select: the first line repeats the limit",
		    "saw: %s", run.err);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__own_program("select");
	other = workload__own_program("other");
	check_patterns();
	check_cuts();
	check_text();
	return test__done();
}
