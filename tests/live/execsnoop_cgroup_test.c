// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The cgroup of a process: in its record, and as a filter by path and by id with all below it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cgroup.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

#define NAME "cgroup: filter by path and id"

static char outer[600], inner[640], other[600];
static const char *program;

static void enter(void *ctx)
{
	if (cgroup__enter(ctx))
		_exit(126);
}

static pid_t run_in(char *group)
{
	const struct workload workload = { .program = program, .prepare = enter, .ctx = group };
	pid_t pid = workload__start(&workload);

	if (workload__wait(pid, NULL))
		test__fatal("workload", "cannot run in %s", group);
	return pid;
}

static void check_shown(const struct records *records, pid_t pid, bool shown, const char *group,
			const char *how)
{
	const struct json_value *record;
	size_t index = 0;
	char check[160];

	snprintf(check, sizeof(check), "cgroup: %s: a process %s is %s", how, group,
		 shown ? "recorded" : "left out");
	record = records__next(records, "exec", pid, &index);
	index = 0;
	test__check(!record != shown && !records__next(records, "exit", pid, &index) != shown,
		    check, "it is not so");
}

static void check_filter(const char *word, const char *how)
{
	const struct json_value *account, *record;
	pid_t in_outer, in_inner, in_other;
	struct records records;
	struct tool_run run;
	char check[128];
	size_t index = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "-e", "-c", word, "--comm", file_name(program)));
	in_outer = run_in(outer);
	in_inner = run_in(inner);
	in_other = run_in(other);
	tool_run__stop(&run);
	records__load(&records, &run);
	check_shown(&records, in_outer, true, "in the group", how);
	check_shown(&records, in_inner, true, "in a group below", how);
	check_shown(&records, in_other, false, "in another group", how);
	account = records__account(&records);
	check_exact(account, how);
	snprintf(check, sizeof(check), "cgroup: %s: two are recorded", how);
	test__equal(check, (uint64_t)account__term(account, "exec", "recorded"), 2);
	snprintf(check, sizeof(check), "cgroup: %s: cgroup_id is the group's", how);
	record = records__next(&records, "exec", in_inner, &index);
	test__equal(check, (uint64_t)record__number(record, "cgroup_id"), cgroup__id(inner));
	records__free(&records);
	tool_run__free(&run);
}

/* A group may be removed while the run lasts: what was in it stays recorded. */
static void check_own_group(void)
{
	struct records records;
	struct tool_run run;
	const struct json_value *record;
	pid_t pid;

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	pid = run_in(other);
	cgroup__remove(other);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__only(&records, "exec", pid, "cgroup: one that is removed");
	test__check(record && record__number(record, "cgroup_id") > 0,
		    "cgroup: a group removed in the run has its id", "it has none");
	records__free(&records);
	tool_run__free(&run);
}

static bool make_groups(const char *mount)
{
	snprintf(outer, sizeof(outer), "%s/vantage-test.%d", mount, getpid());
	snprintf(inner, sizeof(inner), "%s/inner", outer);
	snprintf(other, sizeof(other), "%s/vantage-test.%d.other", mount, getpid());
	if (cgroup__make(outer))
		return false;
	return !cgroup__make(inner) && !cgroup__make(other);
}

int main(int argc, char **argv)
{
	const char *mount;
	char id[32];

	role__play(argc, argv);
	mount = cgroup__mount();
	if (!mount) {
		test__skip(NAME, "no cgroup2 hierarchy is mounted");
		return test__done();
	}
	if (!make_groups(mount)) {
		test__skip(NAME, "no group can be made below '%s': %s", mount, strerror(errno));
		cgroup__remove(outer);
		return test__done();
	}
	program = workload__own_program("group");
	check_filter(outer, "by absolute path");
	check_filter(outer + strlen(mount) + 1, "by path below the mount");
	snprintf(id, sizeof(id), "%" PRIu64, cgroup__id(outer));
	check_filter(id, "by id");
	check_own_group();
	cgroup__remove(inner);
	cgroup__remove(outer);
	return test__done();
}
