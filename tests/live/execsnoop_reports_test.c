// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What users of other execsnoops have reported, where no test of another subject shows it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static const char *program;

/* A tool's run about what this test starts, and all it leads to. */
static void trace(struct tool_run *run)
{
	tool_run__trace(run, NULL, ARGS("-j", "--comm", file_name(program)));
}

/* A parent's record comes before its child's, whichever CPUs they run on. */
static void check_order(void)
{
	unsigned long depth = 12, times = test__scaled(20);
	uint64_t nr_execs = 0, nr_backwards = 0, nr_orphans = 0;
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	int64_t last_ns = 0, last_pid = 0;
	size_t index = 0;
	char role[600];

	snprintf(role, sizeof(role), "nest %lu %s", depth, program);
	trace(&run);
	for (unsigned long i = 0; i < times; i++)
		workload__run(&(struct workload){ .program = program, .role = role });
	tool_run__stop(&run);
	records__load(&records, &run);
	while ((record = records__next(&records, "exec", 0, &index))) {
		nr_backwards += record__number(record, "time_ns") < last_ns;
		nr_orphans += nr_execs % (depth + 1) && record__number(record, "ppid") != last_pid;
		last_ns = record__number(record, "time_ns");
		last_pid = record__number(record, "pid");
		nr_execs++;
	}
	test__equal("order: each level has its record", nr_execs, (depth + 1) * times);
	test__equal("order: times never go back over CPUs", nr_backwards, 0);
	test__equal("order: the parent comes before its child", nr_orphans, 0);
	check_exact(records__account(&records), "order");
	records__free(&records);
	tool_run__free(&run);
}

/* Arguments that an early reader mixed up: many small ones; one with a blank, and two; an empty
 * one, and none. */
static void check_arguments(void)
{
	static const char *const numbered[] = { "a0", "a1", "a2", "a3",	 "a4",	"a5",  "a6",
						"a7", "a8", "a9", "a10", "a11", "a12", NULL };
	const char *const *const lists[] = {
		numbered,	  ARGS("echo", "a b"), ARGS("echo", "a", "b"),
		ARGS("echo", ""), ARGS("echo"),
	};
	const size_t nr = sizeof(lists) / sizeof(lists[0]);
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	pid_t pids[sizeof(lists) / sizeof(lists[0])];

	trace(&run);
	for (size_t i = 0; i < nr; i++) {
		pids[i] = workload__start(
			&(struct workload){ .program = program, .argv = lists[i] });
		workload__wait(pids[i], NULL);
	}
	tool_run__stop(&run);
	records__load(&records, &run);
	for (size_t i = 0; i < nr; i++) {
		record = records__only(&records, "exec", pids[i], "arguments: as they were given");
		if (record)
			check_args(record, lists[i], "arguments: as they were given");
	}
	records__free(&records);
	tool_run__free(&run);
}

/* The mark of what is left out stands only where something is. */
static void check_mark(void)
{
	static const struct {
		const char *most;
		bool marked;
	} cases[] = { { "2", true }, { "3", false }, { "4", false } };
	struct tool_run run;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tool_run__trace(&run, NULL,
				ARGS("--max-args", cases[i].most, "--comm", file_name(program)));
		workload__run(&(struct workload){ .program = program,
						  .argv = ARGS("one", "two", "three") });
		tool_run__stop(&run);
		test__check(strstr(run.out,
				   cases[i].marked ? " one two …(+6 bytes)\n" : " one two three\n"),
			    "mark: only where arguments are left out", "of %s, saw: %s",
			    cases[i].most, run.out);
		tool_run__free(&run);
	}
}

/* A script of one command, which is gone before anybody could look for it. */
static void check_short_parent(void)
{
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	int executed[2];
	size_t index = 0;
	pid_t parent;
	char byte;

	trace(&run);
	if (pipe2(executed, O_CLOEXEC))
		test__fatal("workload", "pipe: %s", strerror(errno));
	parent = fork();
	if (parent < 0)
		test__fatal("workload", "fork: %s", strerror(errno));
	if (!parent) {
		prctl(PR_SET_NAME, "one-shot");
		workload__start(&(struct workload){ .program = program });
		close(executed[1]);
		/* Ends when the exec has closed the last one. */
		_exit(read(executed[0], &byte, 1) != 0);
	}
	close(executed[1]);
	workload__wait(parent, NULL);
	test__sleep_ms(test__patience_ms(50));
	tool_run__stop(&run);
	close(executed[0]);
	records__load(&records, &run);
	record = records__next(&records, "exec", 0, &index);
	test__equal("parent: its id, though it has ended",
		    record ? (uint64_t)record__number(record, "ppid") : 0, (uint64_t)parent);
	test__same("parent: its name, too",
		   record ? json__string(json__get(record, "pcomm")) : NULL, "one-shot");
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__own_program("report");
	check_order();
	check_arguments();
	check_mark();
	check_short_parent();
	return test__done();
}
