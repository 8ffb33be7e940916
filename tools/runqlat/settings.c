// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "settings.h"

#include <errno.h>
#include <stdio.h>

#include "records.h"
#include "report/distribution.h"
#include "run/log.h"
#include "run/number.h"
#include "run/option_rows.h"

#define FIELD(member) offsetof(struct runqlat_options, member)
#define LOOK_FLAG(long_name, member, text)                                                         \
	{                                                                                          \
		.name = long_name, .group = OPTION_SHOW, .type = OPTION_FLAG,                      \
		.offset = FIELD(member), .no_metrics = true, .help = text                          \
	}

static const char *const from_names[] = { "wakeup", "waking", NULL };
static const char *const clock_names[] = { "monotonic", "schedstat", NULL };

static const struct option_row rows[] = {
	OPTION_ROW_SLOWER(FIELD(slower_ns), "wait"),
	OPTION_ROW_SLOWEST(FIELD(slowest), SLOWEST_MAX, "longest waits"),
	OPTION_ROW_FLAG("cause", 0, OPTION_REPORT, FIELD(cause),
			"A histogram for each cause: woken, preempted, new, throttled (CPU quota)"),
	OPTION_ROW_FLAG("per-process", 'P', OPTION_REPORT, FIELD(per_process),
			"A histogram for each process"),
	OPTION_ROW_FLAG("per-thread", 'L', OPTION_REPORT, FIELD(per_thread),
			"A histogram for each thread"),
	OPTION_ROW_FLAG("pidnss", 0, OPTION_REPORT, FIELD(pidnss),
			"A histogram for each PID namespace"),
	OPTION_ROW_FLAG("cpus", 'C', OPTION_REPORT, FIELD(cpus), "A histogram for each CPU"),
	OPTION_ROW_FLAG("cgroups", 0, OPTION_REPORT, FIELD(cgroups),
			"A histogram for each group of cgroup2"),
	OPTION_ROW_BY(FIELD(by), runqlat_by_names, "pid, tid, comm, cgroup, cpu, cause, pid_ns"),
	OPTION_ROW_TOP(FIELD(top),
		       "Only the N histograms that have most by --sort; all others are one more"),
	OPTION_ROW_SORT(FIELD(sort), histogram_order_names,
			"What histograms are put in order by, the most last: count (the default), "
			"sum, max, p50, p99"),
	OPTION_ROW_PERCENTILES(FIELD(percentiles), PERCENTILES_MAX, "wait"),
	OPTION_ROW_INTERVAL(0, FIELD(interval)),
	OPTION_ROW_COUNT(FIELD(count)),

	OPTION_ROW_UNIT("milliseconds", 'm', FIELD(milliseconds), "nanoseconds",
			"Rows in milliseconds"),
	OPTION_ROW_UNIT("microseconds", 0, FIELD(microseconds), "milliseconds",
			"Rows in microseconds (the default)"),
	OPTION_ROW_UNIT("nanoseconds", 'N', FIELD(nanoseconds), "microseconds",
			"Rows in nanoseconds"),
	{ .name = "linear",
	  .group = OPTION_SHOW,
	  .type = OPTION_COUNT,
	  .offset = FIELD(linear),
	  .argument = "STEP",
	  .min = 1,
	  .max = UINT32_MAX,
	  .excludes = "fine",
	  .no_metrics = true,
	  .help = "Rows of equal width, in the unit of the rows; the last one has all that is "
		  "longer" },
	LOOK_FLAG("fine", fine, "Show the 16 rows that each power of two has"),
	LOOK_FLAG("all-rows", all_rows, "Show the empty rows at both ends, too"),
	LOOK_FLAG("log-bars", log_bars, "Bars by the logarithm of the count"),

	{ .name = "from",
	  .group = OPTION_MEASURE,
	  .type = OPTION_CHOICE,
	  .offset = FIELD(from),
	  .argument = "POINT",
	  .choices = from_names,
	  .help = "Where a wait begins: wakeup (the thread is queued; the default), or waking "
		  "(the decision to wake it, before it is handed to another CPU)" },
	{ .name = "clock",
	  .group = OPTION_MEASURE,
	  .type = OPTION_CHOICE,
	  .offset = FIELD(clock),
	  .argument = "CLOCK",
	  .choices = clock_names,
	  .help = "monotonic (the default), or schedstat: as /proc/PID/schedstat counts, by the "
		  "run queue's own clock" },
	OPTION_ROW_MAX_KEYS(FIELD(max_keys), 1 << 24,
			    "Room for so many histograms (default: as many as fit in 64 MB)"),
};

static const struct option_letter letters[] = {
	{ 'p', "pid" }, { 't', "tid" }, { 'c', "cgroup" }, { 'd', "duration" }, { 'T', "time" }, {},
};

static const char *const operands[] = { "interval", "count", NULL };

const struct tool_options runqlat_tool_options = {
	.tool = "runqlat",
	.summary = "Show how long threads wait for a CPU once they could run, as a distribution.",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.letters = letters,
	.operands = operands,
	.has_metrics = true,
};

int runqlat_options__check(const struct runqlat_options *options)
{
	return distribution__check_keys(runqlat_options__by(options), &options->top, options->sort,
					&options->max_keys);
}

uint32_t runqlat_options__by(const struct runqlat_options *options)
{
	return options->by | (uint32_t)options->per_process << HIST_BY_PID |
	       (uint32_t)options->per_thread << HIST_BY_TID |
	       (uint32_t)options->pidnss << RUNQLAT_BY_PIDNS |
	       (uint32_t)options->cpus << HIST_BY_CPU |
	       (uint32_t)options->cgroups << HIST_BY_CGROUP |
	       (uint32_t)options->cause << RUNQLAT_BY_CAUSE;
}

uint32_t runqlat_options__slowest(const struct runqlat_options *options)
{
	return distribution__slowest(&options->common, &options->slowest, options->slower_ns);
}

static bool runqlat_options__tells_wakers(const struct runqlat_options *options)
{
	return options->slower_ns || runqlat_options__slowest(options);
}

bool runqlat_options__needs_waking(const struct runqlat_options *options)
{
	return options->from || (runqlat_options__tells_wakers(options) && !options->one_cache);
}

struct runqlat_config runqlat_options__config(const struct runqlat_options *options)
{
	return (struct runqlat_config){
		.slower_ns = options->slower_ns,
		.slowest = runqlat_options__slowest(options),
		.by = runqlat_options__by(options),
		.from_waking = options->from == 1,
		.waker_at_wakeup = !runqlat_options__needs_waking(options) &&
				   runqlat_options__tells_wakers(options),
		.by_run_queue_clock = options->clock == 1,
	};
}

struct histogram_style runqlat_options__style(const struct runqlat_options *options)
{
	struct histogram_style style = {
		.config = { .unit = 1000, .linear_step = options->linear.count },
		.unit = "usecs",
		.fine = options->fine,
		.all_rows = options->all_rows,
		.log_bars = options->log_bars,
		.percentiles = options->percentiles.items,
		.nr_percentiles = options->percentiles.nr,
	};

	if (options->milliseconds) {
		style.config.unit = 1000000;
		style.unit = "msecs";
	} else if (options->nanoseconds) {
		style.config.unit = 1;
		style.unit = "nsecs";
	}
	return style;
}

void runqlat_options__free(struct runqlat_options *options)
{
	number_list__free(&options->percentiles);
	common_options__free(&options->common);
}
