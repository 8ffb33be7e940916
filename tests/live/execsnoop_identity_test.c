// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who a process is: its ids, its parent and the parent's name, as they were at the event. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

/*
 * Each scene runs the program once in the role "status": it writes what the kernel tells it
 * about itself to a file, and that is the truth the record is held against.
 */
struct scene {
	const char *name;
	bool (*act)(const struct workload *workload); /* false: this machine cannot */
	const char *pcomm; /* of the parent; NULL: not judged */
	char *truth;
};

static bool succeeded(pid_t pid)
{
	return pid > 0 && !workload__wait(pid, NULL);
}

static bool run_child(const struct workload *workload)
{
	return succeeded(workload__start(workload));
}

/* For the time of the trace the kernel's "parent" is the tracer; the real parent is this process. */
static bool run_traced(const struct workload *workload)
{
	struct workload held = *workload;
	struct gate gate;
	int attached[2];
	pid_t traced, tracer;
	char byte = 0;

	gate__make(&gate);
	held.gate = &gate;
	if (pipe2(attached, O_CLOEXEC))
		return false;
	traced = workload__start(&held);
	tracer = fork();
	if (!tracer) {
		prctl(PR_SET_NAME, "the-tracer");
		byte = ptrace(PTRACE_SEIZE, traced, NULL, NULL) == 0;
		if (write(attached[1], &byte, 1) != 1)
			_exit(1);
		/* The tracer is told of the end first; its own end lets the traced one go. */
		_exit(byte && waitpid(traced, NULL, __WALL) == traced ? 0 : 1);
	}
	if (read(attached[0], &byte, 1) != 1)
		byte = 0;
	gate__open(&gate);
	workload__wait(traced, NULL);
	close(attached[0]);
	close(attached[1]);
	return succeeded(tracer) && byte;
}

/* depth new PID namespaces, one inside the other; the program is the first process of the last. */
static bool run_below(const struct workload *workload, int depth)
{
	pid_t pid = fork();

	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(1);
		_exit(depth > 1 ? !run_below(workload, depth - 1) : !run_child(workload));
	}
	return succeeded(pid);
}

static bool run_in_namespace(const struct workload *workload)
{
	return run_below(workload, 1);
}

static bool run_in_inner_namespace(const struct workload *workload)
{
	return run_below(workload, 2);
}

static void make_namespace_for_children(void *ctx)
{
	(void)ctx;
	if (unshare(CLONE_NEWPID))
		_exit(126);
}

/* It has made a namespace for its children, but is itself still in the old one. */
static bool run_unshared(const struct workload *workload)
{
	struct workload unshared = *workload;

	unshared.prepare = make_namespace_for_children;
	return run_child(&unshared);
}

/* The parent's name as it is at the exec, not as it was when the parent began. */
static bool run_renamed(const struct workload *workload)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_NAME, "new\x1b\nname\xff");
		_exit(!run_child(workload));
	}
	return succeeded(pid);
}

static void *run_in_thread(void *workload)
{
	prctl(PR_SET_NAME, "a-thread");
	return run_child(workload) ? workload : NULL;
}

/* The parent is a process, whichever of its threads forked. */
static bool run_by_thread(const struct workload *workload)
{
	pthread_t thread;
	void *result = NULL;

	if (pthread_create(&thread, NULL, run_in_thread, (void *)(uintptr_t)workload))
		return false;
	pthread_join(thread, &result);
	return result;
}

static void wait_for_new_parent(void *ctx)
{
	pid_t *old = ctx;

	while (getppid() == *old)
		test__sleep_ms(5);
}

/* Its first parent has ended before the exec. */
static bool run_orphan(const struct workload *workload)
{
	struct workload orphan = *workload;
	pid_t middle, old;
	int status;

	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return false;
	middle = fork();
	if (!middle) {
		old = getpid();
		orphan.prepare = wait_for_new_parent;
		orphan.ctx = &old;
		workload__start(&orphan);
		_exit(0);
	}
	return succeeded(middle) && wait(&status) > 0 && !status;
}

static void become_half_root(void *ctx)
{
	(void)ctx;
	/* Real and effective user differ. */
	if (setresuid(1234, 0, 0))
		_exit(126);
}

static bool run_real_user(const struct workload *workload)
{
	struct workload user = *workload;

	user.prepare = become_half_root;
	return run_child(&user);
}

static char own_comm[16];

static struct scene scenes[] = {
	{ .name = "a child", .act = run_child, .pcomm = own_comm },
	{ .name = "a child traced by another", .act = run_traced, .pcomm = own_comm },
	{ .name = "the first in a PID namespace", .act = run_in_namespace },
	{ .name = "the first in a namespace in a namespace", .act = run_in_inner_namespace },
	{ .name = "one that made a namespace for its children", .act = run_unshared },
	{ .name = "a child of a renamed parent", .act = run_renamed, .pcomm = "new\x1b\nname\xff" },
	{ .name = "a child of a thread", .act = run_by_thread, .pcomm = own_comm },
	{ .name = "an orphan", .act = run_orphan, .pcomm = own_comm },
	{ .name = "one with another real user", .act = run_real_user, .pcomm = own_comm },
};
#define NR_SCENES (sizeof(scenes) / sizeof(*scenes))

static void play_scene(struct scene *scene, const char *program, size_t index)
{
	char file[32], role[1024];
	const struct workload workload = { .program = program, .role = role };
	const char *path;

	snprintf(file, sizeof(file), "truth.%zu", index);
	path = scratch__path(file);
	snprintf(role, sizeof(role), "status %s", path);
	/* Before the act: it is written by users that may not make files there. */
	scratch__write(file, "", 0, 0666);
	if (scene->act(&workload))
		scene->truth = file__read(path, NULL);
}

static uint64_t truth_number(const struct scene *scene, const char *line, bool last)
{
	char *text = status_line(scene->truth, line), *word = text;
	uint64_t number;

	if (!text)
		test__fatal("workload", "/proc/self/status has no %s", line);
	if (last && strrchr(text, '\t'))
		word = strrchr(text, '\t') + 1;
	number = strtoul(word, NULL, 10);
	free(text);
	return number;
}

static void check_number(const struct scene *scene, const char *type,
			 const struct json_value *record, const char *member, uint64_t expected)
{
	char check[160];

	snprintf(check, sizeof(check), "%s: %s: %s is right", type, scene->name, member);
	test__equal(check, (uint64_t)record__number(record, member), expected);
}

static void check_scene(const struct scene *scene, const struct records *records, const char *type)
{
	pid_t pid = (pid_t)truth_number(scene, "Pid", false);
	const struct json_value *record;
	char check[160];
	size_t size = 0;
	char *pcomm;

	snprintf(check, sizeof(check), "%s: %s has its one record", type, scene->name);
	record = records__only(records, type, pid, check);
	if (!record)
		return;
	check_number(scene, type, record, "tid", (uint64_t)pid);
	check_number(scene, type, record, "ppid", truth_number(scene, "PPid", false));
	check_number(scene, type, record, "ns_pid", truth_number(scene, "NSpid", true));
	check_number(scene, type, record, "uid", truth_number(scene, "Uid", false));
	if (!scene->pcomm)
		return;
	pcomm = string__bytes(json__get(record, "pcomm"), &size);
	snprintf(check, sizeof(check), "%s: %s: pcomm is right", type, scene->name);
	test__same_bytes(check, pcomm ? pcomm : "", size, scene->pcomm, strlen(scene->pcomm));
	free(pcomm);
}

int main(int argc, char **argv)
{
	struct records records;
	struct tool_run run;
	const char *program;

	role__play(argc, argv);
	prctl(PR_GET_NAME, own_comm);
	program = workload__own_program("who");
	tool_run__trace(&run, NULL, ARGS("-j", "-e", "--comm", file_name(program)));
	for (size_t i = 0; i < NR_SCENES; i++)
		play_scene(&scenes[i], program, i);
	tool_run__stop(&run);
	records__load(&records, &run);
	for (size_t i = 0; i < NR_SCENES; i++) {
		if (!scenes[i].truth) {
			test__skip(scenes[i].name, "this machine does not allow it");
			continue;
		}
		check_scene(&scenes[i], &records, "exec");
		check_scene(&scenes[i], &records, "exit");
		free(scenes[i].truth);
	}
	check_exact(records__account(&records), "identity");
	records__free(&records);
	tool_run__free(&run);
	return test__done();
}
