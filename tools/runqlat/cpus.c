// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cpus.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define LIST_SIZE 1024
#define CACHES_MAX 8

/* One line of a file, a list as "0-3,5". False when there is none, or it does not fit. */
static bool read_line(const char *path, char line[LIST_SIZE])
{
	FILE *file = fopen(path, "re");
	bool read;

	if (!file)
		return false;
	read = fgets(line, LIST_SIZE, file) && strchr(line, '\n');
	fclose(file);
	return read;
}

bool cpus__share_cache(const char *folder)
{
	char online[LIST_SIZE], shared[LIST_SIZE], path[PATH_MAX];
	bool known = false;

	snprintf(path, sizeof(path), "%s/online", folder);
	if (!read_line(path, online))
		return false;
	/* One CPU: there is no other that a wake-up could be left to. */
	if (!strpbrk(online, "-,"))
		return true;
	/* The list of the highest index is that of the last level. */
	for (int i = 0; i < CACHES_MAX; i++) {
		snprintf(path, sizeof(path), "%s/cpu0/cache/index%d/shared_cpu_list", folder, i);
		known |= read_line(path, shared);
	}
	return known && !strcmp(online, shared);
}
