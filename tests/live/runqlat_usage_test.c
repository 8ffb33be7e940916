// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is asked wrongly is refused; signals, counts and a closed pipe end a run as they should. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <linux/capability.h>

#include "support/records.h"
#include "support/refusal.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"

static const struct refusal refusals[] = {
	{ "an interval in letters", { "abc" }, 2, "abc" },
	{ "an interval of nothing", { "0" }, 2, "0" },
	{ "a negative interval", { "-1" }, 2, "-1" },
	{ "a count of nothing", { "1", "0" }, 2, "0" },
	{ "a third operand", { "1", "2", "3" }, 2, "3" },
	{ "the interval twice", { "--interval", "1", "2" }, 2, "2" },
	{ "a huge interval", { "99999999999999999999" }, 2, "99999999999999999999" },
	{ "a pid above the limit", { "-p", "999999999" }, 2, "999999999" },
	{ "a pid that is not there", { "-p", "4000000" }, 1, "4000000" },
	{ "a cgroup that is not there", { "-c", "/nonexistent" }, 1, "/nonexistent" },
	{ "two units", { "-m", "-N" }, 2, "nanoseconds" },
	{ "a key that is none", { "--by", "pid,color" }, 2, "color" },
	{ "an empty key", { "--by", "pid," }, 2, "pid," },
	{ "a percentile above 100", { "--percentiles", "50,100.1" }, 2, "100.1" },
	{ "a percentile in letters", { "--percentiles", "p50" }, 2, "p50" },
	{ "a linear step of nothing", { "--linear", "0" }, 2, "0" },
	{ "a threshold with an unknown unit", { "--slower", "1 fortnight" }, 2, "1 fortnight" },
	{ "too many of the slowest", { "--slowest", "33" }, 2, "33" },
	{ "a point that is none", { "--from", "birth" }, 2, "birth" },
	{ "room for no key", { "--max-keys", "0" }, 2, "0" },
	{ "a mechanism it has no way for", { "--attach", "kprobe" }, 1, "kprobe" },
	{ "a face this tool has not", { "--format", "folded" }, 2, "folded" },
	{ "long waits as metrics", { "--format=openmetrics", "-s", "1" }, 2, "--slower" },
	{ "the longest as metrics", { "--format=openmetrics", "--slowest=3" }, 2, "--slowest" },
	{ "percentiles as metrics", { "--format=openmetrics", "--percentiles=5" }, 2, "--perc" },
	{ "equal rows as metrics", { "--format=openmetrics", "--linear=5" }, 2, "--linear" },
	{ "finer rows as metrics", { "--format=openmetrics", "--fine" }, 2, "--fine" },
	{ "empty rows as metrics", { "--format=openmetrics", "--all-rows" }, 2, "--all-rows" },
	{ "a top as metrics", { "--format=openmetrics", "-P", "--top=5" }, 2, "--top" },
	{ "an order as metrics", { "--format=openmetrics", "-P", "--sort=sum" }, 2, "--sort" },
	{ "a top of one histogram", { "--top", "3" }, 2, "--top" },
	{ "an order of one histogram", { "--sort", "sum" }, 2, "--sort" },
	{ "keys of one histogram", { "--max-keys", "3" }, 2, "--max-keys" },
	{ "a top of none", { "-P", "--top", "0" }, 2, "0" },
	{ "an order that is none", { "-P", "--sort", "age" }, 2, "age" },
	{ "bars as metrics", { "--format=openmetrics", "--log-bars" }, 2, "--log-bars" },
};

static void hide_btf(void *empty_file)
{
	if (!scratch__private_mounts() ||
	    mount(empty_file, "/sys/kernel/btf/vmlinux", NULL, MS_BIND, NULL))
		_exit(126);
	/* Images with types of their own, which libbpf would take instead. */
	mount("none", "/boot", "tmpfs", 0, NULL);
}

static void lose_bpf(void *ctx)
{
	(void)ctx;
	if (prctl(PR_CAPBSET_DROP, CAP_BPF) || prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN))
		_exit(126);
}

/* What the kernel or the caller lacks is named, and not told as a number. */
static void check_lacks(void)
{
	const char *empty = scratch__write("empty", "", 0, 0644);
	const struct tool_setup setups[] = {
		{ .prepare = hide_btf, .ctx = (void *)(uintptr_t)empty },
		{ .prepare = lose_bpf },
	};
	static const char *const words[] = { "/sys/kernel/btf/vmlinux", "CAP_BPF" };

	for (size_t i = 0; i < 2; i++) {
		struct tool_run run;
		int status = tool_run__once(&run, &setups[i], ARGS("-d", "0.1"));

		test__check(status == 1 && strstr(run.err, words[i]) && !run.out_size,
			    "what is lacking is named", "status %d, stderr: %s", status, run.err);
		tool_run__free(&run);
	}
}

static void check_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct tool_run run;
	char check[64];

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		tool_run__trace(&run, NULL, ARGS("-m"));
		test__sleep_ms(300);
		tool_run__signal(&run, signals[i]);
		snprintf(check, sizeof(check), "signal %d: the report, and status 0", signals[i]);
		test__check(tool_run__wait(&run) == 0 && strstr(run.out, "msecs : count") &&
				    strstr(run.err, " seen = "),
			    check, "stdout: %s, stderr: %s", run.out, run.err);
		tool_run__free(&run);
	}
}

static void check_closed_pipe(void)
{
	const struct tool_setup setup = { .pipe = true };
	struct tool_run run;

	tool_run__trace(&run, &setup, ARGS("-T", "0.1"));
	for (int i = 0; i < 3; i++)
		test__check(tool_run__line(&run, test__patience_ms(2000)) != NULL,
			    "pipe: a line comes at once", "line %d did not", i);
	tool_run__close_pipe(&run);
	test__equal("pipe: when its reader goes, the status is 0", (uint64_t)tool_run__wait(&run),
		    0);
	test__check(strstr(run.err, " seen = "), "pipe: the account is told", "saw: %s", run.err);
	test__check(!strstr(run.err, "do not add up"), "pipe: and adds up", "saw: %s", run.err);
	tool_run__free(&run);
}

/* Shapes of the text: units, rows of equal width, finer rows, other percentiles. */
static void check_shapes(void)
{
	static const struct {
		const char *name;
		const char *args[8];
		const char *text;
	} shapes[] = {
		{ "nanoseconds", { "-d", "0.3", "-N" }, "nsecs : count" },
		{ "linear", { "-d", "0.3", "--linear", "50", "--all-rows" }, "48750 or more" },
		{ "percentiles", { "-d", "0.3", "--percentiles", "25,100" }, "; p25 [" },
		{ "bars by logarithm", { "-d", "0.3", "--log-bars" }, "by logarithm" },
		{ "all rows", { "-d", "0.3", "--all-rows", "--fine" }, "        17 -> 17  " },
		{ "interval with its time", { "-T", "0.1", "1" }, ":" },
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct tool_run run;
		char check[64];
		int status = tool_run__once(&run, NULL, shapes[i].args);

		snprintf(check, sizeof(check), "shape: %s", shapes[i].name);
		test__check(!status && strstr(run.out, shapes[i].text), check,
			    "status %d, stdout: %s", status, run.out);
		tool_run__free(&run);
	}
}

static void check_nothing(void)
{
	struct tool_run run;

	test__equal("nothing: the status is 0",
		    (uint64_t)tool_run__once(&run, NULL,
					     ARGS("-d", "0.3", "--comm", "no-such-command")),
		    0);
	test__check(strstr(run.err, "0 events") && strstr(run.out, "count 0"),
		    "nothing: it is said, and why", "stderr: %s", run.err);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	refusal__check(refusals, sizeof(refusals) / sizeof(refusals[0]));
	check_lacks();
	check_signals();
	check_closed_pipe();
	check_shapes();
	check_nothing();
	return test__done();
}
