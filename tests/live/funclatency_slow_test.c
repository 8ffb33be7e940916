// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The one slow call among many: its row, its percentile, and a record of who, when, where and by
 * which way. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

#define MANY 300000
#define SLOW_NS 250000000ULL

static void nap(uint64_t ns)
{
	const struct timespec time = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	if (syscall(SYS_nanosleep, &time, NULL))
		_exit(4);
}

static void *drain(void *arg)
{
	static char data[65536];
	const int *fd = arg;

	nap(SLOW_NS);
	if (read(*fd, data, sizeof(data)) <= 0)
		_exit(5);
	return NULL;
}

/* Writes of a byte that are quick, and one in the middle that finds its pipe full. */
static void write_one_slowly(const struct writer *writer)
{
	static char data[65536];
	int fds[2], null = open("/dev/null", O_WRONLY | O_CLOEXEC), capacity;
	pthread_t thread;

	if (null < 0 || pipe(fds))
		_exit(6);
	capacity = fcntl(fds[1], F_GETPIPE_SZ);
	if (capacity < 1 || capacity > (int)sizeof(data) ||
	    write(fds[1], data, (size_t)capacity) != capacity)
		_exit(7);
	for (unsigned long i = 0; i < writer->calls; i++) {
		if (i == writer->calls / 2) {
			if (pthread_create(&thread, NULL, drain, &fds[0]) ||
			    write(fds[1], "12345", 5) != 5 || pthread_join(thread, NULL))
				_exit(8);
			continue;
		}
		if (write(null, "x", 1) != 1)
			_exit(9);
	}
}

static void nap_in_turn(const struct writer *writer)
{
	for (unsigned long i = 1; i <= writer->calls; i++)
		nap(i * 30000000);
}

static void fail(const struct writer *writer)
{
	for (unsigned long i = 0; i < writer->calls; i++)
		if (syscall(SYS_close, -1) != -1)
			_exit(10);
}

static void run(const struct writer *writer, const char *const *args, const char *name,
		struct records *records)
{
	struct tool_run run;

	tool_run__trace(&run, NULL, args);
	writer__run(writer);
	test__equal("its status", (uint64_t)tool_run__stop(&run), 0);
	records__load(records, &run);
	check_account(records__account(records), name);
	tool_run__free(&run);
}

/* The nth slow record, or NULL. */
static const struct json_value *slow_at(const struct records *records, size_t n)
{
	const struct json_value *record;
	size_t index = 0;

	while ((record = records__next(records, "slow", 0, &index)))
		if (!n--)
			return record;
	return NULL;
}

static void check_record(const struct records *records, const struct writer *writer,
			 const char *target, uint64_t before_ns)
{
	const struct json_value *slow = slow_at(records, 0);
	uint64_t time_ns = (uint64_t)record__number(slow, "time_ns");

	if (!test__check(!!slow, "slow: there is a record", "none"))
		return;
	test__check((uint64_t)record__number(slow, "duration_ns") >= SLOW_NS - SLOW_NS / 10,
		    "slow: the first is the slowest", "%" PRId64,
		    record__number(slow, "duration_ns"));
	test__same("slow: who", json__string(json__get(slow, "comm")), writer->name);
	test__check(record__number(slow, "pid") > 0 &&
			    record__number(slow, "pid") == record__number(slow, "tid"),
		    "slow: which thread", "%" PRId64, record__number(slow, "tid"));
	test__check(record__number(slow, "cpu") >= 0 &&
			    record__number(slow, "cpu") < sysconf(_SC_NPROCESSORS_CONF),
		    "slow: on which CPU", "%" PRId64, record__number(slow, "cpu"));
	test__check(time_ns > before_ns + SLOW_NS / 2 && time_ns < test__wall_ns(), "slow: when",
		    "%" PRIu64, time_ns);
	test__same("slow: what", json__string(json__get(slow, "target")), target);
}

static void check_one_in_many(const char *target)
{
	const struct writer writer = { .name = writer__name("slow"),
				       .calls = test__scaled(MANY),
				       .cpu = -1,
				       .work = write_one_slowly };
	const char *const args[] = { "-j", "--slowest=3", "--comm", writer.name, target, NULL };
	const struct json_value *percentiles;
	uint64_t before_ns = test__wall_ns();
	struct records records;
	struct calls calls;

	run(&writer, args, target, &records);
	calls = calls__of(&records, NULL);
	/* One more fills the pipe. */
	test__equal("slow: all calls", calls.count, writer.calls + 1);
	test__check(calls.max_ns >= SLOW_NS - SLOW_NS / 10 &&
			    calls__at(&records, calls.max_ns) >= 1,
		    "slow: it has its row", "%" PRIu64, calls.max_ns);
	test__equal("slow: three records", records__count(&records, "slow", NULL), 3);
	check_record(&records, &writer, target, before_ns);
	test__check(record__number(slow_at(&records, 0), "ret") == 5 ||
			    !json__get(slow_at(&records, 0), "ret"),
		    "slow: what it returned", "%" PRId64,
		    record__number(slow_at(&records, 0), "ret"));
	percentiles = json__get(records__at(&records, 1), "percentiles");
	test__check(percentiles && percentiles->kind == JSON_ARRAY && percentiles->array.nr >= 4,
		    "slow: and its percentile", "%zu", percentiles ? percentiles->array.nr : 0);
	records__free(&records);
}

static void check_slower(void)
{
	const struct writer writer = {
		.name = writer__name("turn"), .calls = 5, .cpu = -1, .work = nap_in_turn
	};
	struct records records;

	/* 30, 60, 90, 120 and 150 ms. */
	run(&writer, ARGS("-j", "-s", "75ms", "--comm", writer.name, "sys:nanosleep"), "slower",
	    &records);
	test__equal("slower: the histogram has all", calls__of(&records, NULL).count, 5);
	test__check(records__count(&records, "slow", NULL) >= 3, "slower: each above is told",
		    "%zu", records__count(&records, "slow", NULL));
	test__check(record__number(slow_at(&records, 0), "duration_ns") >= 75000000,
		    "slower: none below", "%" PRId64,
		    record__number(slow_at(&records, 0), "duration_ns"));
	records__free(&records);

	run(&writer, ARGS("-j", "--slowest", "2", "--comm", writer.name, "sys:nanosleep"),
	    "slowest", &records);
	test__equal("slowest: as many as asked for", records__count(&records, "slow", NULL), 2);
	test__check(record__number(slow_at(&records, 0), "duration_ns") >= 150000000 &&
			    record__number(slow_at(&records, 1), "duration_ns") >= 120000000 &&
			    record__number(slow_at(&records, 0), "duration_ns") >=
				    record__number(slow_at(&records, 1), "duration_ns"),
		    "slowest: those with the longest, in order", "%" PRId64,
		    record__number(slow_at(&records, 0), "duration_ns"));
	records__free(&records);

	run(&writer, ARGS("-j", "--comm", writer.name, "sys:nanosleep"), "none", &records);
	test__equal("none: JSON has none that were not asked for",
		    records__count(&records, "slow", NULL), 0);
	records__free(&records);
}

static void check_error(void)
{
	const struct writer writer = {
		.name = writer__name("fail"), .calls = 3, .cpu = -1, .work = fail
	};
	struct records records;

	run(&writer, ARGS("-j", "-s", "1ns", "--comm", writer.name, "sys:close"), "error",
	    &records);
	test__equal("error: a record each", records__count(&records, "slow", writer.name), 3);
	test__equal("error: what it returned",
		    (uint64_t)-record__number(slow_at(&records, 0), "ret"), 9);
	test__same("error: by name", json__string(json__get(slow_at(&records, 0), "error")),
		   "EBADF");
	records__free(&records);
}

/* Each system call by its own name. */
static void check_names(void)
{
	const struct writer writer = {
		.name = writer__name("name"), .calls = 3, .cpu = -1, .work = nap_in_turn
	};
	struct records records;

	run(&writer, ARGS("-j", "--slowest", "3", "--comm", writer.name, "sys:*"), "names",
	    &records);
	check_exact(records__account(&records), "names");
	for (size_t i = 0; i < 3; i++)
		test__same("names: the slowest of all",
			   json__string(json__get(slow_at(&records, i), "target")),
			   "sys:nanosleep");
	records__free(&records);
}

static bool has_frame(const struct json_value *stack, const char *symbol)
{
	for (size_t i = 0; stack && stack->kind == JSON_ARRAY && i < stack->array.nr; i++)
		if (json__is(json__get(&stack->array.items[i], "symbol"), symbol))
			return true;
	return false;
}

/* Linux 5.10 cannot look past the return probe; with kptr_restrict=2 there are no names. */
static void check_callers(const struct json_value *stack, const char *way)
{
	if (stack->array.nr == 1) {
		test__same("stack: that ends at a probe", way, "kprobe");
		return;
	}
	if (json__get(&stack->array.items[1], "reason")) {
		test__same("stack: why there are no names",
			   json__string(json__get(&stack->array.items[1], "reason")),
			   "kernel_hidden");
		return;
	}
	test__check(has_frame(stack, "hrtimer_nanosleep") && has_frame(stack, "do_syscall_64"),
		    "stack: then its callers", "%zu frames", stack->array.nr);
}

/* The stack of a function: itself, then who called it. */
static void check_stack(const char *way)
{
	const struct writer writer = {
		.name = writer__name("stack"), .calls = 3, .cpu = -1, .work = nap_in_turn
	};
	const char *const args[] = { "-j",     "--slowest=1", "--attach",     way,
				     "--comm", writer.name,   "do_nanosleep", NULL };
	const struct json_value *slow, *stack;
	struct records records;
	struct tool_run run;

	if (!tool_run__start(&run, NULL, args)) {
		tool_run__wait(&run);
		test__check(run.status == 1 && !getenv("VANTAGE_GUEST"),
			    "stack: functions can be traced in every guest", "%s", run.err);
		tool_run__free(&run);
		return;
	}
	writer__run(&writer);
	tool_run__stop(&run);
	records__load(&records, &run);
	slow = records__only(&records, "slow", 0, "stack: one record");
	stack = json__get(slow, "kernel_stack");
	if (test__check(stack && stack->kind == JSON_ARRAY && stack->array.nr,
			"stack: there is one", "none")) {
		test__same("stack: the function is first",
			   json__string(json__get(&stack->array.items[0], "symbol")),
			   "do_nanosleep");
		check_callers(stack, way);
	}
	test__check(!json__get(slow, "ret") || record__number(slow, "ret") == 0,
		    "stack: what the function returned", "%" PRId64, record__number(slow, "ret"));
	records__free(&records);
	tool_run__free(&run);
}

static void check_text(void)
{
	const struct writer writer = {
		.name = writer__name("text"), .calls = 3, .cpu = -1, .work = nap_in_turn
	};
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("--comm", writer.name, "sys:nanosleep"));
	writer__run(&writer);
	tool_run__stop(&run);
	test__check(strstr(run.out, "CALL(ms)") && strstr(run.out, writer.name) &&
			    strstr(run.out, " sys:nanosleep\n"),
		    "text: the slowest are lines below the bars", "%s", run.out);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	check_one_in_many("sys:write");
	if (getenv("VANTAGE_GUEST"))
		check_one_in_many("vfs_write");
	check_slower();
	check_error();
	check_names();
	check_stack("fentry");
	check_stack("kprobe");
	check_text();
	return test__done();
}
