// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The time of a context switch: two processes on one CPU hand a byte to each other through pipes,
 * so that each read waits for the other one.
 *
 *	switches MS	prints the nanoseconds of a switch, over so many milliseconds
 */
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void stay_on_one_cpu(void)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		fail("sched_setaffinity");
}

/* The byte back and forth once: two switches. False at the end. */
static int hand_over(int from, int to)
{
	char byte = 0;

	return write(to, &byte, 1) == 1 && read(from, &byte, 1) == 1;
}

static void answer(int from, int to)
{
	char byte;

	while (read(from, &byte, 1) == 1)
		if (write(to, &byte, 1) != 1)
			break;
	_exit(0);
}

int main(int argc, char **argv)
{
	uint64_t length_ns, begin_ns, took_ns, nr = 0;
	int there[2], back[2];
	pid_t pid;

	if (argc != 2)
		return 2;
	length_ns = strtoull(argv[1], NULL, 10) * 1000000;
	if (pipe(there) || pipe(back))
		fail("pipe");
	stay_on_one_cpu();
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (!pid) {
		close(there[1]);
		answer(there[0], back[1]);
	}
	begin_ns = test__now_ns();
	do {
		if (!hand_over(back[0], there[1]))
			fail("pipe");
		nr += 2;
		took_ns = test__now_ns() - begin_ns;
	} while (took_ns < length_ns);
	close(there[1]);
	if (waitpid(pid, NULL, 0) != pid)
		fail("waitpid");
	printf("%" PRIu64 "\n", took_ns / nr);
	return 0;
}
