// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* /proc/kallsyms of any bytes. */
#include <stdlib.h>

#include "lines_input.h"
#include "symbols/ksyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct ksyms_module modules[] = {
		{ .name = "ext4", .base = 0xffffffffc0000000, .end = 0xffffffffc0010000 },
	};
	struct symbol_table table = {};
	struct symbol_table_hit hit;
	size_t nr;

	if (!ksyms__parse(lines_input(data, size), modules, 1, &table, &nr))
		for (size_t i = 0; i < table.nr_ranges; i++)
			if (!symbol_table__find(&table, table.starts[i], &hit) ||
			    hit.name + strlen(hit.name) + 1 >= table.names + table.names_size)
				abort();
	symbol_table__free(&table);
	return 0;
}
