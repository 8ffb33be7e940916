// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/perf_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A number in hexadecimal, with or without 0x, and the blank behind it. */
static const char *take_hex(const char *text, uint64_t *number)
{
	char *end;

	if ((*text < '0' || *text > '9') && (*text < 'a' || *text > 'f') &&
	    (*text < 'A' || *text > 'F'))
		return NULL;
	errno = 0;
	*number = strtoull(text, &end, 16);
	return errno || *end != ' ' ? NULL : end + 1;
}

int perf_map__parse(struct lines *lines, struct symbol_table *table, size_t max_bytes)
{
	size_t size;
	char *line;
	int err = 0;

	while (!err && (line = lines__next(lines, &size))) {
		struct symbol_table_entry entry = { .sized = true, .later_first = true };
		const char *name = take_hex(line, &entry.start);
		uint64_t bytes;

		name = name ? take_hex(name, &bytes) : NULL;
		if (!name || !*name || !bytes ||
		    __builtin_add_overflow(entry.start, bytes, &entry.end))
			continue;
		if (symbol_table__bytes(table) + size + sizeof(entry) > max_bytes)
			return -E2BIG;
		entry.name = symbol_table__add_name(table, name, strlen(name));
		if (entry.name == SYMBOL_TABLE_NO_NAME)
			return -ENOMEM;
		err = symbol_table__add(table, &entry);
	}
	if (!err)
		err = lines->err;
	return err ? err : symbol_table__finish(table);
}
