// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is asked wrongly is refused with the word that is wrong; what only asks is answered. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/refusal.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"

#define USAGE 2
#define FAILED 1

static const struct refusal refusals[] = {
	{ "an unknown long option", { "--no-such-option" }, USAGE, "--no-such-option" },
	{ "an unknown letter", { "-Z" }, USAGE, "Z" },
	{ "a word too many", { "surplus" }, USAGE, "surplus" },
	{ "a user that is not there", { "-u", "nosuchuser" }, USAGE, "nosuchuser" },
	{ "an empty user", { "-u", "" }, USAGE, "uid" },
	{ "a user number too large", { "-u", "4294967296" }, USAGE, "4294967296" },
	{ "a pid in letters", { "-p", "abc" }, USAGE, "abc" },
	{ "a pid with something after it", { "-p", "12x" }, USAGE, "12x" },
	{ "a pid with space before it", { "-p", " 12" }, USAGE, " 12" },
	{ "a pid above the kernel's limit", { "-p", "99999999" }, USAGE, "99999999" },
	{ "a pid of more than 64 bits",
	  { "-p", "18446744073709551617" },
	  USAGE,
	  "18446744073709551617" },
	{ "pid 0", { "-p", "0" }, USAGE, "0" },
	{ "a negative pid", { "-p", "-1" }, USAGE, "-1" },
	{ "an empty list of pids", { "-p", "" }, USAGE, "pid" },
	{ "a list with an empty place", { "-p", "1,,2" }, USAGE, "1,,2" },
	{ "a list that ends in a comma", { "--tid", "1," }, USAGE, "1," },
	{ "a bad word in a list", { "-P", "1,x" }, USAGE, "x" },
	{ "an empty comm", { "--comm", "" }, USAGE, "comm" },
	{ "a glob that does not end", { "--comm", "[a-" }, USAGE, "[a-" },
	{ "a negative duration", { "-d", "-1" }, USAGE, "-1" },
	{ "a duration in letters", { "-d", "soon" }, USAGE, "soon" },
	{ "a duration with an unknown unit", { "-d", "5 parsecs" }, USAGE, "5 parsecs" },
	{ "an empty duration", { "-d", "" }, USAGE, "duration" },
	{ "a duration that is not finite", { "-d", "inf" }, USAGE, "inf" },
	{ "an option without its value", { "-p" }, USAGE, "p" },
	{ "two faces", { "-j", "--format", "csv" }, USAGE, "format" },
	{ "two faces the other way round", { "--format", "text", "-j" }, USAGE, "json" },
	{ "a face this tool has not", { "--format", "folded" }, USAGE, "folded" },
	{ "metrics, of which it has none", { "--format", "openmetrics" }, USAGE, "openmetrics" },
	{ "a mechanism that is none", { "--attach", "magic" }, USAGE, "magic" },
	{ "a ring without a size", { "--ring-size", "big" }, USAGE, "big" },
	{ "a ring of no bytes", { "--ring-size", "0" }, USAGE, "0" },
	{ "an expectation in letters", { "--expect", "many" }, USAGE, "many" },
	{ "a descriptor in letters", { "--ready-fd", "x" }, USAGE, "x" },
	{ "a regular expression that does not end", { "-n", "(a" }, USAGE, "(a" },
	{ "a bad class of characters", { "-l", "[z-a]" }, USAGE, "[z-a]" },
	{ "no arguments at all", { "--max-args", "0" }, USAGE, "0" },
	{ "bytes in letters", { "--max-bytes", "all" }, USAGE, "all" },
	{ "a lifetime in letters", { "--max-duration", "short" }, USAGE, "short" },
	{ "a lifetime with an unknown unit", { "--min-duration", "3d" }, USAGE, "3d" },
	{ "limits with nothing between",
	  { "--min-duration", "2s", "--max-duration", "1s" },
	  USAGE,
	  "--min-duration" },
	{ "both kinds of summary", { "-s", "-S" }, USAGE, "summary" },
	{ "rows without a summary", { "--top", "3" }, USAGE, "--top" },
	{ "an order without a summary", { "--sort", "cpu" }, USAGE, "--sort" },
	{ "an order that is none", { "-s", "--sort", "age" }, USAGE, "age" },
	{ "no rows", { "-s", "--top", "0" }, USAGE, "0" },
	{ "more ancestors than there can be", { "--ancestors", "17" }, USAGE, "17" },
	{ "a variable with a value", { "--env", "HOME=/" }, USAGE, "HOME=/" },
	{ "a variable without a name", { "--env", "" }, USAGE, "env" },
	{ "a dash-dash without a command", { "--" }, USAGE, "--" },
	{ "a process that is not there", { "-p", "4000000" }, FAILED, "4000000" },
	{ "a thread that is not there", { "--tid", "4000000" }, FAILED, "4000000" },
	{ "a parent that is not there", { "--ppid", "4000000" }, FAILED, "4000000" },
	{ "a tree that is not there", { "--tree", "4000000" }, FAILED, "4000000" },
	{ "a cgroup that is not there", { "-c", "/nonexistent" }, FAILED, "/nonexistent" },
	{ "a cgroup id that is not there", { "-c", "999999999999" }, FAILED, "999999999999" },
	{ "a descriptor that is not open", { "--ready-fd", "77" }, FAILED, "77" },
};

static void check_answer(const char *const *args, const char *name, const char *const *words)
{
	struct tool_run run;
	char check[160];

	snprintf(check, sizeof(check), "answer: %s ends with 0", name);
	test__equal(check, (uint64_t)tool_run__once(&run, NULL, args), 0);
	for (; *words; words++) {
		snprintf(check, sizeof(check), "answer: %s has \"%s\"", name, *words);
		test__check(strstr(run.out, *words), check, "saw: %s", run.out);
	}
	tool_run__free(&run);
}

/* --help shows every option of the contract that this tool has, in the four groups in order. */
static void check_help(void)
{
	static const char *const groups[] = { "events", "report", "show", "measure" };
	struct tool_run run;
	const char *at;

	check_answer(ARGS("--help"), "--help",
		     ARGS("-p, --pid", "--tree", "--tid", "--comm", "-u, --uid", "-P, --ppid",
			  "-c, --cgroup", "-d, --duration", "-T, --time", "-t, --timestamp",
			  "-e, --exits", "-x, --fails", "-n, --name", "-l, --line", "--max-args",
			  "--max-bytes", "--ancestors", "--env", "--utc", "--forks",
			  "--min-duration", "--max-duration", "-s, --summary", "-S, --summary-only",
			  "--top", "--sort", "--max-keys", "-q, --quote", "-U, ", "-C, ", "-M, ",
			  "--format", "-j, --json", "--output", "--attach", "--ring-size",
			  "--explain", "--check", "--stats", "--strict", "--expect", "--ready-fd",
			  "--json-schema", "-v, --verbose", "--version", "--help", "COMMAND"));
	tool_run__once(&run, NULL, ARGS("--help"));
	at = run.out;
	for (size_t i = 0; i < 4 && at; i++)
		at = strstr(at, groups[i]);
	test__check(at, "answer: --help has the four groups in their order", "saw: %s", run.out);
	tool_run__free(&run);
}

/* The plan is told and nothing is traced: the tool ends although no end was asked for. */
static void check_explain(void)
{
	struct tool_run run;

	check_answer(ARGS("--explain", "-e", "--comm", "nginx*", "-d", "5s"), "--explain",
		     ARGS("sched_process_exec", "sched_process_exit", "tp_btf", "nginx*", "5s"));
	test__check(!tool_run__start(&run, NULL, ARGS("--explain")),
		    "answer: --explain has no ready byte", "it has");
	tool_run__wait(&run);
	tool_run__free(&run);
}

static void check_stats(void)
{
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("--stats"));
	tool_run__stop(&run);
	test__check(strstr(run.err, "runs") && strstr(run.err, "ns") && strstr(run.err, "CPU"),
		    "answer: --stats tells runs, time and CPU on stderr", "saw: %s", run.err);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	if (!kill(4000000, 0) || errno != ESRCH)
		test__fatal("usage", "there is a process 4000000");
	refusal__check(refusals, sizeof(refusals) / sizeof(refusals[0]));
	check_help();
	check_answer(ARGS("--version"), "--version", ARGS("execsnoop", "."));
	check_answer(ARGS("--check"), "--check",
		     ARGS("BTF", "ring buffer", "tp_btf", "CAP_BPF", "CAP_PERFMON", "tracefs",
			  "kprobe", "fentry", "uprobe"));
	check_explain();
	check_stats();
	return test__done();
}
