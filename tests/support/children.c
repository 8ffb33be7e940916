// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "children.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

#define CHILDREN_MAX 64

/* A signal handler reads them. */
static volatile pid_t children[CHILDREN_MAX];
static volatile pid_t owner;

static void kill_all(void)
{
	if (getpid() != owner)
		return;
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (children[i])
			kill(children[i], SIGKILL);
}

static void end_all(void)
{
	if (getpid() != owner)
		return;
	kill_all();
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (children[i])
			waitpid(children[i], NULL, 0);
}

static void on_signal(int signal)
{
	kill_all();
	_exit(128 + signal);
}

static void begin(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = on_signal };

	owner = getpid();
	atexit(end_all);
	for (size_t i = 0; i < sizeof(ending) / sizeof(*ending); i++)
		sigaction(ending[i], &action, NULL);
}

void children__add(pid_t pid)
{
	if (!owner)
		begin();
	if (getpid() != owner)
		return;
	for (int i = 0; i < CHILDREN_MAX; i++) {
		if (children[i])
			continue;
		children[i] = pid;
		return;
	}
	test__fatal("workload", "more than %d processes at a time", CHILDREN_MAX);
}

void children__remove(pid_t pid)
{
	if (getpid() != owner)
		return;
	for (int i = 0; i < CHILDREN_MAX; i++)
		if (children[i] == pid)
			children[i] = 0;
}

pid_t children__fork(void)
{
	pid_t parent = getpid(), pid = fork(), now;

	if (pid < 0)
		test__fatal("fork", "%s", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	now = getppid();
	/* 0: it is the first process of a PID namespace. */
	if (now && now != parent)
		_exit(1);
	return 0;
}

void children__bind(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		_exit(1);
}

int children__last_cpu(void)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN) - 1;
}

pid_t children__start(void (*prepare)(void))
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		test__fatal("child", "no pipe: %s", strerror(errno));
	pid = children__fork();
	if (!pid) {
		if (prepare)
			prepare();
		if (write(ends[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	/* A change of the user takes back what the kernel was told in children__fork(). */
	children__add(pid);
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 1)
		test__fatal("child", "it did not get ready");
	close(ends[0]);
	return pid;
}

void children__end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	children__remove(pid);
}
