// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "spawn.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "test.h"
#include "workload.h"

#define CPUS_MAX 256

/* The next number, for the spawners of all CPUs. */
static atomic_ulong *next;

/* Of spawn__paced(). */
static uint64_t *started_ns;
static size_t started_room;

const char *spawn__program(void)
{
	static const char *program;

	if (!program)
		program = workload__small_program("bench");
	return program;
}

static void spawn_next(void)
{
	char number[24];
	char *const argv[] = { (char *)(uintptr_t)spawn__program(), number, NULL };
	int status;
	pid_t pid;

	snprintf(number, sizeof(number), "%lu", atomic_fetch_add(next, 1));
	errno = posix_spawn(&pid, argv[0], NULL, NULL, argv, NULL);
	if (errno || waitpid(pid, &status, 0) != pid || status)
		test__fatal("spawn", "%s: %s", argv[0], strerror(errno));
}

/* Numbers from 0 on; when that was. */
static uint64_t begin(void)
{
	if (!next) {
		next = mmap(NULL, sizeof(*next), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			    -1, 0);
		if (next == MAP_FAILED)
			test__fatal("spawn", "mmap: %s", strerror(errno));
	}
	atomic_store(next, 0);
	spawn__program();
	return test__now_ns();
}

static struct spawned end(uint64_t begin_ns)
{
	return (struct spawned){ atomic_load(next), (double)(test__now_ns() - begin_ns) / 1e9 };
}

struct spawned spawn__in_turn(uint64_t nr)
{
	uint64_t begin_ns = begin();

	while (nr--)
		spawn_next();
	return end(begin_ns);
}

_Noreturn static void storm_on(int cpu, uint64_t until_ns)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
	while (test__now_ns() < until_ns)
		spawn_next();
	_exit(0);
}

struct spawned spawn__storm(double seconds)
{
	uint64_t begin_ns = begin(), until_ns = begin_ns + (uint64_t)(seconds * 1e9);
	pid_t pids[CPUS_MAX];
	cpu_set_t allowed;
	int nr = 0;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && nr < CPUS_MAX; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		pids[nr] = fork();
		if (pids[nr] < 0)
			test__fatal("spawn", "fork: %s", strerror(errno));
		if (!pids[nr])
			storm_on(cpu, until_ns);
		children__add(pids[nr++]);
	}
	while (nr--)
		if (workload__wait(pids[nr], NULL))
			test__fatal("spawn", "a spawner failed");
	return end(begin_ns);
}

static void note_start(uint64_t number)
{
	if (number >= started_room) {
		started_room = 2 * number + 4096;
		started_ns = realloc(started_ns, started_room * sizeof(*started_ns));
		if (!started_ns)
			test__fatal("spawn", "out of memory");
	}
	started_ns[number] = test__now_ns();
}

uint64_t spawn__started_ns(uint64_t number)
{
	return started_ns[number];
}

struct spawned spawn__paced(double rate, double seconds)
{
	uint64_t begin_ns = begin(), until_ns = begin_ns + (uint64_t)(seconds * 1e9), now_ns;

	while ((now_ns = test__now_ns()) < until_ns) {
		/* What is late is made up for. */
		uint64_t due = (uint64_t)((double)(now_ns - begin_ns) / 1e9 * rate);

		if (atomic_load(next) > due) {
			usleep(200);
			continue;
		}
		note_start(atomic_load(next));
		spawn_next();
	}
	return end(begin_ns);
}

struct seen spawn__seen(const char *text, uint64_t nr)
{
	struct seen seen = { .first = nr };
	bool *shown = calloc(nr + 1, sizeof(*shown));
	char before[512];
	size_t length;

	if (!shown)
		test__fatal("spawn", "out of memory");
	length = (size_t)snprintf(before, sizeof(before), "%s ", spawn__program());
	while ((text = strstr(text, before))) {
		char *after;
		uint64_t number = strtoull(text + length, &after, 10);

		text += length;
		if (after == text || number >= nr || shown[number])
			continue;
		shown[number] = true;
		seen.nr++;
		if (number < seen.first)
			seen.first = number;
	}
	while (shown[seen.missing])
		seen.missing++;
	free(shown);
	return seen;
}
