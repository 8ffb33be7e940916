// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The wall clock is set while a run lasts: later records have the new time. It is the
 * whole machine's clock, so this runs only in a guest that is thrown away.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

#define NAME "clock: a record after the clock was set has the new time"
#define HOUR_NS 3600000000000ll
#define STEP_HOURS 5

static bool step_clock(int64_t hours)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += hours * 3600;
	return !clock_settime(CLOCK_REALTIME, &now);
}

static void check_time(const struct records *records, pid_t pid, uint64_t from_ns, uint64_t to_ns,
		       const char *check)
{
	const struct json_value *record = records__only(records, "exec", pid, check);
	int64_t time_ns = record__number(record, "time_ns");

	if (record)
		test__check((uint64_t)time_ns >= from_ns && (uint64_t)time_ns <= to_ns, check,
			    "expected %" PRIu64 " to %" PRIu64 ", saw %" PRId64, from_ns, to_ns,
			    time_ns);
}

int main(int argc, char **argv)
{
	uint64_t before_ns[2], after_ns[2];
	struct records records;
	struct tool_run run;
	const char *program;
	pid_t pids[2];

	role__play(argc, argv);
	if (!getenv("VANTAGE_GUEST")) {
		test__skip(NAME, "only in a guest (VANTAGE_GUEST=1): it sets the machine's clock");
		return test__done();
	}
	program = workload__own_program("clock");
	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	for (int i = 0; i < 2; i++) {
		before_ns[i] = test__wall_ns();
		workload__spawn(program, &pids[i]);
		after_ns[i] = test__wall_ns();
		/* The first record must be out, with the time it had. */
		test__sleep_ms(test__patience_ms(500));
		if (!i && !step_clock(STEP_HOURS))
			test__fatal(NAME, "the clock cannot be set: %s", strerror(errno));
	}
	tool_run__stop(&run);
	step_clock(-STEP_HOURS);
	records__load(&records, &run);
	check_time(&records, pids[0], before_ns[0], after_ns[0],
		   "clock: a record before the clock was set has the old time");
	check_time(&records, pids[1], before_ns[1], after_ns[1], NAME);
	test__check(before_ns[1] - before_ns[0] > STEP_HOURS * HOUR_NS - HOUR_NS,
		    "clock: it was set", "it was not");
	records__free(&records);
	tool_run__free(&run);
	return test__done();
}
