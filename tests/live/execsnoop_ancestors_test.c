// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who started it: the chain as it was at the exec, variables of the environment, and the question
 * of the tool's purpose: what runs so often and so briefly, and which script is it of? */
#include <errno.h>
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

/* Forks down through levels; the last one runs the program so many times, with a pause. The
 * process ids of the levels, the lowest first. */
static void run_deep(int levels, unsigned long times, unsigned int pause_ms, pid_t *pids)
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
			run_deep(levels - 1, times, pause_ms, pids);
		for (unsigned long i = 0; levels == 1 && i < times; i++) {
			workload__repeat(program, 1);
			test__sleep_ms(pause_ms);
		}
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
	run_deep(5, 1, 0, pids);
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

/* The helper stands first in the summary, with its count exact, and the chain names the script. */
static void check_question(void)
{
	unsigned long nr = test__scaled(50);
	const struct json_value *record, *key;
	struct records records;
	struct tool_run run;
	pid_t pids[4] = { 0 };
	size_t index = 0;

	tool_run__trace(&run, NULL,
			ARGS("-j", "--max-duration", "1s", "--ancestors", "4", "-s", "-n",
			     "^quest"));
	run_deep(4, nr, 10, pids);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__next(&records, "summary", 0, &index);
	key = json__get(record, "key");
	test__same("question: the helper is first in the summary",
		   json__string(json__get(key, "command")), file_name(program));
	test__equal("question: with its count", (uint64_t)record__number(record, "count"), nr);
	test__equal("question: and lifetimes", (uint64_t)record__number(record, "ended"), nr);
	check_chain(record, pids, 4, "of the summary name the script");
	index = 0;
	check_chain(records__next(&records, "exit", 0, &index), pids, 4, "of a command at its end");
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
