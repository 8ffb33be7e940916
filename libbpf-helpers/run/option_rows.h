/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Rows of options that some tools have, and not all: one name, type and range for each, so that
 * it means the same in each of them. A tool gives the field, and what its help says.
 */
#ifndef VANTAGE_RUN_OPTION_ROWS_H
#define VANTAGE_RUN_OPTION_ROWS_H

#include "run/options.h"

/* Letter or 0; bool. */
#define OPTION_ROW_FLAG(long_name, short_name, option_group, field, text)                          \
	{                                                                                          \
		.name = long_name, .letter = short_name, .group = option_group,                    \
		.type = OPTION_FLAG, .offset = field, .help = text                                 \
	}

/* The operands [INTERVAL [COUNT]]; struct optional_time and struct optional_count. A tool that has
 * both names them in tool_options.operands. Letter or 0. */
#define OPTION_ROW_INTERVAL(short_name, field)                                                     \
	{                                                                                          \
		.name = "interval", .letter = short_name, .group = OPTION_REPORT,                  \
		.type = OPTION_DURATION, .offset = field, .argument = "TIME", .min = 1000000,      \
		.max = INT64_MAX,                                                                  \
		.help = "Report what came in each interval: seconds, or with a unit"               \
	}
#define OPTION_ROW_COUNT(field)                                                                    \
	{                                                                                          \
		.name = "count", .group = OPTION_REPORT, .type = OPTION_COUNT, .offset = field,    \
		.argument = "N", .min = 1, .max = UINT64_MAX,                                      \
		.help = "End after so many intervals"                                              \
	}

/* Of a table by keys, the N rows that have most by --sort; struct optional_count. */
#define OPTION_ROW_TOP(field, text)                                                                \
	{                                                                                          \
		.name = "top", .group = OPTION_REPORT, .type = OPTION_COUNT, .offset = field,      \
		.argument = "N", .min = 1, .max = UINT64_MAX, .no_metrics = true, .help = text     \
	}

/* What the rows are put in order by; int, an index into names. */
#define OPTION_ROW_SORT(field, names, text)                                                        \
	{                                                                                          \
		.name = "sort", .group = OPTION_REPORT, .type = OPTION_CHOICE, .offset = field,    \
		.argument = "KEY", .choices = names, .no_metrics = true, .help = text              \
	}

/* Each event that lasts longer than that is told; uint64_t, nanoseconds. event: what one is. */
#define OPTION_ROW_SLOWER(field, event)                                                            \
	{                                                                                          \
		.name = "slower", .letter = 's', .group = OPTION_REPORT, .type = OPTION_THRESHOLD, \
		.offset = field, .argument = "TIME", .min = 1, .max = UINT64_MAX,                  \
		.no_metrics = true,                                                                \
		.help = "Also tell each " event                                                    \
			" longer than this, at once: microseconds, or with a unit"                 \
	}

/* Only events that last at least, or at most, so long; uint64_t, nanoseconds. Letter or 0. */
#define OPTION_ROW_MIN(short_name, field, events)                                                  \
	{                                                                                          \
		.name = "min", .letter = short_name, .group = OPTION_EVENTS,                       \
		.type = OPTION_THRESHOLD, .offset = field, .argument = "TIME", .min = 1,           \
		.max = INT64_MAX,                                                                  \
		.help = "Only " events " of at least this length: microseconds, or with a unit"    \
	}
#define OPTION_ROW_MAX(short_name, field, events)                                                  \
	{                                                                                          \
		.name = "max", .letter = short_name, .group = OPTION_EVENTS,                       \
		.type = OPTION_THRESHOLD, .offset = field, .argument = "TIME", .min = 1,           \
		.max = INT64_MAX, .help = "Only " events " of at most this length"                 \
	}

/* In place of that, so many of those that last longest, at most most; struct optional_count. */
#define OPTION_ROW_SLOWEST(field, most, events)                                                    \
	{                                                                                          \
		.name = "slowest", .group = OPTION_REPORT, .type = OPTION_COUNT, .offset = field,  \
		.argument = "N", .max = most, .excludes = "slower", .no_metrics = true,            \
		.help = "Tell the N " events " of the run or interval (text: 3, other formats: 0)" \
	}

/* What histograms are kept by, of which text tells all; bits by the index into names. */
#define OPTION_ROW_BY(field, names, text)                                                          \
	{                                                                                          \
		.name = "by", .group = OPTION_REPORT, .type = OPTION_CHOICES, .offset = field,     \
		.argument = "KEY[,KEY]", .choices = names,                                         \
		.help = "A histogram for each value of these together: " text                      \
	}

/* At most most; struct number_list. event: what one is. */
#define OPTION_ROW_PERCENTILES(field, most, event)                                                 \
	{                                                                                          \
		.name = "percentiles", .group = OPTION_REPORT, .type = OPTION_PERCENTILES,         \
		.offset = field, .argument = "LIST", .max = most, .no_metrics = true,              \
		.help = "These percentiles, as 50,99.9 (default: 50, 90, 99 and more nines as "    \
			"long as a " event " lies above)"                                          \
	}

/* The unit of rows; bool. other: the long name of one that it excludes. */
#define OPTION_ROW_UNIT(long_name, short_name, field, other, text)                                 \
	{                                                                                          \
		.name = long_name, .letter = short_name, .group = OPTION_SHOW,                     \
		.type = OPTION_FLAG, .offset = field, .excludes = other, .help = text              \
	}

/* Room for keys, at most most; struct optional_count. */
#define OPTION_ROW_MAX_KEYS(field, most, text)                                                     \
	{                                                                                          \
		.name = "max-keys", .group = OPTION_MEASURE, .type = OPTION_COUNT,                 \
		.offset = field, .argument = "N", .min = 1, .max = most, .help = text              \
	}

#endif
