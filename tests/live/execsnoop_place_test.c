// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where a command runs: its working directory as it sees it itself, and the path of its group. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cgroup.h"
#include "support/children.h"
#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

#define TRUTH_MAX 8192

/* How a process gets to its working directory; false: this machine does not allow it. */
struct scene {
	const char *name;
	bool (*go)(void);
	bool cut; /* too long, or too deep, for all of it */
	bool unreachable;
	pid_t pid;
	char *truth; /* as the kernel tells the process; "" if it did not get there */
};

static bool enter_folder(const char *name)
{
	return (!mkdir(name, 0755) || errno == EEXIST) && !chdir(name);
}

static bool go_to_root(void)
{
	return !chdir("/");
}

static bool go_to_folder(void)
{
	return !chdir(scratch__path("here"));
}

static bool go_to_odd_name(void)
{
	return go_to_folder() && enter_folder("a\n\x1b[31m \xff'b");
}

static bool go_deep(size_t levels, size_t length)
{
	char name[128];

	memset(name, 'd', length);
	name[length] = '\0';
	while (levels--)
		if (!enter_folder(name))
			return false;
	return true;
}

static bool go_as_deep_as_is_shown(void)
{
	return go_to_folder() && go_deep(20, 2);
}

static bool go_too_deep(void)
{
	return go_to_folder() && go_deep(60, 1);
}

static bool go_too_far(void)
{
	return go_to_folder() && go_deep(24, 100);
}

/* A mount of the process's own name space, in a folder of another one. */
static bool go_over_mounts(void)
{
	const char *outer = scratch__path("here");

	return scratch__private_mounts() && !mount("none", outer, "tmpfs", 0, NULL) &&
	       !chdir(outer) && enter_folder("one") && enter_folder("two") &&
	       !mount("none", ".", "tmpfs", 0, NULL) && !chdir("../two") && enter_folder("three");
}

static bool go_into_own_root(void)
{
	return go_to_folder() && enter_folder("root") && !chroot(".") && enter_folder("below") &&
	       enter_folder("it");
}

static bool go_out_of_own_root(void)
{
	return go_to_folder() && !chroot("root");
}

static struct scene scenes[] = {
	{ .name = "the root", .go = go_to_root },
	{ .name = "a folder", .go = go_to_folder },
	{ .name = "one with an odd name", .go = go_to_odd_name },
	{ .name = "many folders deep", .go = go_as_deep_as_is_shown },
	{ .name = "too many folders deep", .go = go_too_deep, .cut = true },
	{ .name = "a longer path than there is room for", .go = go_too_far, .cut = true },
	{ .name = "over mounts", .go = go_over_mounts },
	{ .name = "below a root of its own", .go = go_into_own_root },
	{ .name = "outside of its own root", .go = go_out_of_own_root, .unreachable = true },
};
#define NR_SCENES (sizeof(scenes) / sizeof(*scenes))

static int program_fd;

/* As a new process: goes there, and executes the program, whose path it may not see any more. */
static void play(struct scene *scene)
{
	char *const argv[] = { (char *)(uintptr_t)scene->name, NULL };

	scene->truth = mmap(NULL, TRUTH_MAX, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			    0);
	scene->pid = fork();
	if (scene->truth == MAP_FAILED || scene->pid < 0)
		test__fatal("workload", "%s", strerror(errno));
	if (!scene->pid) {
		if (!scene->go() || syscall(SYS_getcwd, scene->truth, TRUTH_MAX) < 0)
			_exit(1);
		syscall(SYS_execveat, program_fd, "", argv, NULL, AT_EMPTY_PATH);
		_exit(127);
	}
	children__add(scene->pid);
	if (workload__wait(scene->pid, NULL))
		scene->truth[0] = '\0';
}

/* Whole, or its end behind the mark. */
static bool is_right(const struct scene *scene, const char *cwd)
{
	static const char mark[] = "…/";
	size_t length = strlen(cwd), truth_length = strlen(scene->truth);

	if (!scene->cut)
		return !strcmp(cwd, scene->truth) &&
		       scene->unreachable == !strncmp(cwd, "(unreachable)/", 14);
	if (strncmp(cwd, mark, strlen(mark)) != 0 || length < 50)
		return false;
	length -= strlen(mark) - 1; /* with the slash */
	return length < truth_length &&
	       !strcmp(cwd + strlen(mark) - 1, scene->truth + truth_length - length);
}

static void check_scene(const struct scene *scene, const struct records *records, const char *type)
{
	const struct json_value *record;
	char check[160], *cwd;
	size_t size;

	snprintf(check, sizeof(check), "cwd: %s: of the %s", scene->name, type);
	if (!*scene->truth) {
		test__skip(check, "this machine does not allow it");
		return;
	}
	record = records__only(records, type, scene->pid, check);
	cwd = record ? string__bytes(json__get(record, "cwd"), &size) : NULL;
	test__check(cwd && is_right(scene, cwd), check, "expected %s, saw %s", scene->truth,
		    cwd ? cwd : "none");
	free(cwd);
}

static void check_cwd(const char *const *args, const char *type)
{
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, args);
	for (size_t i = 0; i < NR_SCENES; i++)
		play(&scenes[i]);
	tool_run__stop(&run);
	records__load(&records, &run);
	for (size_t i = 0; i < NR_SCENES; i++) {
		check_scene(&scenes[i], &records, type);
		munmap(scenes[i].truth, TRUTH_MAX);
	}
	check_exact(records__account(&records), "cwd");
	records__free(&records);
	tool_run__free(&run);
}

static void fail_in_folder(void *ctx)
{
	(void)ctx;
	if (!go_to_odd_name())
		_exit(126);
}

static void check_failed(const char *own_pid)
{
	const struct workload workload = { .program = "/nonexistent/program",
					   .prepare = fail_in_folder };
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	char *cwd = NULL;
	size_t size;
	pid_t pid;

	tool_run__trace(&run, NULL, ARGS("-jx", "--cwd", "-P", own_pid));
	pid = workload__start(&workload);
	workload__wait(pid, NULL);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__only(&records, "exec", pid, "cwd: of a call that failed");
	if (record)
		cwd = string__bytes(json__get(record, "cwd"), &size);
	test__check(cwd && strstr(cwd, "/here/a\n\x1b[31m \xff'b"), "cwd: of a call that failed",
		    "saw %s", cwd ? cwd : "none");
	check_exact(records__account(&records), "cwd of a failed call");
	free(cwd);
	records__free(&records);
	tool_run__free(&run);
}

static void check_not_asked(const char *own_pid)
{
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "-P", own_pid));
	workload__repeat(workload__small_program("place"), 1);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__next(&records, "exec", 0, &index);
	test__check(record && !json__get(record, "cwd") && !json__get(record, "cgroup"),
		    "cwd, cgroup: only when they are asked for", "they are there");
	records__free(&records);
	tool_run__free(&run);
}

static void enter_group(void *ctx)
{
	if (cgroup__enter(ctx))
		_exit(126);
}

/* Of a group that is made while the run lasts, and is gone at its end. */
static void check_group(const char *own_pid)
{
	static const char name[] = "cgroup: by its path";
	const char *mount = cgroup__mount();
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	char path[600];
	size_t index = 0;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/vantage-test.%d", mount ? mount : "", getpid());
	tool_run__trace(&run, NULL, ARGS("-j", "-e", "--cgroup-name", "-P", own_pid));
	if (!mount || cgroup__make(path)) {
		test__skip(name, "no group of cgroup2 can be made");
		tool_run__free(&run);
		return;
	}
	pid = workload__start(&(struct workload){
		.program = workload__own_program("group"), .prepare = enter_group, .ctx = path });
	workload__wait(pid, NULL);
	/* The name is looked up when the record is written. */
	test__sleep_ms(test__patience_ms(300));
	cgroup__remove(path);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__only(&records, "exec", pid, name);
	test__same(name, record ? json__string(json__get(record, "cgroup")) : NULL,
		   path + strlen(mount));
	record = records__next(&records, "exit", pid, &index);
	test__same("cgroup: of the exit, too",
		   record ? json__string(json__get(record, "cgroup")) : NULL, path + strlen(mount));
	records__free(&records);
	tool_run__free(&run);
}

static void check_text(const char *own_pid)
{
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("--cwd", "--cgroup-name", "-P", own_pid));
	play(&scenes[1]);
	tool_run__stop(&run);
	test__check(strstr(run.out, " CGROUP ") && strstr(run.out, " CWD ") &&
			    strstr(run.out, scenes[1].truth),
		    "cwd, cgroup: columns of the text", "saw: %s", run.out);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	char own_pid[16];

	role__play(argc, argv);
	snprintf(own_pid, sizeof(own_pid), "%d", getpid());
	scratch__folder("here");
	program_fd = open(workload__small_program("place"), O_RDONLY | O_CLOEXEC);
	if (program_fd < 0)
		test__fatal("workload", "%s", strerror(errno));
	check_cwd(ARGS("-j", "--cwd", "-P", own_pid), "exec");
	check_cwd(ARGS("-j", "--cwd", "-e", "--ancestors", "1", "-P", own_pid), "exit");
	check_failed(own_pid);
	check_not_asked(own_pid);
	check_group(own_pid);
	check_text(own_pid);
	return test__done();
}
