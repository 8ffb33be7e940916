/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A program that shows execs, ours or a peer, as a process: started, given time to attach, measured
 * while it runs, ended as a user ends it. Knows nothing of what it shows.
 */
#ifndef VANTAGE_BENCH_TRACER_H
#define VANTAGE_BENCH_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Most words of a command, with the NULL. */
#define TRACER_WORDS 24

struct tracer {
	const char *name;
	const char *argv[TRACER_WORDS];
	bool ours; /* it says when it is ready; a peer is given some seconds */
	bool ends; /* it also shows the ends of processes */
};

struct tracer_run {
	pid_t pid;
	int out_fd; /* of a file; or where a pipe is read */
	int err_fd;
	int ready_fd; /* stays open: ours may write to it at any time */
	uint64_t started_ns;
	double ready_ms; /* of ours, from the start to the ready byte */
	double cpu_before; /* seconds of CPU that it had used when it was ready */
	/* After tracer_run__end(). */
	double cpu_seconds; /* since it was ready, user and system */
	char *out; /* what the file holds, or NULL of a pipe */
	char *err;
};

/* Ours with these words; the last is NULL. Not that it also shows ends. */
struct tracer tracer__ours(const char *name, const char *const *words);

/* From the words of a command, by blanks; "NAME=COMMAND". */
struct tracer tracer__parse(char *text);

/* Starts it and waits until it traces; wait false: at once. pipe: its output is to be read by the
 * caller. */
void tracer_run__start(struct tracer_run *run, const struct tracer *tracer, bool pipe, bool wait);

/* KiB it has resident; those of mappings that are shared with the kernel, as of rings, apart. */
void tracer_run__memory(const struct tracer_run *run, long *beside_rings, long *rings);

void tracer_run__interrupt(const struct tracer_run *run);

/* SIGINT, unless it was sent already, and the end. */
void tracer_run__end(struct tracer_run *run);

void tracer_run__free(struct tracer_run *run);

#endif
