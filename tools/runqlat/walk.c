// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "walk.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "run/log.h"

int walk__read(int fd, walk_fn fn, void *ctx)
{
	struct runqlat_open records[64];
	size_t have = 0, whole;
	ssize_t size;
	int err = 0;

	for (;;) {
		size = read(fd, (char *)records + have, sizeof(records) - have);
		/* The walk stops short for a while when it has passed many tasks. */
		if (size < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (size < 0)
			return log_error(errno, NULL, "cannot walk the tasks");
		if (!size)
			return 0;
		have += (size_t)size;
		whole = have / sizeof(records[0]);
		for (size_t i = 0; i < whole && fn; i++) {
			err = fn(ctx, &records[i]);
			if (err)
				return err;
		}
		/* A read can end inside a record. */
		have -= whole * sizeof(records[0]);
		memmove(records, &records[whole], have);
	}
}
