// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tool.h"

#include "records.h"

static const struct attach_program programs[] = {
	{ .program = "offcputime_new", .target = "task_newtask", .mechanism = ATTACH_TP_BTF },
	{ .program = "threads_free", .target = "sched_process_free", .mechanism = ATTACH_TP_BTF },
	{ .program = "offcputime_exec", .target = "sched_process_exec", .mechanism = ATTACH_TP_BTF },
	{ .program = "offcputime_switch", .target = "sched_switch", .mechanism = ATTACH_TP_BTF },
};

enum { PROGRAM_FREE = 1, PROGRAM_EXEC = 2 };

static const struct attach_way ways[] = {
	{ .mechanism = ATTACH_TP_BTF,
	  .programs = programs,
	  .nr_programs = sizeof(programs) / sizeof(programs[0]) },
};

static const char *const kinds[] = { "stay", NULL };

const struct tool offcputime_tool = {
	.options = {
		.tool = "offcputime",
		.summary = "Show where threads wait, by whole stack: the time that they are off "
			   "the CPU.",
		.rows = offcputime_option_rows,
		.nr_rows = OFFCPUTIME_NR_OPTION_ROWS,
		.letters = offcputime_letters,
		.operands = offcputime_operands,
		.has_stacks = true,
	},
	.question = "where do threads wait? One event for each stay off the CPU, from the switch "
		    "that takes the CPU from a thread\nto the one that gives it a CPU again, where "
		    "the thread's kernel stack is taken.",
	.traced = "threads off the CPU",
	.late_heading = true,
	.ways = ways,
	.nr_ways = sizeof(ways) / sizeof(ways[0]),
	.kinds = kinds,
	.types = offcputime_types,
	.rows = offcputime_row_types,
};

bool offcputime_program__is_wanted(const struct attach_program *program,
				   const struct offcputime_options *options, bool has_task_storage)
{
	if (program == &programs[PROGRAM_EXEC])
		return offcputime_options__user_stacks(options);
	return program != &programs[PROGRAM_FREE] || !has_task_storage;
}
