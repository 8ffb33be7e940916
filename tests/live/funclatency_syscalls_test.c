// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* System calls by name, on every kernel: exact counts, filters, keys, intervals, both edges. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

#define SLEEP_NS 20000000L
#define LONG_NS 2000000000L

static void nap(long ns)
{
	const struct timespec time = { ns / 1000000000, ns % 1000000000 };

	/* glibc's nanosleep() is clock_nanosleep(2). */
	if (syscall(SYS_nanosleep, &time, NULL))
		_exit(4);
}

static void nap_often(const struct writer *writer)
{
	for (unsigned long i = 0; i < writer->calls; i++)
		nap(SLEEP_NS);
}

static void nap_long(const struct writer *writer)
{
	(void)writer;
	nap(LONG_NS);
}

static void fork_children(const struct writer *writer)
{
	for (unsigned long i = 0; i < writer->calls; i++) {
		pid_t pid = (pid_t)syscall(SYS_fork);

		if (!pid)
			_exit(0);
		if (pid < 0 || waitpid(pid, NULL, 0) != pid)
			_exit(5);
	}
}

/* By int 0x80: a call of 32-bit code, whose number of write(2) is 4; the data lies low on no stack,
 * so nothing is written and the call fails, which is a call all the same. */
static void write_as_compat(const struct writer *writer)
{
	long result;

	for (unsigned long i = 0; i < writer->calls; i++)
		__asm__ volatile("int $0x80"
				 : "=a"(result)
				 : "a"(4L), "b"(-1L), "c"(0L), "d"(0L)
				 : "memory", "r8", "r9", "r10", "r11");
}

/* A run that saw all of the writer's work. Since 6.13 the tracepoints of system calls can be
 * preempted, and then the kernel skips a program on that CPU: it is told, and tried again. */
static void trace_all(const char *name, const struct writer *writer, const char *const *args,
		      struct records *records)
{
	for (int tries = 5;; tries--) {
		const struct json_value *account;
		struct tool_run run;

		tool_run__trace(&run, NULL, args);
		writer__run(writer);
		test__equal("its status", (uint64_t)tool_run__stop(&run), 0);
		records__load(records, &run);
		tool_run__free(&run);
		account = records__account(records);
		if (tries == 1 || !(account__missed(account, "syscall_enter") +
				    account__missed(account, "syscall_exit"))) {
			check_exact(account, name);
			return;
		}
		check_account(account, name);
		test__same("what was skipped is told", json__string(json__get(account, "verdict")),
			   "lower_bound");
		records__free(records);
	}
}

static struct calls trace(const char *name, const struct writer *writer, const char *target,
			  struct records *records)
{
	struct calls calls;

	trace_all(name, writer, ARGS("-j", "--comm", writer->name, target), records);
	calls = calls__of(records, NULL);
	test__equal("the histogram holds what was recorded", calls.count,
		    (uint64_t)account__term(records__account(records), NULL, "recorded"));
	return calls;
}

static void check_writes(void)
{
	const struct writer writer = { writer__name("w"), test__scaled(300000), 1, -1, NULL };
	const struct writer other = { writer__name("o"), 5000, 1, -1, NULL };
	struct records records;
	struct tool_run run;

	test__equal("write: all calls", trace("write", &writer, "sys:write", &records).count,
		    writer.calls);
	records__free(&records);

	tool_run__trace(&run, NULL, ARGS("-j", "--by", "comm", "sys:write"));
	writer__run(&writer);
	writer__run(&other);
	tool_run__stop(&run);
	records__load(&records, &run);
	check_exact(records__account(&records), "by comm");
	test__equal("by comm: one histogram", calls__of(&records, writer.name).histograms, 1);
	test__equal("by comm: its calls", calls__of(&records, writer.name).count, writer.calls);
	test__equal("by comm: the other's calls", calls__of(&records, other.name).count,
		    other.calls);
	test__equal("by comm: all are what was recorded", calls__of(&records, NULL).count,
		    (uint64_t)account__term(records__account(&records), NULL, "recorded"));
	records__free(&records);
	tool_run__free(&run);
}

static void check_sleeps(void)
{
	const struct writer naps = {
		.name = writer__name("nap"), .calls = 10, .cpu = -1, .work = nap_often
	};
	const struct writer one = {
		.name = writer__name("long"), .calls = 1, .cpu = -1, .work = nap_long
	};
	struct records records;
	struct calls calls = trace("sleep", &naps, "sys:nanosleep", &records);

	test__equal("sleep: ten calls", calls.count, 10);
	test__check(calls.min_ns >= (uint64_t)SLEEP_NS && calls.sum_ns >= 10 * (uint64_t)SLEEP_NS,
		    "sleep: none is shorter than it was", "%" PRIu64, calls.min_ns);
	records__free(&records);

	calls = trace("two seconds", &one, "sys:nanosleep", &records);
	test__equal("two seconds: one call", calls.count, 1);
	test__check(calls.max_ns >= (uint64_t)LONG_NS && calls__at(&records, calls.max_ns) == 1,
		    "two seconds: in its own row, in nanoseconds", "%" PRIu64, calls.max_ns);
	records__free(&records);
}

static void check_forks(void)
{
	const struct writer writer = {
		.name = writer__name("fork"), .calls = 50, .cpu = -1, .work = fork_children
	};
	struct records records;

	test__equal("fork: the child's return is no call",
		    trace("fork", &writer, "sys:fork", &records).count, 50);
	test__equal("fork: and none that had begun before",
		    (uint64_t)record__number(records__account(&records), "begun_before"), 0);
	records__free(&records);
}

static void check_compat(void)
{
	const struct writer writer = {
		.name = writer__name("compat"), .calls = 70, .cpu = -1, .work = write_as_compat
	};
	struct records records;

	test__equal("32-bit code: its write is write",
		    trace("compat", &writer, "sys:write", &records).count, 70);
	records__free(&records);
	/* 4 is stat(2) of 64-bit code. */
	test__equal("32-bit code: and is not what has its number",
		    trace("compat", &writer, "sys:stat", &records).count, 0);
	records__free(&records);
}

static void check_patterns(void)
{
	const struct writer writer = {
		.name = writer__name("nap"), .calls = 5, .cpu = -1, .work = nap_often
	};
	struct records records;

	test__equal("a pattern: those that match",
		    trace("pattern", &writer, "sys:*sleep", &records).count, 5);
	records__free(&records);
	test__equal("a pattern: no others", trace("pattern", &writer, "sys:read*", &records).count,
		    0);
	records__free(&records);
	test__equal("a list: one of them",
		    trace("list", &writer, "sys:pread64,nanosleep,fsync", &records).count, 5);
	records__free(&records);
	/* What else the process does: it ends, which is no call that has a latency. */
	test__check(trace("all", &writer, "sys:*", &records).count >= 5, "all: at least its own",
		    "%" PRIu64, calls__of(&records, NULL).count);
	records__free(&records);
}

static void call_and_fail(const struct writer *writer)
{
	for (unsigned long i = 0; i < writer->calls; i++) {
		if (syscall(SYS_close, -1) != -1 || syscall(SYS_getppid) < 0)
			_exit(6);
		if (i % 2 && syscall(SYS_close, dup(0)))
			_exit(7);
	}
}

static void check_outcomes(void)
{
	const struct writer writer = {
		.name = writer__name("ret"), .calls = 500, .cpu = -1, .work = call_and_fail
	};
	struct records records;

	trace_all("outcomes", &writer, ARGS("-j", "-F", "-e", "--comm", writer.name, "sys:*"),
		  &records);
	test__equal("outcomes: those that fail", calls__by_call(&records, "sys:close", "EBADF"),
		    500);
	test__equal("outcomes: those that do not", calls__by_call(&records, "sys:close", "ok"),
		    250);
	test__equal("outcomes: another call", calls__by_call(&records, "sys:getppid", "ok"), 500);
	test__equal("outcomes: which does not fail", calls__by_call(&records, "sys:getppid", NULL),
		    500);
	test__equal("outcomes: all are what was recorded", calls__by_call(&records, NULL, NULL),
		    (uint64_t)account__term(records__account(&records), NULL, "recorded"));
	records__free(&records);
}

/* Ten calls of 20 ms; what is outside the window is filtered. */
static void check_window(const char *least, const char *most, unsigned long inside)
{
	const struct writer writer = {
		.name = writer__name("win"), .calls = 10, .cpu = -1, .work = nap_often
	};
	const struct json_value *account;
	struct records records;
	char check[96];

	snprintf(check, sizeof(check), "from %s to %s", least, most);
	trace_all(check, &writer,
		  ARGS("-j", "--comm", writer.name, "--min", least, "--max", most, "sys:nanosleep"),
		  &records);
	account = records__account(&records);
	snprintf(check, sizeof(check), "from %s to %s: those inside", least, most);
	test__equal(check, calls__of(&records, NULL).count, inside);
	snprintf(check, sizeof(check), "from %s to %s: the others are filtered", least, most);
	test__check(account__term(account, NULL, "filtered") >= (int64_t)(10 - inside) &&
			    account__term(account, NULL, "recorded") == (int64_t)inside,
		    check, "%" PRId64, account__term(account, NULL, "filtered"));
	records__free(&records);
}

static void check_edges(void)
{
	const struct writer writer = {
		.name = writer__name("edge"), .calls = 40, .cpu = -1, .work = nap_often
	};
	const struct json_value *account;
	struct records records;
	struct tool_run run;
	pid_t pid = writer__start(&writer);

	test__sleep_ms(100);
	tool_run__trace(&run, NULL, ARGS("-j", "--comm", writer.name, "sys:nanosleep"));
	test__sleep_ms(200);
	tool_run__stop(&run);
	writer__wait(pid);
	records__load(&records, &run);
	account = records__account(&records);
	check_exact(account, "edges");
	test__equal("edges: the call that was inside at the start",
		    (uint64_t)record__number(account, "begun_before"), 1);
	test__equal("edges: the one that is inside at the end",
		    (uint64_t)account__term(account, NULL, "in_flight"), 1);
	test__equal("edges: its record", records__count(&records, "in_flight", writer.name), 1);
	records__free(&records);
	tool_run__free(&run);
}

static void check_intervals(void)
{
	const struct writer writer = { writer__name("often"), test__scaled(400000), 1, -1, NULL };
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "-i", "20ms", "--comm", writer.name, "sys:write"));
	writer__run(&writer);
	tool_run__stop(&run);
	records__load(&records, &run);
	check_exact(records__account(&records), "intervals");
	test__check(records__count(&records, "interval", NULL) >= 2, "intervals: there are some",
		    "%zu", records__count(&records, "interval", NULL));
	test__equal("intervals: they add up to the whole", calls__of(&records, NULL).count,
		    writer.calls);
	records__free(&records);
	tool_run__free(&run);
}

static void check_count(void)
{
	struct records records;
	struct tool_run run;

	tool_run__start(&run, NULL, ARGS("-j", "-i", "50ms", "--count", "3", "sys:write"));
	test__equal("count: it ends by itself", (uint64_t)tool_run__wait(&run), 0);
	records__load(&records, &run);
	test__equal("count: with so many intervals", records__count(&records, "interval", NULL), 3);
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	check_writes();
	check_sleeps();
	check_forks();
	check_compat();
	check_patterns();
	check_outcomes();
	check_window("1ns", "15ms", 0);
	check_window("15ms", "1h", 10);
	check_window("1h", "2h", 0);
	check_edges();
	check_intervals();
	check_count();
	return test__done();
}
