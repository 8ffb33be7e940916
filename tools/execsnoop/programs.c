// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "programs.h"

#include "execsnoop.h"

/* In the order in which they are attached, and at one place run. The exit first: no exec may be
 * seen whose exit is not. */
enum {
	PROGRAM_EXIT,
	PROGRAM_EXIT_STAND_IN,
	PROGRAM_CWD,
	PROGRAM_EXEC,
	PROGRAM_EXEC_STAND_IN,
	PROGRAM_FAILED_CWD,
	PROGRAM_FAILED,
	PROGRAM_FAILED_STAND_IN,
	PROGRAM_FAILED_UNROLLED,
	NR_PROGRAMS,
};

static const struct attach_program programs[] = {
	[PROGRAM_EXIT] = { .program = "execsnoop_exit", .target = "sched_process_exit" },
	[PROGRAM_EXIT_STAND_IN] = { .program = "execsnoop_exit_stand_in",
				    .target = "sched_process_exit",
				    .stands_in_for = "execsnoop_exit",
				    .counters = EXECSNOOP_EXIT },
	[PROGRAM_CWD] = { .program = "execsnoop_cwd", .target = "sched_process_exec" },
	[PROGRAM_EXEC] = { .program = "execsnoop_exec", .target = "sched_process_exec" },
	[PROGRAM_EXEC_STAND_IN] = { .program = "execsnoop_exec_stand_in",
				    .target = "sched_process_exec",
				    .stands_in_for = "execsnoop_exec",
				    .counters = EXECSNOOP_EXEC },
	[PROGRAM_FAILED_CWD] = { .program = "execsnoop_failed_cwd", .target = "sys_exit" },
	[PROGRAM_FAILED] = { .program = "execsnoop_failed", .target = "sys_exit" },
	[PROGRAM_FAILED_STAND_IN] = { .program = "execsnoop_failed_stand_in",
				      .target = "sys_exit",
				      .stands_in_for = "execsnoop_failed",
				      .counters = EXECSNOOP_FAILED },
	[PROGRAM_FAILED_UNROLLED] = { .program = "execsnoop_failed_unrolled",
				      .target = "sys_exit" },
};

const struct attach_way execsnoop_ways[1] = {
	{ .mechanism = ATTACH_TP_BTF,
	  .reads_kernel = true,
	  .programs = programs,
	  .nr_programs = NR_PROGRAMS },
};

bool execsnoop_program__is_wanted(const struct attach_program *program,
				  const struct execsnoop_options *options, bool has_loop)
{
	switch (program - programs) {
	case PROGRAM_EXIT:
	case PROGRAM_EXIT_STAND_IN:
		return execsnoop_options__need_ends(options);
	case PROGRAM_CWD:
		return options->cwd;
	case PROGRAM_FAILED_CWD:
		return options->fails && options->cwd;
	case PROGRAM_FAILED:
	case PROGRAM_FAILED_STAND_IN:
		return options->fails && has_loop;
	case PROGRAM_FAILED_UNROLLED:
		return options->fails && !has_loop;
	default:
		return true;
	}
}
