// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/vdso.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The size of the mapping that starts there, by the process's own maps; 0: none. */
static uint64_t size_of_mapping(uint64_t start)
{
	struct lines *lines = malloc(sizeof(*lines));
	struct proc_maps_line line;
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	uint64_t found = 0;
	size_t size;
	char *text;

	if (lines && fd >= 0) {
		lines__begin(lines, fd);
		while ((text = lines__next(lines, &size)))
			if (proc_maps__parse_line(text, &line) && line.start == start)
				found = line.end - line.start;
	}
	if (fd >= 0)
		close(fd);
	free(lines);
	return found;
}

void vdso__init(struct mapped_file *vdso)
{
	uint64_t start = getauxval(AT_SYSINFO_EHDR);

	*vdso = (struct mapped_file){ .fd = -1 };
	vdso->size = start ? size_of_mapping(start) : 0;
	vdso->path = strdup("[vdso]");
	if (vdso->size && vdso->path)
		vdso->data = (const void *)(uintptr_t)start;
}
