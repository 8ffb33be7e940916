// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/lines.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

void lines__begin(struct lines *lines, int fd)
{
	lines->fd = fd;
	lines->begin = lines->end = lines->too_long = 0;
	lines->err = 0;
}

/* Reads more behind what is there; one byte stays free for the last line's NUL. Whether there was
 * something to read. */
static bool lines__fill(struct lines *lines)
{
	ssize_t got;

	if (lines->fd < 0)
		return false;
	if (lines->begin) {
		memmove(lines->buffer, lines->buffer + lines->begin, lines->end - lines->begin);
		lines->end -= lines->begin;
		lines->begin = 0;
	}
	do
		got = read(lines->fd, lines->buffer + lines->end,
			   LINES_BUFFER_SIZE - 1 - lines->end);
	while (got < 0 && errno == EINTR);
	if (got <= 0) {
		lines->err = got < 0 ? -errno : 0;
		lines->fd = -1;
		return false;
	}
	lines->end += got;
	return true;
}

char *lines__next(struct lines *lines, size_t *size)
{
	bool skipping = false;

	for (size_t searched = 0;;) {
		char *line = lines->buffer + lines->begin, *newline;
		size_t held = lines->end - lines->begin;

		newline = memchr(line + searched, '\n', held - searched);
		if (newline) {
			lines->begin = newline + 1 - lines->buffer;
			searched = 0;
			if (skipping) {
				skipping = false;
				continue;
			}
			*newline = '\0';
			*size = newline - line;
			return line;
		}
		searched = held;
		if (held == LINES_BUFFER_SIZE - 1) {
			lines->too_long += !skipping;
			skipping = true;
			lines->begin = lines->end = searched = 0;
		}
		if (lines__fill(lines))
			continue;
		line = lines->buffer + lines->begin;
		held = lines->end - lines->begin;
		if (!held || skipping || lines->err)
			return NULL;
		line[held] = '\0';
		lines->begin = lines->end;
		*size = held;
		return line;
	}
}
