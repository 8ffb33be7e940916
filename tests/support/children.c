// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "children.h"

#include <signal.h>
#include <stdlib.h>
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
