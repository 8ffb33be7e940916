// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Sixty intervals while all CPUs are busy: together they are the whole, nothing is lost at their
 * edges and nothing comes twice; they do not drift; the last one may be short and says so.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/children.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"

#define INTERVAL_NS 100000000
#define NR_INTERVALS 60
#define CPUS_MAX 64

static pid_t load[4 * CPUS_MAX];
static size_t nr_load;

/* A child bound to this CPU; true in it. */
static bool start_on(int cpu)
{
	pid_t pid = children__fork();

	if (pid) {
		load[nr_load++] = pid;
		return false;
	}
	children__bind(cpu);
	return true;
}

/* On each CPU two that never stop, and two that sleep for a moment again and again. No pair that
 * hands a byte to and fro: Linux 6.18 can leave other threads of such a CPU waiting for as long as
 * that goes on, also the kernel's own, and then no tool could end. */
static void start_load(void)
{
	int nr_cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	for (int cpu = 0; cpu < nr_cpus && cpu < CPUS_MAX; cpu++) {
		for (int i = 0; i < 2; i++) {
			if (start_on(cpu))
				for (;;)
					continue;
			if (start_on(cpu))
				for (;;)
					usleep(200);
		}
	}
}

static void stop_load(void)
{
	for (size_t i = 0; i < nr_load; i++) {
		kill(load[i], SIGKILL);
		waitpid(load[i], NULL, 0);
	}
}

/* A difference that came out negative is centuries. */
#define WAIT_MAX_US 3600000000

/* What the records of a run add up to. */
struct totals {
	uint64_t intervals;
	uint64_t gaps; /* intervals that do not begin where the one before ended */
	int64_t start_ns, end_ns; /* of all of them */
	int64_t last_length_ns;
	int64_t late_ns; /* the least that one of the last twenty ended late */
	uint64_t count;
	uint64_t unlike; /* histograms whose buckets are not their count */
	uint64_t empty; /* intervals without a wait */
	uint64_t impossible; /* histograms with a wait that is far longer than the run */
};

static uint64_t buckets_of(const struct json_value *histogram)
{
	const struct json_value *buckets = json__get(histogram, "buckets");
	uint64_t count = 0;

	for (size_t i = 0; buckets && i < buckets->array.nr; i++)
		count += (uint64_t)record__number(&buckets->array.items[i], "count");
	return count;
}

/* Where its last bucket begins: the greatest wait itself is not always known of an interval. */
static int64_t longest_us(const struct json_value *histogram)
{
	const struct json_value *buckets = json__get(histogram, "buckets");
	size_t nr = buckets ? buckets->array.nr : 0;

	return nr ? record__number(&buckets->array.items[nr - 1], "ge") : 0;
}

static void totals__add(struct totals *totals, const struct json_value *record)
{
	uint64_t count = (uint64_t)record__number(record, "count");
	int64_t late_ns;

	if (json__is(json__get(record, "type"), "histogram")) {
		totals->count += count;
		totals->unlike += buckets_of(record) != count;
		totals->empty += !count;
		totals->impossible += longest_us(record) > WAIT_MAX_US;
	}
	if (!json__is(json__get(record, "type"), "interval"))
		return;
	if (!totals->intervals++)
		totals->start_ns = record__number(record, "start_ns");
	else
		totals->gaps += record__number(record, "start_ns") != totals->end_ns;
	totals->end_ns = record__number(record, "end_ns");
	totals->last_length_ns = totals->end_ns - record__number(record, "start_ns");
	late_ns = totals->end_ns - totals->start_ns - (int64_t)totals->intervals * INTERVAL_NS;
	if (totals->intervals == NR_INTERVALS - 19 ||
	    (totals->intervals > NR_INTERVALS - 19 && late_ns < totals->late_ns))
		totals->late_ns = late_ns;
}

static struct totals totals_of(const struct records *records)
{
	struct totals totals = {};

	for (size_t i = 0; i < records->nr; i++)
		totals__add(&totals, records__at(records, i));
	return totals;
}

static void check(const char *run, const char *what, uint64_t seen, uint64_t expected)
{
	char name[96];

	snprintf(name, sizeof(name), "%s: %s", run, what);
	test__equal(name, seen, expected);
}

static void check_sixty(const char *name, const char *const *args)
{
	const struct json_value *account;
	struct records records;
	struct totals totals;
	struct tool_run run;

	check(name, "the count ends the run with 0", (uint64_t)tool_run__once(&run, NULL, args), 0);
	records__load(&records, &run);
	account = records__account(&records);
	totals = totals_of(&records);
	check(name, "as many as asked for", totals.intervals, NR_INTERVALS);
	check(name, "each begins where the one before ended", totals.gaps, 0);
	check(name, "none is empty", totals.empty, 0);
	check(name, "no wait is longer than the run", totals.impossible, 0);
	check(name, "the buckets of each are its count", totals.unlike, 0);
	check(name, "their sum is the whole", totals.count,
	      (uint64_t)account__term(account, NULL, "recorded"));
	check_account(account, name);
	test__check(totals.count > test__scaled(6000), "the CPUs were busy", "%" PRIu64 " waits",
		    totals.count);
	/* Lateness of one interval is not added to the next. An emulated machine can need more than
	 * an interval for a report, after which the next one is of two. */
	if (test__scaled(100) == 100)
		test__check(totals.late_ns < INTERVAL_NS / 2, "they do not drift",
			    "each of the last ones was %" PRId64 " ns late or more",
			    totals.late_ns);
	records__free(&records);
	tool_run__free(&run);
}

/* A run that ends between two borders. */
/* A tool that gets no CPU for a while comes too late for the second interval: tried again. */
#define TRIES 5

static void check_short(void)
{
	struct records records;
	struct totals totals;
	struct tool_run run;

	for (int try = 1;; try++) {
		tool_run__once(&run, NULL, ARGS("-j", "0.1", "-d", "0.25"));
		records__load(&records, &run);
		totals = totals_of(&records);
		if (totals.intervals == 3 || try == TRIES)
			break;
		records__free(&records);
		tool_run__free(&run);
	}
	check("short", "there is a third interval", totals.intervals, 3);
	test__check(totals.last_length_ns > 0 && totals.last_length_ns < INTERVAL_NS,
		    "short: it is as long as it was", "%" PRId64 " ns", totals.last_length_ns);
	check("short", "all waits are in one", totals.count,
	      (uint64_t)account__term(records__account(&records), NULL, "recorded"));
	check_account(records__account(&records), "short");
	records__free(&records);
	tool_run__free(&run);

	for (int try = 1;; try++) {
		tool_run__once(&run, NULL, ARGS("0.1", "-d", "0.25"));
		if (strstr(run.out, "(only ") || try == TRIES)
			break;
		tool_run__free(&run);
	}
	test__check(strstr(run.out, "(only ") != NULL, "short: the text says so",
		    "status %d, stderr: %s, saw: %s", run.status, run.err, run.out);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	start_load();
	check_sixty("whole", ARGS("-j", "0.1", "60"));
	check_sixty("by CPU and cause", ARGS("-j", "--by", "cpu,cause", "0.1", "60"));
	check_sixty("by thread", ARGS("-j", "-L", "--slowest", "3", "0.1", "60"));
	check_short();
	stop_load();
	return test__done();
}
