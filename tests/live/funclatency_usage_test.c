// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is asked wrongly is refused with a sentence; the text, CSV and OpenMetrics faces. */
#include <stdio.h>
#include <string.h>

#include "support/records.h"
#include "support/refusal.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

static const struct refusal refusals[] = {
	{ "no target", { NULL }, 2, "no TARGET" },
	{ "an empty target", { "" }, 2, "'' is no TARGET" },
	{ "a target with a blank", { "vfs write" }, 2, "'vfs write' is no target" },
	{ "two targets", { "sys:read", "sys:write" }, 2, "sys:write" },
	{ "no system call", { "sys:wirte" }, 1, "Did you mean write?" },
	{ "a pattern of none", { "sys:zz*" }, 1, "zz*" },
	{ "a call that never returns", { "sys:exit_group" }, 1, "never returns" },
	{ "two units", { "-u", "-m", "sys:write" }, 2, "--microseconds" },
	{ "a key that is none", { "--by", "pid,color", "sys:write" }, 2, "color" },
	{ "a top without keys", { "--top", "3", "sys:write" }, 2, "--top" },
	{ "an order without keys", { "--sort", "max", "sys:write" }, 2, "--sort" },
	{ "room without keys", { "--max-keys", "3", "sys:write" }, 2, "--max-keys" },
	{ "an interval of nothing", { "-i", "0", "sys:write" }, 2, "0" },
	{ "a percentile above all", { "--percentiles", "101", "sys:write" }, 2, "101" },
	{ "percentiles as metrics",
	  { "--format=openmetrics", "--percentiles=50", "sys:write" },
	  2,
	  "--percentiles" },
	{ "both kinds of slow calls", { "-s", "1ms", "--slowest=2", "sys:write" }, 2, "--slowest" },
	{ "slower than nothing", { "-s", "0", "sys:write" }, 2, "0" },
	{ "more of the slowest than there is room", { "--slowest", "33", "sys:write" }, 2, "33" },
	{ "slow calls as metrics", { "--format=openmetrics", "-s1ms", "sys:write" }, 2, "--slower" },
	{ "a user function of nobody", { ":main" }, 2, "-p" },
	{ "a library that is not there", { "no_such_library:f" }, 1, "no_such_library" },
	{ "a program that is not there", { "/no/such/program:f" }, 1, "/no/such/program" },
	{ "a program that is none", { "/proc/kallsyms:f" }, 1, "no ELF file" },
	{ "a program that is a folder", { "/proc:f" }, 1, "no regular file" },
	{ "a way that user functions have not",
	  { "--attach", "fentry", "/proc/self/exe:f" },
	  1,
	  "cannot" },
	{ "a pid that is not there", { "-p", "4000000", "sys:write" }, 1, "4000000" },
	{ "a window of nothing", { "--min=2ms", "--max=1ms", "sys:write" }, 2, "--max" },
	{ "outcomes of a user function", { "-e", "/proc/self/exe:f" }, 2, "no outcome" },
	{ "outcomes of what returns nothing", { "-e", "schedule" }, 2, "returns nothing" },
	{ "a way that system calls have not", { "--attach", "kprobe", "sys:write" }, 1, "kprobe" },
	{ "a way that functions have not", { "--attach", "tp_btf", "vfs_write" }, 1, "tp_btf" },
};

/* Where neither way to a function works, both reasons are told, and what works instead. */
static void check_refused_function(void)
{
	struct tool_run run;

	if (tool_run__start(&run, NULL, ARGS("vfs_write"))) {
		test__equal("a function that can be traced", (uint64_t)tool_run__stop(&run), 0);
		tool_run__free(&run);
		return;
	}
	tool_run__wait(&run);
	test__equal("a function that cannot be traced: status", (uint64_t)run.status, 1);
	test__check(strstr(run.err, "fentry") && strstr(run.err, "kprobe"),
		    "a function that cannot be traced: both reasons", "%s", run.err);
	test__check(!!strstr(run.err, "try sys:write"),
		    "a function that cannot be traced: what can", "%s", run.err);
	tool_run__free(&run);
}

static void trace(struct tool_run *run, const char *const *args)
{
	const struct writer writer = { writer__name("face"), 1000, 1, -1, NULL };

	tool_run__trace(run, NULL, args);
	writer__run(&writer);
	tool_run__stop(run);
}

static void check_text(void)
{
	struct tool_run run;

	trace(&run, ARGS("sys:write"));
	test__check(strstr(run.out, "nsecs : count     distribution") && strstr(run.out, "p99.9 ["),
		    "text: nanoseconds, with percentiles", "%s", run.out);
	test__check(strstr(run.err,
			   "tracing the system call write (sys_exit, sys_enter by tp_btf)") &&
			    strstr(run.err, "call "),
		    "text: what is traced, and the account", "%s", run.err);
	tool_run__free(&run);
	trace(&run, ARGS("-u", "sys:write"));
	test__check(!!strstr(run.out, "usecs : count"), "text: -u", "%s", run.out);
	tool_run__free(&run);
	trace(&run, ARGS("-m", "-P", "--percentiles", "12.5", "sys:write"));
	test__check(strstr(run.out, "msecs : count") && strstr(run.out, "pid = ") &&
			    strstr(run.out, "p12.5 [") && !strstr(run.out, "p99"),
		    "text: -m -P --percentiles", "%s", run.out);
	tool_run__free(&run);
	trace(&run, ARGS("-F", "-e", "sys:write*"));
	test__check(!!strstr(run.out, "func = sys:write, ret = ok\n"), "text: -F -e", "%s",
		    run.out);
	tool_run__free(&run);
	trace(&run, ARGS("--min=5us", "--max=1h", "sys:write"));
	test__check(!!strstr(run.err, "calls of at least 5us, calls of at most "),
		    "text: the window is told", "%s", run.err);
	tool_run__free(&run);
	trace(&run, ARGS("-L", "--top", "1", "--sort", "count", "sys:write"));
	test__check(!!strstr(run.out, "tid = "), "text: -L", "%s", run.out);
	tool_run__free(&run);
	trace(&run, ARGS("--nanoseconds", "-T", "-i", "10s", "sys:write"));
	test__check(strstr(run.out, "(only ") && strstr(run.out, "nsecs"),
		    "text: -T heads an interval", "%s", run.out);
	tool_run__free(&run);
}

static void check_csv(void)
{
	struct tool_run run;

	trace(&run, ARGS("--format=csv", "--by=cpu", "--max-keys=64", "sys:write"));
	test__check(strstr(run.out, "type,") && strstr(run.out, "histogram,"),
		    "csv: a heading and histograms", "%s", run.out);
	tool_run__free(&run);
}

static void check_openmetrics(void)
{
	struct tool_run run;

	trace(&run, ARGS("--format=openmetrics", "sys:write"));
	test__check(strstr(run.out, "# TYPE funclatency_call_seconds histogram") &&
			    strstr(run.out, "funclatency_call_seconds_count") &&
			    strstr(run.out, "# EOF"),
		    "openmetrics: a histogram", "%s", run.out);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	refusal__check(refusals, sizeof(refusals) / sizeof(refusals[0]));
	check_refused_function();
	check_text();
	check_csv();
	check_openmetrics();
	return test__done();
}
