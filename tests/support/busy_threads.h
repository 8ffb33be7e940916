/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Threads of this process that spin, sleep, yield, lock and hand work to each other, and the
 * kernel's own figures about each in /proc/PID/task/TID/schedstat. They stand still when those are
 * read.
 */
#ifndef VANTAGE_TESTS_BUSY_THREADS_H
#define VANTAGE_TESTS_BUSY_THREADS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BUSY_THREADS 10

struct schedstat {
	uint64_t run_ns; /* on a CPU */
	uint64_t delay_ns; /* waiting for one */
	uint64_t periods; /* how often it was switched in */
};

struct busy_thread {
	const char *kind;
	pid_t tid;
	/* What came between the begin and the end. */
	struct schedstat figures;

	/* Their own. */
	int number;
	pthread_t thread;
	struct schedstat before;
};

/* Starts them; when it returns, all stand still. They stay where they are until the join. */
struct busy_thread *busy_threads__start(void);

/* Reads their figures and lets them work for so long, then lets them come to rest and reads the
 * figures again. Whatever goes wrong ends the program. */
void busy_threads__work(uint64_t ms);

/* Ends and forgets them. */
void busy_threads__join(void);

#endif
