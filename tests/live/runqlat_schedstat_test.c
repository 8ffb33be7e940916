// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The waits of threads that spin, sleep, yield, and hand work to each other, against the
 * kernel's own figures: time and number in /proc/PID/task/TID/schedstat. The threads stand still
 * when those are read. Between a wake-up that preempts and the switch, the clock that the
 * kernel counts with stands still, which moves time from one thread's figure to another's:
 * thread by thread the times are compared by that clock, and in sum by the real one. A
 * thread that is preempted on its way to sleep waits, too, but the kernel does not count that.
 * And a sleeper that is moved to another CPU while its dequeue is put off (6.12 and later) waits by
 * the kernel's figure from then on until it runs again: on 6.18 that was 5 to 30 ms each, in one
 * run of fifteen, or more where other work is moved about. --clock schedstat counts it, too; by the
 * real clock it is no wait. So by that, in sum, one run of some has to agree: what runqlat itself
 * did wrong would be wrong in all.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/busy_threads.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"

/* runqlat's. */
struct figures {
	uint64_t delay_ns;
	uint64_t periods;
	uint64_t max_ns;
};

/* The sum and count of the thread's histogram. */
static struct figures tool_figures(const struct records *records, pid_t tid)
{
	struct figures figures = { 0 };
	size_t index = 0;
	const struct json_value *record;

	while ((record = records__next(records, "histogram", 0, &index))) {
		uint64_t key = 0;

		if (!json__u64(json__get(json__get(record, "key"), "tid"), &key) ||
		    key != (uint64_t)tid)
			continue;
		figures.delay_ns += (uint64_t)record__number(record, "sum_ns");
		figures.periods += (uint64_t)record__number(record, "count");
		figures.max_ns = (uint64_t)record__number(record, "max_ns");
	}
	return figures;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* An emulated CPU's clocks run apart: those of two CPUs, and the real one and the scheduler's. */
#define EMULATED_PERCENT 5

/* Runs by the real clock, of which one has to agree. */
#define REAL_CLOCK_RUNS 5

static uint64_t allowed_ns(uint64_t expected_ns, uint64_t permille)
{
	return expected_ns / 1000 * permille;
}

/* slack_ns: what the waits that runqlat itself says it lost can be worth. permille: allowed. */
static void check_time(const char *name, uint64_t seen, uint64_t expected, uint64_t permille,
		       uint64_t slack_ns)
{
	uint64_t allowed = allowed_ns(expected, permille) + slack_ns;

	test__check(distance(seen, expected) <= allowed, name,
		    "the kernel says %" PRIu64 " ns, runqlat %" PRIu64 " (%.3f %%)", expected, seen,
		    expected ? 100.0 * (double)seen / (double)expected : 0);
}

/* as_schedstat: both count the same; else runqlat counts some waits more. Whether the time of all
 * agrees, which is checked in the last run and whenever it does. */
static bool compare(const struct records *records, const struct busy_thread *threads,
		    bool as_schedstat, bool last)
{
	const uint64_t permille = !test__is_emulated() ? 5 :
				  as_schedstat	       ? 10 :
							 10 * EMULATED_PERCENT;
	struct schedstat kernel = { 0 };
	struct figures tool = { 0 };
	uint64_t no_start = 0;
	bool agrees;
	char check[96];

	json__u64(json__get(json__get(records__account(records), "lost"), "no_start"), &no_start);
	for (int i = 0; i < BUSY_THREADS; i++) {
		const struct busy_thread *thread = &threads[i];
		struct figures own = tool_figures(records, thread->tid);
		uint64_t delay_ns = thread->figures.delay_ns;
		uint64_t periods = thread->figures.periods;

		snprintf(check, sizeof(check), "schedstat: time of thread %d (%s)", i,
			 thread->kind);
		if (as_schedstat)
			check_time(check, own.delay_ns, delay_ns,
				   test__is_emulated() ? 10 * EMULATED_PERCENT : 5,
				   no_start * own.max_ns);
		snprintf(check, sizeof(check), "schedstat: switch-ins of thread %d (%s)", i,
			 thread->kind);
		test__check(own.periods + 2 + no_start >= periods &&
				    own.periods <= periods + 2 + (as_schedstat ? 0 : periods / 100),
			    check, "the kernel says %" PRIu64 ", runqlat %" PRIu64, periods,
			    own.periods);
		kernel.delay_ns += delay_ns;
		kernel.periods += periods;
		tool.delay_ns += own.delay_ns;
		tool.periods += own.periods;
	}
	agrees = distance(tool.delay_ns, kernel.delay_ns) <= allowed_ns(kernel.delay_ns, permille);
	if (agrees || last)
		check_time("schedstat: time of all", tool.delay_ns, kernel.delay_ns, permille, 0);
	/* Where other work fills the machine, 470 were seen. */
	test__check(kernel.periods > 1000, "schedstat: there were many waits", "%" PRIu64,
		    kernel.periods);
	printf("# %" PRIu64 " waits, runqlat %" PRIu64 "; %.3f %% of the time\n", kernel.periods,
	       tool.periods, 100.0 * (double)tool.delay_ns / (double)kernel.delay_ns);
	return agrees;
}

static void check_account_of(const struct records *records)
{
	const struct json_value *account = records__account(records);
	int64_t seen = account__term(account, NULL, "seen");
	uint64_t no_start = 0;

	check_account(account, "schedstat");
	json__u64(json__get(json__get(account, "lost"), "no_start"), &no_start);
	test__check(no_start * 10000 <= (uint64_t)seen, "schedstat: no_start is below 0.01 %",
		    "%" PRIu64 " of %" PRId64, no_start, seen);
	printf("# no_start %" PRIu64 " of %" PRId64 "\n", no_start, seen);
}

/* What compare() tells. */
static bool run_once(const char *clock, bool last)
{
	const struct busy_thread *threads = busy_threads__start();
	struct records records;
	struct tool_run run;
	char pid[16];
	bool agrees;

	snprintf(pid, sizeof(pid), "%d", getpid());
	tool_run__trace(&run, NULL, ARGS("-j", "-L", "-p", pid, "--clock", clock));
	busy_threads__work(test__is_long() ? 20000 : 4000);
	printf("# clock %s\n", clock);
	test__equal("schedstat: the tool ends well", (uint64_t)tool_run__stop(&run), 0);
	records__load(&records, &run);
	agrees = compare(&records, threads, !strcmp(clock, "schedstat"), last);
	check_account_of(&records);
	busy_threads__join();
	records__free(&records);
	tool_run__free(&run);
	return agrees;
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	run_once("schedstat", true);
	for (int i = 1; i <= REAL_CLOCK_RUNS; i++)
		if (run_once("monotonic", i == REAL_CLOCK_RUNS))
			break;
	return test__done();
}
