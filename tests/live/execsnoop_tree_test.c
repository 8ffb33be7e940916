// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --tree: a process that runs already and all its descendants, those it has and those to come. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
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

static bool is_open(const struct gate *gate, int ms)
{
	struct pollfd fd = { .fd = gate->fds[0], .events = POLLIN };

	return poll(&fd, 1, ms) > 0;
}

static _Noreturn void execute(void)
{
	char role[] = "VANTAGE_ROLE=true", *const envp[] = { role, NULL };

	execve(program, (char *const[]){ (char *)(uintptr_t)program, NULL }, envp);
	_exit(127);
}

/* Hands over to a child and ends, again and again, until the gate is open. */
static _Noreturn void relay(const struct gate *gate)
{
	while (!is_open(gate, 1)) {
		pid_t child = fork();

		if (child > 0)
			_exit(0);
	}
	execute();
}

/* A process with lines of others below it: each line is one that relays (width), or depth of them
 * of which each waits for its child, and the last one executes when the gate opens. */
static pid_t start_family(struct gate *gate, int width, int depth)
{
	pid_t pid = fork();

	if (pid < 0)
		test__fatal("workload", "fork: %s", strerror(errno));
	if (pid)
		return pid;
	/* Orphans stay below this process, and nobody has to wait for them. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (!depth)
		signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < width; i++)
		if (!depth && !fork())
			relay(gate);
	for (int i = 0; i < depth; i++) {
		pid_t child = fork();

		if (child) {
			waitpid(child, NULL, 0);
			_exit(0);
		}
	}
	while (!is_open(gate, 1000))
		;
	if (depth)
		execute();
	test__sleep_ms(test__patience_ms(500));
	_exit(0);
}

/* Whether a kernel that skips runs of a program skipped its stand-in, too, and says how often. In a
 * storm on one CPU several tasks are preempted in the middle of them at a time. */
static bool is_outrun(const struct json_value *account)
{
	const struct json_value *probes = json__get(account, "probes"), *last;
	const struct json_value *missed = json__get(account, "missed");
	int64_t nr = 0;

	if (!probes || probes->kind != JSON_ARRAY || probes->array.nr < 2 || !missed)
		return false;
	/* A stand-in is behind its program, at the same target. */
	last = &probes->array.items[probes->array.nr - 1];
	if (strcmp(json__string(json__get(last, "target")),
		   json__string(json__get(&probes->array.items[probes->array.nr - 2], "target"))))
		return false;
	for (size_t i = 0; i < missed->object.nr; i++)
		nr += record__number(missed, missed->object.members[i].name);
	return nr > 0;
}

static void check_family(int width, int depth, const char *name)
{
	const struct json_value *account;
	struct records records;
	struct tool_run run;
	struct gate gate;
	char pid_text[16], check[128];
	pid_t root, outsider;
	size_t index = 0;

	gate__make(&gate);
	root = start_family(&gate, width, depth);
	snprintf(pid_text, sizeof(pid_text), "%d", root);
	test__sleep_ms(test__patience_ms(200));
	tool_run__trace(&run, NULL, ARGS("-j", "--tree", pid_text));
	outsider = workload__start(&(struct workload){ .program = program });
	workload__wait(outsider, NULL);
	gate__open(&gate);
	workload__wait(root, NULL);
	tool_run__stop(&run);
	records__load(&records, &run);
	account = records__account(&records);
	if (is_outrun(account)) {
		snprintf(check, sizeof(check), "tree: %s: what was missed is told", name);
		test__same(check, json__string(json__get(account, "verdict")), "lower_bound");
		goto free;
	}
	snprintf(check, sizeof(check), "tree: %s: each descendant is followed", name);
	test__equal(check, records__count(&records, "exec", file_name(program)),
		    (size_t)(depth ? 1 : width));
	snprintf(check, sizeof(check), "tree: %s: others are not", name);
	test__check(!records__next(&records, "exec", outsider, &index), check, "one is");
	snprintf(check, sizeof(check), "tree: %s: they are filtered", name);
	test__check(account__term(account, "exec", "filtered") >= 1, check, "they are not");
	check_exact(account, name);
free:
	records__free(&records);
	tool_run__free(&run);
}

/* With a command, both are followed. */
static void check_both(void)
{
	struct records records;
	struct tool_run run;
	struct gate gate;
	char pid_text[16];
	pid_t root;

	gate__make(&gate);
	root = start_family(&gate, 0, 2);
	snprintf(pid_text, sizeof(pid_text), "%d", root);
	setenv("VANTAGE_ROLE", "sleep 500", 1);
	tool_run__trace(&run, NULL, ARGS("-j", "--tree", pid_text, "--", program));
	unsetenv("VANTAGE_ROLE");
	gate__open(&gate);
	workload__wait(root, NULL);
	tool_run__wait(&run);
	records__load(&records, &run);
	test__equal("tree: of a process and of the command",
		    records__count(&records, "exec", file_name(program)), 2);
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__own_program("tree");
	check_family(0, 1, "a child");
	check_family(0, 5, "a deep family");
	for (int i = 0; i < 5; i++)
		check_family(8, 0, "a storm of forks while it starts");
	check_both();
	return test__done();
}
