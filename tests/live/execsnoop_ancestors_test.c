// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who started it: the chain as it was at the exec, variables of the environment, and the question
 * of the tool's purpose: what runs so often and so briefly, and which script is it of? */
#include <errno.h>
#include <sched.h>
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

/* Forks down through levels; the last one runs the program. The process ids of the levels, the
 * lowest first. */
static void run_deep(int levels, pid_t *pids)
{
	int ready[2];
	pid_t child;

	if (pipe(ready) || (child = fork()) < 0)
		test__fatal("workload", "fork: %s", strerror(errno));
	if (!child) {
		char name[24];

		snprintf(name, sizeof(name), "level-%d", levels);
		prctl(PR_SET_NAME, name);
		pids[levels - 1] = getpid();
		if (levels > 1)
			run_deep(levels - 1, pids);
		else
			workload__repeat(program, 1);
		_exit(write(ready[1], pids, (size_t)levels * sizeof(*pids)) < 0);
	}
	close(ready[1]);
	if (read(ready[0], pids, (size_t)levels * sizeof(*pids)) < 0)
		test__fatal("workload", "read: %s", strerror(errno));
	close(ready[0]);
	workload__wait(child, NULL);
}

static void check_chain(const struct json_value *record, const pid_t *pids, size_t nr,
			const char *name)
{
	const struct json_value *chain = json__get(record, "ancestors");
	char check[128], comm[32];
	bool right = chain && chain->array.nr == nr;

	for (size_t i = 0; right && i < nr; i++) {
		const struct json_value *ancestor = &chain->array.items[i];

		snprintf(comm, sizeof(comm), "level-%zu", i + 1);
		right = record__number(ancestor, "pid") == pids[i] &&
			json__is(json__get(ancestor, "comm"), comm);
	}
	snprintf(check, sizeof(check), "ancestors: %s", name);
	test__check(right, check, "another chain, of %zu", chain ? chain->array.nr : 0);
}

static void check_exec_chain(void)
{
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	pid_t pids[5] = { 0 };
	size_t index = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "--ancestors", "4", "--comm", file_name(program)));
	run_deep(5, pids);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__next(&records, "exec", 0, &index);
	check_chain(record, pids, 4, "as many as asked for, with pid and name");
	test__equal("ancestors: the first is the parent", (uint64_t)record__number(record, "ppid"),
		    (uint64_t)pids[0]);
	check_exact(records__account(&records), "ancestors");
	records__free(&records);
	tool_run__free(&run);
}

/* It ends at the first process of the machine. */
static void check_whole_chain(void)
{
	const struct json_value *chain;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "--ancestors", "16", "--comm", file_name(program)));
	workload__repeat(program, 1);
	tool_run__stop(&run);
	records__load(&records, &run);
	chain = json__get(records__next(&records, "exec", 0, &index), "ancestors");
	test__check(chain && chain->array.nr >= 1 && chain->array.nr <= 16 &&
			    (chain->array.nr == 16 ||
			     record__number(&chain->array.items[chain->array.nr - 1], "pid") == 1),
		    "ancestors: all of them end at process 1", "there are %zu",
		    chain ? chain->array.nr : 0);
	records__free(&records);
	tool_run__free(&run);
}

/* How long the helper sleeps, and how often the script runs it. */
#define HELPER_ROLE "sleep 3"
#define PAUSE_MS 50

/* What a script below cron does: its subshell runs a short helper again and again. Returns how many
 * of the helpers were over within limit_ms, start and end included. */
static unsigned long run_helpers(unsigned long times, uint64_t limit_ms)
{
	const struct sched_param first = { .sched_priority = 1 };
	unsigned long nr_short = 0;

	/* Other work must not make a short life a long one. Where that is refused, it may. */
	sched_setscheduler(0, SCHED_FIFO, &first);
	for (unsigned long i = 0; i < times; i++) {
		uint64_t begin_ns = test__now_ns();

		workload__run(&(struct workload){ .program = program, .role = HELPER_ROLE });
		nr_short += test__now_ns() - begin_ns <= limit_ms * 1000000;
		test__sleep_ms(PAUSE_MS);
	}
	return nr_short;
}

/* From the daemon down to the subshell of the script. */
static const char *const cron_levels[] = { "cron", "cron-child", "sh", "check-disk" };
#define NR_CRON_LEVELS (sizeof(cron_levels) / sizeof(cron_levels[0]))

/* Each level is a process of its own. */
static unsigned long run_cron(size_t level, unsigned long times, uint64_t limit_ms)
{
	unsigned long nr_short = 0;
	int result[2];
	pid_t child;

	if (level == NR_CRON_LEVELS)
		return run_helpers(times, limit_ms);
	if (pipe(result) || (child = fork()) < 0)
		test__fatal("workload", "fork: %s", strerror(errno));
	if (!child) {
		prctl(PR_SET_NAME, cron_levels[level]);
		nr_short = run_cron(level + 1, times, limit_ms);
		_exit(write(result[1], &nr_short, sizeof(nr_short)) != sizeof(nr_short));
	}
	if (read(result[0], &nr_short, sizeof(nr_short)) != sizeof(nr_short))
		test__fatal("workload", "it did not run to its end");
	close(result[0]);
	close(result[1]);
	workload__wait(child, NULL);
	return nr_short;
}

static void check_cron_chain(const struct json_value *record, const char *name)
{
	const struct json_value *chain = json__get(record, "ancestors");
	bool right = chain && chain->array.nr == NR_CRON_LEVELS;

	for (size_t i = 0; right && i < NR_CRON_LEVELS; i++)
		right = json__is(json__get(&chain->array.items[i], "comm"),
				 cron_levels[NR_CRON_LEVELS - 1 - i]);
	test__check(right, name, "another chain, of %zu", chain ? chain->array.nr : 0);
}

/* The row of the helper. Other work on the machine may start something else more often, and
 * nothing else may stand before it. */
static const struct json_value *find_helper(const struct records *records, bool *first)
{
	const struct json_value *record;
	int64_t least = INT64_MAX, count = 0;
	size_t index = 0;

	while ((record = records__next(records, "summary", 0, &index))) {
		count = record__number(record, "count");
		if (json__is(json__get(json__get(record, "key"), "command"), file_name(program)))
			break;
		least = count < least ? count : least;
	}
	*first = record && count <= least;
	return record;
}

/* What starts something every few milliseconds, and who told it to: one command, no filter. */
static void check_question(void)
{
	unsigned long times = test__scaled(40), nr_short;
	uint64_t limit_ms = test__patience_ms(10);
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	char limit[24];
	size_t index = 0;
	int64_t count;
	bool first;

	snprintf(limit, sizeof(limit), "%" PRIu64 "ms", limit_ms);
	tool_run__trace(&run, NULL, ARGS("-j", "--max-duration", limit, "--ancestors", "4", "-s"));
	nr_short = run_cron(0, times, limit_ms);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = find_helper(&records, &first);
	count = record__number(record, "count");
	test__check(first, "question: the helper is first in the summary",
		    "a row before it has less than %" PRId64, count);
	test__check(count >= (int64_t)nr_short && count <= (int64_t)times,
		    "question: with its count", "%" PRId64 ", of %lu, %lu of them surely short",
		    count, times, nr_short);
	test__equal("question: and lifetimes", (uint64_t)record__number(record, "ended"),
		    (uint64_t)count);
	check_cron_chain(record, "question: the chain names the script");
	test__equal("question: each has its record",
		    records__count(&records, "exit", file_name(program)), (uint64_t)count);
	while ((record = records__next(&records, "exit", 0, &index)))
		if (json__is(json__get(record, "comm"), file_name(program)))
			break;
	check_cron_chain(record, "question: and so does each record");
	check_exact(records__account(&records), "question");
	records__free(&records);
	tool_run__free(&run);
}

static void check_env(void)
{
	const struct json_value *env, *none;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	tool_run__trace(&run, NULL,
			ARGS("-j", "--env", "VANTAGE_ROLE", "--env", "VANTAGE_NO_SUCH", "--comm",
			     file_name(program)));
	workload__wait(workload__start(&(struct workload){ .program = program }), NULL);
	tool_run__stop(&run);
	records__load(&records, &run);
	env = json__get(records__next(&records, "exec", 0, &index), "env");
	test__check(env && env->array.nr == 1 &&
			    json__is(&env->array.items[0], "VANTAGE_ROLE=true"),
		    "env: the variable asked for, and no other", "it is not there");
	check_exact(records__account(&records), "env");
	records__free(&records);
	tool_run__free(&run);

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	workload__repeat(program, 1);
	tool_run__stop(&run);
	records__load(&records, &run);
	index = 0;
	none = records__next(&records, "exec", 0, &index);
	test__check(none && !json__get(none, "env") && !json__get(none, "ancestors"),
		    "env, ancestors: only when they are asked for", "they are there");
	records__free(&records);
	tool_run__free(&run);
}

static void check_failed(void)
{
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	pid_t pid, pids[1];
	char pid_text[16];

	snprintf(pid_text, sizeof(pid_text), "%d", getpid());
	tool_run__trace(&run, NULL, ARGS("-jx", "--ancestors", "1", "--ppid", pid_text));
	prctl(PR_SET_NAME, "level-1");
	pid = workload__start(&(struct workload){ .program = "/nonexistent/program" });
	workload__wait(pid, NULL);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__only(&records, "exec", pid, "ancestors: of a failed call, too");
	pids[0] = getpid();
	if (record)
		check_chain(record, pids, 1, "of a failed call, too");
	records__free(&records);
	tool_run__free(&run);
}

static void check_text(void)
{
	struct tool_run run;
	char expected[64];

	snprintf(expected, sizeof(expected), "level-1(%d)\n", getpid());
	tool_run__trace(&run, NULL, ARGS("--ancestors", "1", "-S", "--comm", file_name(program)));
	workload__repeat(program, 1);
	tool_run__stop(&run);
	test__check(strstr(run.out, " ANCESTORS") && strstr(run.out, expected),
		    "ancestors: a column of the summary", "saw: %s", run.out);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__own_program("question");
	check_exec_chain();
	check_whole_chain();
	check_question();
	check_env();
	check_failed();
	check_text();
	return test__done();
}
