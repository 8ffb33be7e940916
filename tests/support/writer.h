/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes that write as often as they are told, and what vfswrite-count says of them. A writer
 * makes no other call that writes.
 */
#ifndef VANTAGE_TESTS_WRITER_H
#define VANTAGE_TESTS_WRITER_H

#include <stdint.h>
#include <sys/types.h>

#include "records.h"

struct writer {
	const char *name; /* its command name, at most 15 bytes; see writer__name() */
	unsigned long calls;
	size_t size; /* of each; at most 4096 */
	int cpu; /* pinned to it; -1: not pinned */
	/* Instead of these calls to /dev/null: what the process does. */
	void (*work)(const struct writer *writer);
};

/* A name of this form that no other test run has at the time: PREFIX.PID, in static memory of
 * which there is room for 8 names. */
const char *writer__name(const char *prefix);

/* The child's process id. Failures of the system end the program. */
pid_t writer__start(const struct writer *writer);
void writer__wait(pid_t pid);
void writer__run(const struct writer *writer);

/* What the rows of a key hold together. */
struct counted {
	unsigned long rows;
	uint64_t calls;
	uint64_t bytes;
	uint64_t errors;
};

/* Rows whose comm is this (NULL: any), over all intervals. */
struct counted counted__of(const struct records *records, const char *comm);

/* Failed calls of these rows with the error of that name. */
uint64_t counted__errors(const struct records *records, const char *comm, const char *error);

/* The sum of the total records. */
struct counted counted__total(const struct records *records);

#endif
