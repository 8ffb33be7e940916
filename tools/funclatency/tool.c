// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tool.h"

#include "records.h"
#include "ways.h"

/* In the order of enum funclatency_kind. */
static const char *const kinds[] = { "call", NULL };

static const char question[] =
	"how long do the calls of a function last? One event for each call, from its entry to "
	"its\nreturn, with all that it waited for meanwhile.";

static const struct metric_names metrics = {
	.prefix = "funclatency",
	.distribution = "call",
	.help = "How long calls of the function lasted, since the start of the run.",
};

struct tool funclatency__tool(const struct funclatency_options *options,
			      const struct target *target)
{
	bool is_csv = options__face(&options->common) == FACE_CSV;
	struct tool tool = {
		.options = funclatency_tool_options,
		.question = question,
		.metrics = &metrics,
		.late_heading = true,
		.kinds = kinds,
		.types = funclatency_types,
		.rows = is_csv ? funclatency_csv_types : funclatency_row_types,
	};

	tool.ways = ways__choose(options, target, &tool.nr_ways);
	return tool;
}
