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

/* Groups, each with one process; the filter names the first three in three ways. */
enum { BY_PATH, BY_RELATIVE_PATH, BY_ID, BELOW, OTHER, NR_GROUPS };

struct group {
	const char *name; /* below the mount */
	const char *what;
	bool inside;
	char path[640];
	uint64_t id;
	pid_t pid;
};

static struct group groups[NR_GROUPS] = {
	[BY_PATH] = { .name = "a", .what = "in the group of an absolute path", .inside = true },
	[BY_RELATIVE_PATH] = { .name = "b",
			       .what = "in the group of a path below the mount",
			       .inside = true },
	[BY_ID] = { .name = "c", .what = "in the group of an id", .inside = true },
	[BELOW] = { .name = "a/below", .what = "in a group below", .inside = true },
	[OTHER] = { .name = "d", .what = "in another group", .inside = false },
};

static void enter(void *ctx)
{
	if (cgroup__enter(ctx))
		_exit(126);
}

static void run_in(struct group *group, const char *program)
{
	const struct workload workload = {
		.program = program,
		.prepare = enter,
		.ctx = group->path,
	};

	group->pid = workload__start(&workload);
	if (workload__wait(group->pid, NULL))
		test__fatal("workload", "cannot run in %s", group->path);
}

static bool make_groups(const char *mount, char *folder, size_t size)
{
	snprintf(folder, size, "%s/vantage-test.%d", mount, getpid());
	if (cgroup__make(folder))
		return false;
	for (size_t i = 0; i < NR_GROUPS; i++) {
		struct group *group = &groups[i];

		snprintf(group->path, sizeof(group->path), "%s/%s", folder, group->name);
		if (cgroup__make(group->path))
			return false;
		group->id = cgroup__id(group->path);
	}
	return true;
}

static void remove_groups(const char *folder)
{
	for (size_t i = NR_GROUPS; i; i--)
		cgroup__remove(groups[i - 1].path);
	cgroup__remove(folder);
}

static void check_group(const struct group *group, const struct records *records, const char *type)
{
	const struct json_value *record;
	size_t index = 0;
	char check[160];

	record = records__next(records, type, group->pid, &index);
	snprintf(check, sizeof(check), "cgroup: the %s of a process %s is %s", type, group->what,
		 group->inside ? "recorded" : "left out");
	test__check(!record != group->inside, check, "it is not so");
	snprintf(check, sizeof(check), "cgroup: the %s of a process %s has its id", type,
		 group->what);
	if (record)
		test__equal(check, (uint64_t)record__number(record, "cgroup_id"), group->id);
}

static void check_filter(const char *mount)
{
	const char *program = workload__own_program("group");
	const struct json_value *account;
	struct records records;
	struct tool_run run;
	char id[32];

	snprintf(id, sizeof(id), "%" PRIu64, groups[BY_ID].id);
	tool_run__trace(&run, NULL,
			ARGS("-j", "-e", "--comm", file_name(program), "-c", groups[BY_PATH].path,
			     "-c", groups[BY_RELATIVE_PATH].path + strlen(mount) + 1, "--cgroup",
			     id));
	for (size_t i = 0; i < NR_GROUPS; i++)
		run_in(&groups[i], program);
	/* What was in a group stays recorded when the group goes. */
	cgroup__remove(groups[BY_ID].path);
	tool_run__stop(&run);
	records__load(&records, &run);
	account = records__account(&records);
	check_exact(account, "cgroup");
	for (size_t i = 0; i < NR_GROUPS; i++) {
		check_group(&groups[i], &records, "exec");
		check_group(&groups[i], &records, "exit");
	}
	test__equal("cgroup: what is inside is recorded, and nothing else",
		    (uint64_t)account__term(account, "exec", "recorded"), NR_GROUPS - 1);
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	static const char name[] = "cgroup: filter by path and id";
	const char *mount;
	char folder[600];

	role__play(argc, argv);
	mount = cgroup__mount();
	if (!mount) {
		test__skip(name, "no cgroup2 hierarchy is mounted");
		return test__done();
	}
	if (make_groups(mount, folder, sizeof(folder)))
		check_filter(mount);
	else
		test__skip(name, "no group can be made below '%s': %s", mount, strerror(errno));
	remove_groups(folder);
	return test__done();
}
