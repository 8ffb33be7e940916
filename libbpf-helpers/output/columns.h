/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which field of each kind of row stands in which column: the faces that are
 * tables (text, CSV) look names up once, not for each record.
 */
#ifndef VANTAGE_OUTPUT_COLUMNS_H
#define VANTAGE_OUTPUT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

#include "output/sink.h"

/* All zero but rows: no columns yet. */
struct columns {
	const struct record_type *const *rows; /* NULL-terminated, borrowed */
	const struct field **fields; /* for each column, from the first row type that has it */
	int *places; /* for each column and row type */
	size_t nr;
};

/*
 * Adds a column for the fields of a name; "type" is the record's kind. 0; -ENOENT when
 * no row has such a field; -ENOMEM. Not reported.
 */
int columns__add(struct columns *columns, const char *name);

bool columns__has(const struct columns *columns, const char *name);

/* The row's index for columns__value(), or -1: records of this type are no rows. */
int columns__row(const struct columns *columns, const struct record_type *type);

/* What a record of that row has in a column: VALUE_ABSENT where its type has no such field. */
struct value columns__value(const struct columns *columns, size_t column, int row,
			    const struct record *record);

void columns__free(struct columns *columns);

#endif
