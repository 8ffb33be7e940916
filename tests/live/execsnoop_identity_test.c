// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Who a process is: its parent and the parent's name, its ids inside and outside of namespaces. */
#include <errno.h>
#include <fcntl.h>
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
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static const char *program;

/* Ids of the processes of all scenes; judged after one run. */
static pid_t own_child, traced, in_namespace, in_inner_namespace, renamed_child, orphan;
static char own_comm[16];
static int traced_status = -1;

/*
 * A child traced by a process that is not its parent: for the time of the trace the kernel's
 * "parent" is the tracer, the real parent is this process.
 */
static void run_traced(void)
{
	struct gate gate;
	int attached[2];
	pid_t tracer;
	char byte = 0;

	gate__make(&gate);
	if (pipe2(attached, O_CLOEXEC))
		test__fatal("workload", "pipe: %s", strerror(errno));
	traced = workload__start(&(struct workload){ .program = program, .gate = &gate });
	tracer = fork();
	if (!tracer) {
		prctl(PR_SET_NAME, "the-tracer");
		byte = ptrace(PTRACE_SEIZE, traced, NULL, NULL) == 0;
		if (write(attached[1], &byte, 1) != 1)
			_exit(1);
		/* The tracer is told first; its own end lets the traced one go. */
		_exit(waitpid(traced, NULL, __WALL) == traced ? 0 : 1);
	}
	if (read(attached[0], &byte, 1) == 1 && byte)
		traced_status = 0;
	gate__open(&gate);
	waitpid(tracer, NULL, 0);
	workload__wait(traced, NULL);
	close(attached[0]);
	close(attached[1]);
}

/* Forks a child into a new PID namespace and runs program there; its id out here. */
static pid_t run_in_namespace(bool inner)
{
	int report[2];
	pid_t helper, pid = -1;

	if (pipe2(report, O_CLOEXEC))
		test__fatal("workload", "pipe: %s", strerror(errno));
	helper = fork();
	if (!helper) {
		const struct workload workload = { .program = program };
		pid_t child;

		if (unshare(CLONE_NEWPID))
			_exit(1);
		if (inner) {
			/* The first of the outer namespace makes another one inside. */
			child = fork();
			if (child)
				_exit(child < 0 || workload__wait(child, NULL));
			if (unshare(CLONE_NEWPID))
				_exit(1);
		}
		child = workload__start(&workload);
		_exit(workload__wait(child, NULL) != 0);
	}
	if (workload__wait(helper, NULL))
		pid = 0;
	close(report[0]);
	close(report[1]);
	return pid;
}

static void name_parent(void *ctx)
{
	(void)ctx;
}

/* The parent's name as it is at the exec, not as it was when the parent began. */
static void run_renamed(void)
{
	pid_t parent, pids[2];
	int report[2];

	if (pipe2(report, O_CLOEXEC))
		test__fatal("workload", "pipe: %s", strerror(errno));
	parent = fork();
	if (!parent) {
		prctl(PR_SET_NAME, "new \x1b name");
		pids[0] = workload__start(&(struct workload){ .program = program,
							      .prepare = name_parent });
		workload__wait(pids[0], NULL);
		_exit(write(report[1], pids, sizeof(*pids)) != sizeof(*pids));
	}
	if (workload__wait(parent, NULL) || read(report[0], pids, sizeof(*pids)) != sizeof(*pids))
		test__fatal("workload", "the renamed parent failed");
	renamed_child = pids[0];
}
