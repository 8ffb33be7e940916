// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "test.h"

static void *must(void *memory)
{
	if (!memory)
		test__fatal("memory", "out of memory");
	return memory;
}

static void read_heading(struct table *table, char *line)
{
	char *at = line;

	while (*(at += strspn(at, " ")) && table->nr_columns < COLUMNS_MAX) {
		size_t length = strcspn(at, " ");

		table->columns[table->nr_columns++] = must(strndup(at, length));
		table->last_column_at = (size_t)(at - line);
		at += length;
	}
	if (!table->nr_columns)
		test__fatal("a table has a heading", "its first line is empty");
}

void table__read(struct table *table, const char *out)
{
	char *line, *end;

	*table = (struct table){ .text = must(strdup(out)) };
	table->rows = must(calloc(strlen(out) + 1, sizeof(*table->rows)));
	for (line = table->text; *line; line = end + 1) {
		end = strchr(line, '\n');
		if (!end)
			test__fatal("every line of a table ends", "saw: %s", line);
		*end = '\0';
		if (!table->nr_columns)
			read_heading(table, line);
		else
			table->rows[table->nr_rows++] = line;
	}
	if (!table->nr_columns)
		test__fatal("a table has a heading", "there is no output");
}

int table__column(const struct table *table, const char *heading)
{
	for (size_t i = 0; i < table->nr_columns; i++)
		if (!strcmp(table->columns[i], heading))
			return (int)i;
	return -1;
}

char *table__cell(const struct table *table, size_t row, const char *heading)
{
	int column = table__column(table, heading);
	const char *at;

	if (column < 0 || row >= table->nr_rows)
		return must(strdup(""));
	at = table->rows[row] + strspn(table->rows[row], " ");
	for (int i = 0; i < column; i++) {
		at += strcspn(at, " ");
		at += strspn(at, " ");
	}
	if ((size_t)column == table->nr_columns - 1)
		return must(strdup(at));
	return must(strndup(at, strcspn(at, " ")));
}

size_t table__find(const struct table *table, const char *heading, const char *value, size_t from)
{
	for (; from < table->nr_rows; from++) {
		char *cell = table__cell(table, from, heading);
		bool same = !strcmp(cell, value);

		free(cell);
		if (same)
			break;
	}
	return from;
}

void table__free(struct table *table)
{
	for (size_t i = 0; i < table->nr_columns; i++)
		free(table->columns[i]);
	free(table->rows);
	free(table->text);
	*table = (struct table){ 0 };
}
