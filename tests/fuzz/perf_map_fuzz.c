// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Perf maps of any bytes. */
#include <stdlib.h>

#include "lines_input.h"
#include "symbols/perf_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symbol_table table = {};
	struct symbol_table_hit hit;

	if (!perf_map__parse(lines_input(data, size), &table, 16 << 20))
		for (size_t i = 0; i < table.nr_ranges; i++)
			if (!symbol_table__find(&table, table.starts[i], &hit))
				abort();
	symbol_table__free(&table);
	return 0;
}
