// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Threads that spin, sleep, yield, lock, and hand work to each other: what offcputime charges to
 * each, ended or in flight, and what the kernel says it was on a CPU
 * (/proc/PID/task/TID/schedstat) are together the length of the run; and the parts that --split
 * calls runnable and preempted are what the kernel says it waited for CPUs. The clock that the
 * kernel counts with stands still between a wake-up that preempts and the switch, so that the
 * figure of a thread that is often woken has a part of its waits in it, and that of another one
 * less: the sum of all is what is held to one percent.
 */
#include <stdio.h>
#include <unistd.h>

#include "support/busy_threads.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"

struct figures {
	uint64_t off_ns;
	uint64_t waited_ns;
	uint64_t begun_before;
};

static void add(struct figures *figures, const struct json_value *record, const char *time)
{
	figures->off_ns += (uint64_t)record__number(record, time);
	figures->waited_ns += (uint64_t)record__number(record, "runnable_ns") +
			      (uint64_t)record__number(record, "preempted_ns");
	test__check(record__number(record, "blocked_ns") + record__number(record, "runnable_ns") +
				    record__number(record, "preempted_ns") ==
			    record__number(record, time),
		    "sum: the parts are the whole", "tid %" PRId64, record__number(record, "tid"));
}

static struct figures tool_figures(const struct records *records, pid_t tid)
{
	static const struct {
		const char *type;
		const char *time;
	} kinds[] = { { "stack", "total_ns" }, { "in_flight", "age_ns" } };
	struct figures figures = { 0 };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		const struct json_value *record;
		size_t index = 0;

		while ((record = records__next(records, kinds[i].type, 0, &index)))
			if (record__number(record, "tid") == tid)
				add(&figures, record, kinds[i].time);
	}
	return figures;
}

/* permille: allowed. */
static void check_time(const char *name, uint64_t seen, uint64_t expected, uint64_t permille)
{
	uint64_t distance = seen > expected ? seen - expected : expected - seen;

	test__check(distance <= expected / 1000 * permille, name,
		    "expected %" PRIu64 " ns, saw %" PRIu64 " (%.3f %%)", expected, seen,
		    expected ? 100.0 * (double)seen / (double)expected : 0);
}

static void compare(const struct records *records, const struct busy_thread *threads)
{
	uint64_t duration_ns = (uint64_t)record__number(records__account(records), "duration_ns");
	uint64_t waited_ns = 0, delay_ns = 0, sum_ns = 0;
	/* The real clock and the scheduler's run apart where both are emulated. */
	uint64_t permille = test__is_emulated() ? 50 : 10;
	char check[96];

	for (int i = 0; i < BUSY_THREADS; i++) {
		const struct busy_thread *thread = &threads[i];
		struct figures own = tool_figures(records, thread->tid);

		snprintf(check, sizeof(check), "sum: off and on the CPU, thread %d (%s)", i,
			 thread->kind);
		check_time(check, own.off_ns + thread->figures.run_ns, duration_ns, 10 * permille);
		waited_ns += own.waited_ns;
		delay_ns += thread->figures.delay_ns;
		sum_ns += own.off_ns + thread->figures.run_ns;
	}
	check_time("sum: off and on the CPU, all threads", sum_ns, duration_ns * BUSY_THREADS,
		   permille);
	check_time("sum: runnable and preempted", waited_ns, delay_ns, permille);
	printf("# off and on: %.3f %% of the run; runnable and preempted: %.3f %% of run_delay\n",
	       100.0 * (double)sum_ns / (double)(duration_ns * BUSY_THREADS),
	       100.0 * (double)waited_ns / (double)delay_ns);
}

int main(int argc, char **argv)
{
	const struct busy_thread *threads;
	struct records records;
	struct tool_run run;
	char pid[16];

	role__play(argc, argv);
	threads = busy_threads__start();
	snprintf(pid, sizeof(pid), "%d", getpid());
	tool_run__trace(&run, NULL, ARGS("-j", "--split", "-p", pid));
	busy_threads__work(test__is_long() ? 20000 : 3000);
	test__equal("sum: the tool ends well", (uint64_t)tool_run__stop(&run), 0);
	records__load(&records, &run);
	compare(&records, threads);
	check_account(records__account(&records), "sum");
	busy_threads__join();
	records__free(&records);
	tool_run__free(&run);
	return test__done();
}
