// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/columns.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	PLACE_NONE = -1,
	PLACE_TYPE = -2,
};

static const struct field type_field = {
	.name = "type",
	.kind = VALUE_BYTES,
	.column = "EVENT",
	.width = -5,
};

static size_t columns__nr_rows(const struct columns *columns)
{
	size_t nr = 0;

	while (columns->rows[nr])
		nr++;
	return nr;
}

static int find_field(const struct record_type *type, const char *name)
{
	size_t i;

	for (i = 0; i < type->nr_fields; i++)
		if (!strcmp(type->fields[i].name, name))
			return i;
	return PLACE_NONE;
}

int columns__add(struct columns *columns, const char *name)
{
	bool is_type = !strcmp(name, type_field.name);
	const struct field *field = is_type ? &type_field : NULL;
	size_t nr_rows = columns__nr_rows(columns), row;
	const struct field **fields;
	int *places;

	fields = reallocarray(columns->fields, columns->nr + 1, sizeof(*fields));
	if (!fields)
		return -ENOMEM;
	columns->fields = fields;
	places = reallocarray(columns->places, (columns->nr + 1) * nr_rows + 1, sizeof(*places));
	if (!places)
		return -ENOMEM;
	columns->places = places;

	places += columns->nr * nr_rows;
	for (row = 0; row < nr_rows; row++) {
		places[row] = is_type ? PLACE_TYPE : find_field(columns->rows[row], name);
		if (!field && places[row] >= 0)
			field = &columns->rows[row]->fields[places[row]];
	}
	if (!field)
		return -ENOENT;
	fields[columns->nr++] = field;
	return 0;
}

bool columns__has(const struct columns *columns, const char *name)
{
	size_t i;

	for (i = 0; i < columns->nr; i++)
		if (!strcmp(columns->fields[i]->name, name))
			return true;
	return false;
}

int columns__row(const struct columns *columns, const struct record_type *type)
{
	int row;

	for (row = 0; columns->rows[row]; row++)
		if (columns->rows[row] == type)
			return row;
	return -1;
}

struct value columns__value(const struct columns *columns, size_t column, int row,
			    const struct record *record)
{
	int place = columns->places[column * columns__nr_rows(columns) + row];

	if (place == PLACE_TYPE)
		return value__bytes(record->type->name, strlen(record->type->name));
	if (place == PLACE_NONE)
		return (struct value){ .kind = VALUE_ABSENT };
	return record->values[place];
}

void columns__free(struct columns *columns)
{
	free(columns->fields);
	free(columns->places);
}
