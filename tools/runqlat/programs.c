// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "programs.h"

enum { NEW, FREE, WAKING, WAKEUP, WAKEUP_NEW, MIGRATE, SWITCH };

/* sched_switch last: a switch that ends a wait must not be seen without what begins one. */
static const struct attach_program programs[] = {
	[NEW] = { .program = "runqlat_new", .target = "task_newtask" },
	[FREE] = { .program = "threads_free", .target = "sched_process_free" },
	[WAKING] = { .program = "runqlat_waking", .target = "sched_waking" },
	[WAKEUP] = { .program = "runqlat_wakeup", .target = "sched_wakeup" },
	[WAKEUP_NEW] = { .program = "runqlat_wakeup_new", .target = "sched_wakeup_new" },
	[MIGRATE] = { .program = "runqlat_migrate", .target = "sched_migrate_task" },
	[SWITCH] = { .program = "runqlat_switch", .target = "sched_switch" },
};

const struct attach_way runqlat_ways[1] = {
	{ .mechanism = ATTACH_TP_BTF,
	  .reads_kernel = true,
	  .programs = programs,
	  .nr_programs = sizeof(programs) / sizeof(programs[0]) },
};

bool runqlat_program__is_wanted(const struct attach_program *program,
				const struct runqlat_options *options, bool has_task_storage)
{
	switch (program - programs) {
	case FREE:
		return !has_task_storage;
	case WAKING:
		return runqlat_options__needs_waking(options);
	case MIGRATE:
		return runqlat_options__config(options).by_run_queue_clock;
	default:
		return true;
	}
}
