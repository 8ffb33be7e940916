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

/* Room for keys, at most most; struct optional_count. */
#define OPTION_ROW_MAX_KEYS(field, most, text)                                                     \
	{                                                                                          \
		.name = "max-keys", .group = OPTION_MEASURE, .type = OPTION_COUNT,                 \
		.offset = field, .argument = "N", .min = 1, .max = most, .help = text              \
	}

#endif
