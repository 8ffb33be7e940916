/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The lines of a file, one after another, in one buffer of fixed size: nothing is
 * allocated, however long the file is. A line that is longer than the buffer is left
 * out and counted.
 */
#ifndef VANTAGE_SYMBOLS_LINES_H
#define VANTAGE_SYMBOLS_LINES_H

#include <stddef.h>

/* Longer than a path as /proc/PID/maps shows it (each byte at most 4 characters). */
#define LINES_BUFFER_SIZE (64 * 1024)

struct lines {
	int fd; /* -1: the buffer's content is all there is */
	size_t begin; /* of what was not given out yet, in the buffer */
	size_t end;
	size_t too_long; /* lines left out */
	int err; /* 0, or -errno of the read that ended it */
	char buffer[LINES_BUFFER_SIZE];
};

/* From the descriptor's present offset on; borrowed. */
void lines__begin(struct lines *lines, int fd);

/* The next line, ended by NUL in place of the newline (a NUL byte in the file is part of the
 * line); valid until the next call. NULL at the end, or after an error: see err. */
char *lines__next(struct lines *lines, size_t *size);

#endif
