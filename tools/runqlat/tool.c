// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tool.h"

#include "programs.h"
#include "records.h"

static const char *const kinds[] = { "wait", NULL };

static const struct metric_names metrics = {
	.prefix = "runqlat",
	.distribution = "wait",
	.help = "How long threads waited for a CPU, since the start of the run.",
};

struct tool runqlat_tool(const struct runqlat_options *options)
{
	const bool csv = options__face(&options->common) == FACE_CSV;

	return (struct tool){
		.options = runqlat_tool_options,
		.question = "how long do threads wait for a CPU once they could run? One event for "
			    "each wait, from the wake-up\n(or from when the thread had to leave "
			    "its CPU) to the switch that lets it run.",
		.traced = "waits for a CPU",
		.metrics = &metrics,
		.late_heading = true,
		.ways = runqlat_ways,
		.nr_ways = sizeof(runqlat_ways) / sizeof(runqlat_ways[0]),
		.kinds = kinds,
		.types = runqlat_types,
		.rows = csv ? runqlat_csv_types : runqlat_row_types,
	};
}
