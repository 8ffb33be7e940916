// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/PID/maps of any bytes. */
#include <stdlib.h>

#include "lines_input.h"
#include "symbols/proc_maps.h"

static uint32_t file_of(void *ctx, const struct proc_maps_line *line)
{
	(void)ctx;
	return strlen(line->path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct proc_maps maps = {};

	proc_maps__read(&maps, lines_input(data, size), file_of, NULL);
	for (size_t i = 0; i < maps.nr; i++) {
		const struct proc_mapping *mapping = &maps.mappings[i];

		if (proc_maps__find(&maps, mapping->start) != mapping ||
		    proc_maps__find(&maps, mapping->end - 1) != mapping ||
		    proc_maps__find(&maps, mapping->end) == mapping)
			abort();
	}
	proc_maps__free(&maps);
	return 0;
}
