// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * A wait of known length is in the row of that length, in each unit: a real-time task wakes a
 * thread on its own CPU and keeps that busy for 20 ms.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/children.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"

#define WAIT_NS UINT64_C(20000000)

/* In the child, on the last CPU; priority 0: an ordinary task. */
static pid_t start(int priority, void (*work)(const int *), const int *ends)
{
	const struct sched_param param = { .sched_priority = priority };
	pid_t pid = children__fork();

	if (pid)
		return pid;
	children__bind(children__last_cpu());
	if (priority && sched_setscheduler(0, SCHED_FIFO, &param))
		_exit(1);
	work(ends);
	_exit(0);
}

static void sleep_for_bytes(const int *ends)
{
	char byte;

	while (read(ends[0], &byte, 1) == 1)
		continue;
}

static void wake_and_keep_busy(const int *ends)
{
	for (;;) {
		uint64_t begin_ns;

		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		/* The other has been woken by now: its wait is no shorter than what follows. */
		begin_ns = test__now_ns();
		while (test__now_ns() < begin_ns + WAIT_NS)
			continue;
		test__sleep_ms(30);
	}
}

static int64_t bucket_of(const struct json_value *histogram, uint64_t value)
{
	const struct json_value *buckets = json__get(histogram, "buckets");

	for (size_t i = 0; buckets && i < buckets->array.nr; i++) {
		const struct json_value *bucket = &buckets->array.items[i];
		uint64_t lt = UINT64_MAX;

		json__u64(json__get(bucket, "lt"), &lt);
		if (value >= (uint64_t)record__number(bucket, "ge") && value < lt)
			return record__number(bucket, "count");
	}
	return 0;
}

/* How many waits lie from low up to high, in the unit. */
static uint64_t waits_between(const struct json_value *histogram, uint64_t low, uint64_t high)
{
	const struct json_value *buckets = json__get(histogram, "buckets");
	uint64_t count = 0, lt;

	for (size_t i = 0; buckets && i < buckets->array.nr; i++) {
		const struct json_value *bucket = &buckets->array.items[i];

		if (json__u64(json__get(bucket, "lt"), &lt) && lt > low &&
		    (uint64_t)record__number(bucket, "ge") < high)
			count += (uint64_t)record__number(bucket, "count");
	}
	return count;
}

static void check_unit(const char *option, const char *unit, uint64_t unit_ns, const char *pid)
{
	const struct json_value *histogram;
	struct records records;
	struct tool_run run;
	char check[96];
	size_t index = 0;

	test__equal("the status is 0",
		    (uint64_t)tool_run__once(&run, NULL, ARGS("-j", option, "-p", pid, "-d", "1")),
		    0);
	records__load(&records, &run);
	histogram = records__next(&records, "histogram", 0, &index);
	snprintf(check, sizeof(check), "%s: the unit is named", unit);
	test__check(json__is(json__get(histogram, "unit"), unit), check, "it is not");
	snprintf(check, sizeof(check), "%s: waits of 20 ms are in the rows of that length", unit);
	test__check(waits_between(histogram, WAIT_NS / unit_ns, WAIT_NS * 3 / 2 / unit_ns) >= 5,
		    check, "%" PRIu64 " are",
		    waits_between(histogram, WAIT_NS / unit_ns, WAIT_NS * 3 / 2 / unit_ns));
	snprintf(check, sizeof(check), "%s: the longest is in the bucket of its length", unit);
	test__check(bucket_of(histogram, (uint64_t)record__number(histogram, "max_ns") / unit_ns) >
			    0,
		    check, "max %" PRId64 " ns", record__number(histogram, "max_ns"));
	snprintf(check, sizeof(check), "%s: and the sum is in ns", unit);
	test__check(record__number(histogram, "sum_ns") >=
			    record__number(histogram, "count") / 2 * (int64_t)WAIT_NS,
		    check, "%" PRId64 " ns", record__number(histogram, "sum_ns"));
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	pid_t sleeper, waker;
	char pid[16];
	int ends[2];

	role__play(argc, argv);
	if (pipe(ends))
		test__fatal("pipe", "errno %d", errno);
	sleeper = start(0, sleep_for_bytes, ends);
	waker = start(10, wake_and_keep_busy, ends);
	snprintf(pid, sizeof(pid), "%d", sleeper);
	check_unit("--nanoseconds", "nsecs", 1, pid);
	check_unit("--microseconds", "usecs", 1000, pid);
	check_unit("--milliseconds", "msecs", 1000000, pid);
	test__check(!kill(waker, 0) && waitpid(waker, NULL, WNOHANG) == 0,
		    "the real-time task was there all the time", "it has ended");
	kill(waker, SIGKILL);
	kill(sleeper, SIGKILL);
	waitpid(waker, NULL, 0);
	waitpid(sleeper, NULL, 0);
	return test__done();
}
