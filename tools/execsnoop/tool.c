// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tool.h"

#include "programs.h"
#include "summary.h"

/* In the order of enum execsnoop_kind. */
static const char *const kinds[] = { "exec", "failed", "exit", NULL };

static const char question[] =
	"which commands run on this machine? One record for each successful exec, taken at "
	"sched_process_exec\nfrom the new memory of the process; with --fails one for each call "
	"that failed, at sys_exit from the\ncaller's memory; with --exits one for the end of each "
	"process, at sched_process_exit of its last\nthread.";

struct tool execsnoop__tool(const struct execsnoop_options *options)
{
	bool summary = options->summary || options->summary_only;

	return (struct tool){
		.options = execsnoop_tool_options,
		.question = question,
		.traced = "new commands",
		.ways = execsnoop_ways,
		.nr_ways = 1,
		.kinds = kinds,
		.types = execsnoop_types,
		.rows = summary ? execsnoop_row_types_with_summary : execsnoop_row_types,
	};
}
