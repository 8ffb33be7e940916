// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "settings.h"

#include <errno.h>
#include <stdio.h>

#include "records.h"
#include "report/distribution.h"
#include "run/log.h"
#include "run/number.h"
#include "run/option_rows.h"

#define FIELD(member) offsetof(struct funclatency_options, member)

static const struct option_row rows[] = {
	{ .name = "target",
	  .group = OPTION_EVENTS,
	  .type = OPTION_TEXT,
	  .offset = FIELD(target),
	  .argument = "TARGET",
	  .help = "What is timed: a function of the kernel by name, sys:NAME for a system call, "
		  "sys:GLOB or sys:NAME,NAME for several, PATH:NAME, LIBRARY:NAME or (with -p) :NAME for a function "
		  "of a user program" },
	OPTION_ROW_MIN(0, FIELD(min_ns), "calls"),
	OPTION_ROW_MAX(0, FIELD(max_ns), "calls"),
	OPTION_ROW_SLOWER(FIELD(slower_ns), "call"),
	OPTION_ROW_SLOWEST(FIELD(slowest), SLOWEST_MAX, "slowest calls"),
	OPTION_ROW_FLAG("per-process", 'P', OPTION_REPORT, FIELD(per_process),
			"A histogram for each process"),
	OPTION_ROW_FLAG("per-thread", 'L', OPTION_REPORT, FIELD(per_thread),
			"A histogram for each thread"),
	OPTION_ROW_FLAG("per-function", 'F', OPTION_REPORT, FIELD(per_function),
			"A histogram for each system call of those that match"),
	OPTION_ROW_FLAG("errors", 'e', OPTION_REPORT, FIELD(errors),
			"A histogram for each outcome: success, and each error"),
	OPTION_ROW_BY(FIELD(by), funclatency_by_names, "pid, tid, comm, cgroup, cpu, func, ret"),
	OPTION_ROW_TOP(FIELD(top),
		       "Only the N histograms that have most by --sort; all others are one more"),
	OPTION_ROW_SORT(FIELD(sort), histogram_order_names,
			"What histograms are put in order by, the most last: count (the default), "
			"sum, max, p50, p99"),
	OPTION_ROW_PERCENTILES(FIELD(percentiles), PERCENTILES_MAX, "call"),
	OPTION_ROW_INTERVAL('i', FIELD(interval)),
	OPTION_ROW_COUNT(FIELD(count)),

	OPTION_ROW_UNIT("milliseconds", 'm', FIELD(milliseconds), "nanoseconds",
			"Rows in milliseconds"),
	OPTION_ROW_UNIT("microseconds", 'u', FIELD(microseconds), "milliseconds",
			"Rows in microseconds"),
	OPTION_ROW_UNIT("nanoseconds", 0, FIELD(nanoseconds), "microseconds",
			"Rows in nanoseconds (the default)"),

	OPTION_ROW_MAX_KEYS(FIELD(max_keys), 1 << 24,
			    "Room for so many histograms (default: as many as fit in 64 MB)"),
};

static const struct option_letter letters[] = {
	{ 'p', "pid" }, { 't', "tid" }, { 'c', "cgroup" }, { 'd', "duration" }, { 'T', "time" }, {},
};

static const char *const operands[] = { "target", NULL };

const struct tool_options funclatency_tool_options = {
	.tool = "funclatency",
	.summary = "Show how long the calls of a function last, as a distribution.",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.letters = letters,
	.operands = operands,
	.has_metrics = true,
};

bool funclatency_options__need_no_target(const struct funclatency_options *options)
{
	return options->common.json_schema || options->common.check;
}

int funclatency_options__check(const struct funclatency_options *options)
{

	if (!options->target && !funclatency_options__need_no_target(options))
		return log_error_because(EINVAL, "nothing says what is to be timed",
					 "Try 'funclatency --help' for the options.",
					 "there is no TARGET to time");
	if (options->max_ns && options->max_ns < options->min_ns)
		return log_error_because(EINVAL, "no call is as short and as long", NULL,
					 "--max is less than --min");
	return distribution__check_keys(funclatency_options__by(options), &options->top,
					options->sort, &options->max_keys);
}

uint32_t funclatency_options__by(const struct funclatency_options *options)
{
	return options->by | (uint32_t)options->per_process << HIST_BY_PID |
	       (uint32_t)options->per_thread << HIST_BY_TID |
	       (uint32_t)options->per_function << FUNCLATENCY_BY_FUNC |
	       (uint32_t)options->errors << FUNCLATENCY_BY_RET;
}

uint32_t funclatency_options__slowest(const struct funclatency_options *options)
{
	return distribution__slowest(&options->common, &options->slowest, options->slower_ns);
}

bool funclatency_options__by_result(const struct funclatency_options *options)
{
	return funclatency_options__by(options) & 1U << FUNCLATENCY_BY_RET;
}

bool funclatency_options__tell_results(const struct funclatency_options *options)
{
	return options->slower_ns || funclatency_options__slowest(options) ||
	       funclatency_options__by_result(options);
}

const char *funclatency_options__limits(const struct funclatency_options *options, char *text,
					size_t size)
{
	char least[32], most[32];

	snprintf(text, size, "%s%s%s%s", options->min_ns ? ", calls of at least " : "",
		 options->min_ns ? number__format_time(options->min_ns, least) : "",
		 options->max_ns ? ", calls of at most " : "",
		 options->max_ns ? number__format_time(options->max_ns, most) : "");
	return *text ? text + 2 : NULL;
}

struct histogram_style funclatency_options__style(const struct funclatency_options *options)
{
	struct histogram_style style = {
		.config = { .unit = 1 },
		.unit = "nsecs",
		.percentiles = options->percentiles.items,
		.nr_percentiles = options->percentiles.nr,
	};

	if (options->milliseconds) {
		style.config.unit = 1000000;
		style.unit = "msecs";
	} else if (options->microseconds) {
		style.config.unit = 1000;
		style.unit = "usecs";
	}
	return style;
}

void funclatency_options__free(struct funclatency_options *options)
{
	number_list__free(&options->percentiles);
	common_options__free(&options->common);
}
