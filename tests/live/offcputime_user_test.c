// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Stacks in the programs: of a process that lives for 50 ms and is gone when the report is made;
 * frames that are not sure are marked; and stacks are taken when asked for, or of the processes
 * that a run is about.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

#define NR_PROCESSES 5

static bool is_unsure(const struct json_value *frame)
{
	const struct json_value *unsure = json__get(frame, "unsure");

	return unsure && unsure->kind == JSON_BOOL && unsure->truth;
}

/* How many of the chain's functions stand at the top of a stack, all sure. */
static size_t chain_of(const struct json_value *record)
{
	static const char *const chain[] = { "chain_leaf", "chain_middle", "chain_outer" };
	const struct json_value *stack = json__get(record, "user_stack");
	size_t nr = 0;

	while (stack && stack->kind == JSON_ARRAY && nr < 3 && nr < stack->array.nr &&
	       json__is(json__get(&stack->array.items[nr], "symbol"), chain[nr]) &&
	       !is_unsure(&stack->array.items[nr]))
		nr++;
	return nr;
}

static const struct json_value *longest_of(const struct records *records, pid_t pid)
{
	const struct json_value *record, *longest = NULL;
	size_t index = 0;

	while ((record = records__next(records, "stack", pid, &index)))
		if (!longest ||
		    record__number(record, "total_ns") > record__number(longest, "total_ns"))
			longest = record;
	return longest;
}

static void check_short_lives(void)
{
	struct workload workload = { .program = workload__own_program("brief") };
	char role[32];
	struct records records;
	struct tool_run run;
	pid_t pids[NR_PROCESSES];
	size_t nr = 0;

	snprintf(role, sizeof(role), "chain %lu", (unsigned long)test__patience_ms(50));
	workload.role = role;
	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(workload.program)));
	for (size_t i = 0; i < NR_PROCESSES; i++) {
		pids[i] = workload__start(&workload);
		workload__wait(pids[i], NULL);
	}
	test__sleep_ms(100);
	tool_run__stop(&run);
	records__load(&records, &run);
	for (size_t i = 0; i < NR_PROCESSES; i++)
		nr += chain_of(longest_of(&records, pids[i])) == 3;
	test__check(nr == NR_PROCESSES, "short lives: all frames have their names",
		    "%zu of %d; stderr: %s", nr, NR_PROCESSES, run.err);
	check_account(records__account(&records), "short lives");
	records__free(&records);
	tool_run__free(&run);
}

/* By way of libc, which keeps no frame pointers: the first frame is sure, the rest is not. */
static void check_marks(void)
{
	struct workload workload = { .program = workload__own_program("marks"),
				     .role = "sleep 100" };
	const struct json_value *stack;
	struct records records;
	struct tool_run run;
	size_t nr_sure = 0;
	pid_t pid;

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(workload.program)));
	pid = workload__start(&workload);
	workload__wait(pid, NULL);
	tool_run__stop(&run);
	records__load(&records, &run);
	stack = json__get(longest_of(&records, pid), "user_stack");
	for (size_t i = 0; stack && i < stack->array.nr; i++)
		nr_sure += !is_unsure(&stack->array.items[i]);
	test__check(stack && stack->array.nr > 1 && nr_sure == 1, "marks: the first frame is sure",
		    "%zu of %zu", nr_sure, stack ? stack->array.nr : 0);
	test__check(strstr(run.err, "without frame pointers in ") &&
			    strstr(run.err, file_name(workload.program)),
		    "marks: the file is named", "stderr: %s", run.err);
	records__free(&records);
	tool_run__free(&run);
}

/* Whether a row of the process has such a stack: one before its first switch has none. */
static bool have_stack(const struct records *records, pid_t pid, const char *name)
{
	const struct json_value *record;
	size_t index = 0;

	while ((record = records__next(records, "stack", pid, &index)))
		if (json__get(record, name))
			return true;
	return false;
}

/* Which stacks the rows of a process have. */
static void check_choice(void)
{
	static const struct {
		const char *name;
		const char *args[2];
		bool kernel, user;
	} cases[] = {
		{ "all processes", { NULL }, true, false },
		{ "all, asked for", { "--user-stacks" }, true, true },
		{ "-U", { "-U" }, false, true },
		{ "-K", { "-K" }, true, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct workload workload = { .program = workload__own_program("choice"),
					     .role = "sleep 100" };
		bool kernel, user;
		struct records records;
		struct tool_run run;
		char check[64];
		pid_t pid;

		tool_run__trace(&run, NULL, ARGS("-j", "-u", cases[i].args[0]));
		pid = workload__start(&workload);
		workload__wait(pid, NULL);
		tool_run__stop(&run);
		records__load(&records, &run);
		kernel = have_stack(&records, pid, "kernel_stack");
		user = have_stack(&records, pid, "user_stack");
		snprintf(check, sizeof(check), "choice: %s", cases[i].name);
		test__check(kernel == cases[i].kernel && user == cases[i].user, check,
			    "kernel %d, user %d", kernel, user);
		records__free(&records);
		tool_run__free(&run);
	}
}

static void check_text(void)
{
	struct workload workload = { .program = workload__own_program("text"),
				     .role = "chain 100" };
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-d", "--comm", file_name(workload.program)));
	workload__run(&workload);
	tool_run__stop(&run);
	test__check(strstr(run.out, "    --\n    chain_leaf [text."),
		    "text: the program below the kernel", "saw: %s", run.out);
	tool_run__free(&run);
}

static int compare_lines(const void *left, const void *right)
{
	return strcmp(*(char *const *)left, *(char *const *)right);
}

/* The stacks of the lines, without the times, that differ; those with a chain alone. */
static size_t nr_stacks(char *text)
{
	size_t nr = 0, capacity = 1, different = 0;
	char *line, *rest, **lines;

	for (line = text; (line = strchr(line, '\n')); line++)
		capacity++;
	lines = calloc(capacity, sizeof(*lines));
	if (!lines)
		test__fatal("stacks", "no memory");
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		*strrchr(line, ' ') = '\0';
		if (strstr(line, ";chain_leaf"))
			lines[nr++] = line;
	}
	qsort(lines, nr, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < nr; i++)
		different += !i || strcmp(lines[i - 1], lines[i]) != 0;
	free(lines);
	return different;
}

/* Many different stacks: none is lost, none is taken for another. A sleep that is over before its
 * thread has left the CPU is no stay, and no stack. */
static void check_many(void)
{
	const unsigned long nr = test__scaled(50000);
	struct workload workload = { .program = workload__own_program("many") };
	struct tool_run run;
	size_t seen;
	char role[32];

	snprintf(role, sizeof(role), "stacks %lu", nr);
	workload.role = role;
	tool_run__trace(&run, NULL, ARGS("-f", "-U", "--comm", file_name(workload.program)));
	workload__run(&workload);
	test__equal("many: the tool ends well", (uint64_t)tool_run__stop(&run), 0);
	seen = nr_stacks(run.out);
	test__check(seen <= nr && nr - seen <= nr / (test__is_emulated() ? 50 : 1000) + 1,
		    "many: each different stack is there", "%zu of %lu; stderr: %s", seen, nr,
		    run.err);
	test__check(!strstr(run.err, "stack not whole") && !strstr(run.err, "no room for it"),
		    "many: none is lost", "stderr: %s", run.err);
	printf("# %zu different stacks of %lu\n", seen, nr);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	check_short_lives();
	check_marks();
	check_choice();
	check_text();
	check_many();
	return test__done();
}
