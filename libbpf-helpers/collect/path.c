// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/path.h"

#include <string.h>

#define DELETED " (deleted)"

size_t path__join(const struct path_names *path, char text[PATH_TEXT_SIZE])
{
	size_t end = path->size < PATH_NAMES_BYTES ? path->size : PATH_NAMES_BYTES, size = 0;

	if (path->end == PATH_CUT) {
		memcpy(text, "...", 3);
		size = 3;
	}
	/* The last of the names is the first of the path. */
	while (end) {
		size_t start = end - 1, length;

		while (start && path->names[start - 1])
			start--;
		length = strnlen(path->names + start, end - start);
		text[size++] = '/';
		memcpy(text + size, path->names + start, length);
		size += length;
		end = start;
	}
	if (!size)
		text[size++] = '/';
	if (path->deleted) {
		memcpy(text + size, DELETED, sizeof(DELETED) - 1);
		size += sizeof(DELETED) - 1;
	}
	text[size] = '\0';
	return size;
}
