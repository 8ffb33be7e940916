// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters ask about the task that waited: a cgroup and the one process in it give the same. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cgroup.h"
#include "support/children.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"

#define NAME "cgroup: the same count by the group and by its only process"

/* A process in the group that waits for a byte, then sleeps for short moments, and at last waits
 * for the end. */
static pid_t start_sleeper(const char *group, int go)
{
	pid_t pid = children__fork();
	char byte;

	if (pid)
		return pid;
	if (cgroup__enter(group) || read(go, &byte, 1) != 1)
		_exit(1);
	for (int i = 0; i < 500; i++)
		usleep(500);
	for (;;)
		pause();
}

static int64_t count_of(struct tool_run *run, const char *name)
{
	const struct json_value *histogram;
	struct records records;
	size_t index = 0;
	int64_t count;

	tool_run__stop(run);
	records__load(&records, run);
	histogram = records__next(&records, "histogram", 0, &index);
	count = histogram ? record__number(histogram, "count") : -1;
	check_account(records__account(&records), name);
	records__free(&records);
	tool_run__free(run);
	return count;
}

static void compare(const char *group)
{
	struct tool_run by_group, by_pid;
	int64_t group_count, pid_count;
	char pid[16];
	int go[2];
	pid_t child;

	if (pipe(go))
		test__fatal("pipe", "errno %d", errno);
	child = start_sleeper(group, go[0]);
	snprintf(pid, sizeof(pid), "%d", child);
	test__sleep_ms(test__patience_ms(100));
	tool_run__trace(&by_group, NULL, ARGS("-j", "-c", group));
	tool_run__trace(&by_pid, NULL, ARGS("-j", "-p", pid));
	if (write(go[1], "", 1) != 1)
		test__fatal("write", "errno %d", errno);
	test__sleep_ms(test__patience_ms(1000));
	group_count = count_of(&by_group, "by group");
	pid_count = count_of(&by_pid, "by process");
	test__check(group_count == pid_count && pid_count >= 100, NAME,
		    "%" PRId64 " by group, %" PRId64 " by process", group_count, pid_count);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *mount;
	char group[600];

	role__play(argc, argv);
	mount = cgroup__mount();
	if (!mount) {
		test__skip(NAME, "no cgroup2 hierarchy is mounted");
		return test__done();
	}
	snprintf(group, sizeof(group), "%s/vantage-test.%d", mount, getpid());
	if (cgroup__make(group)) {
		test__skip(NAME, "no group can be made below '%s': %s", mount, strerror(errno));
		return test__done();
	}
	compare(group);
	cgroup__remove(group);
	return test__done();
}
