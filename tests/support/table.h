/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A tool's text output as a table: a heading, rows, cells. Cells hold no spaces but
 * the last one, which takes the rest of its line.
 */
#ifndef VANTAGE_TESTS_TABLE_H
#define VANTAGE_TESTS_TABLE_H

#include <stddef.h>

#define COLUMNS_MAX 24

struct table {
	char *text; /* the output with its lines and cells cut apart */
	char *columns[COLUMNS_MAX];
	size_t nr_columns;
	size_t last_column_at; /* where the last heading stands in its line */
	char **rows;
	size_t nr_rows;
};

/* Reads a whole output; the program ends with a failed check when there is no heading. */
void table__read(struct table *table, const char *out);

/* The index of a column by its heading, or -1. */
int table__column(const struct table *table, const char *heading);

/* A cell, to be freed; empty when the row has no such cell. */
char *table__cell(const struct table *table, size_t row, const char *heading);

/* The first row at or after from whose cell is value; nr_rows when there is none. */
size_t table__find(const struct table *table, const char *heading, const char *value, size_t from);

void table__free(struct table *table);

#endif
