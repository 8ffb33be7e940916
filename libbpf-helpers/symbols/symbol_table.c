// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/symbol_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/grow.h"

/* Going through the sorted entries. */
struct sweep {
	struct symbol_table *table;
	size_t capacity; /* of starts and ranges */
	/* Indices of the entries that began and have not been seen to end, by rising start:
	 * the last one is the innermost. */
	uint32_t *open;
	size_t nr_open;
	uint64_t at; /* everything below is in ranges */
};

uint32_t symbol_table__add_name(struct symbol_table *table, const char *name, size_t size)
{
	size_t at = table->names_size;

	if (size >= UINT32_MAX - 1 || at > UINT32_MAX - 2 - size ||
	    !GROW(table->names, table->names_capacity, at + size + 1))
		return SYMBOL_TABLE_NO_NAME;
	memcpy(table->names + at, name, size);
	table->names[at + size] = '\0';
	table->names_size = at + size + 1;
	return at;
}

int symbol_table__add(struct symbol_table *table, const struct symbol_table_entry *entry)
{
	struct symbol_table_entry *added;

	if (entry->end <= entry->start)
		return 0;
	if (table->nr_entries >= UINT32_MAX - 1 ||
	    !GROW(table->entries, table->entries_capacity, table->nr_entries + 1))
		return -ENOMEM;
	added = &table->entries[table->nr_entries];
	*added = *entry;
	added->order = table->nr_entries++;
	if (added->end - added->start > UINT32_MAX)
		added->end = added->start + UINT32_MAX;
	return 0;
}

/* By start; of one start the better one later. */
static int entry__compare(const void *left, const void *right)
{
	const struct symbol_table_entry *a = left, *b = right;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	if (a->sized != b->sized)
		return a->sized ? 1 : -1;
	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return (a->order > b->order) != a->later_first ? -1 : 1;
}

static int sweep__emit(struct sweep *sweep, const struct symbol_table_entry *entry, uint64_t end)
{
	struct symbol_table *table = sweep->table;
	size_t capacity = sweep->capacity;

	if (end <= sweep->at)
		return 0;
	if (entry->name == SYMBOL_TABLE_NO_NAME) {
		sweep->at = end;
		return 0;
	}
	if (!GROW(table->starts, capacity, table->nr_ranges + 1))
		return -ENOMEM;
	if (!GROW(table->ranges, sweep->capacity, table->nr_ranges + 1))
		return -ENOMEM;
	table->starts[table->nr_ranges] = sweep->at;
	table->ranges[table->nr_ranges++] = (struct symbol_table_range){
		.size = end - sweep->at,
		.offset = sweep->at - entry->start,
		.name = entry->name,
		.symbol_size = (entry->sized ? entry->end : end) - entry->start,
	};
	sweep->at = end;
	return 0;
}

/* Writes the ranges of the open entries up to an address, innermost first. */
static int sweep__advance(struct sweep *sweep, uint64_t to)
{
	while (sweep->nr_open) {
		const struct symbol_table_entry *top =
			&sweep->table->entries[sweep->open[sweep->nr_open - 1]];
		uint64_t end = top->end < to ? top->end : to;
		int err = sweep__emit(sweep, top, end);

		if (err)
			return err;
		if (top->end > to)
			return 0;
		sweep->nr_open--;
	}
	return 0;
}

/* Takes the entries first..last, which start at one address; next: where the following ones do. */
static int sweep__take(struct sweep *sweep, size_t first, size_t last, uint64_t next)
{
	const struct symbol_table_entry *entries = sweep->table->entries, *best = &entries[last];
	int err;

	err = sweep__advance(sweep, best->start);
	if (err)
		return err;
	sweep->at = best->start;
	if (!best->sized) {
		if (sweep->nr_open)
			return 0;
		return sweep__emit(sweep, best, best->end < next ? best->end : next);
	}
	for (size_t i = first; i <= last; i++)
		if (entries[i].sized)
			sweep->open[sweep->nr_open++] = i;
	return 0;
}

static int symbol_table__sweep(struct symbol_table *table, struct sweep *sweep)
{
	const struct symbol_table_entry *entries = table->entries;
	int err = 0;

	for (size_t first = 0, last; first < table->nr_entries && !err; first = last + 1) {
		uint64_t next = UINT64_MAX;

		for (last = first; last + 1 < table->nr_entries; last++) {
			if (entries[last + 1].start != entries[first].start) {
				next = entries[last + 1].start;
				break;
			}
		}
		err = sweep__take(sweep, first, last, next);
	}
	return err ? err : sweep__advance(sweep, UINT64_MAX);
}

/* Gives back what doubling took too much; that it cannot be made smaller is no failure. */
static void symbol_table__trim(struct symbol_table *table)
{
	void *moved;

	if (!table->nr_ranges)
		return;
	moved = realloc(table->starts, table->nr_ranges * sizeof(*table->starts));
	if (moved)
		table->starts = moved;
	moved = realloc(table->ranges, table->nr_ranges * sizeof(*table->ranges));
	if (moved)
		table->ranges = moved;
	moved = realloc(table->names, table->names_size ? table->names_size : 1);
	if (moved) {
		table->names = moved;
		table->names_capacity = table->names_size ? table->names_size : 1;
	}
}

int symbol_table__finish(struct symbol_table *table)
{
	struct sweep sweep = { .table = table };
	int err;

	if (!table->nr_entries)
		return 0;
	sweep.open = malloc(table->nr_entries * sizeof(*sweep.open));
	if (!sweep.open)
		return -ENOMEM;
	qsort(table->entries, table->nr_entries, sizeof(*table->entries), entry__compare);
	err = symbol_table__sweep(table, &sweep);
	free(sweep.open);
	free(table->entries);
	table->entries = NULL;
	table->nr_entries = table->entries_capacity = 0;
	symbol_table__trim(table);
	return err;
}

bool symbol_table__find(const struct symbol_table *table, uint64_t address,
			struct symbol_table_hit *hit)
{
	size_t low = 0, high = table->nr_ranges;
	const struct symbol_table_range *range;

	/* The first range that starts above the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->starts[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return false;
	range = &table->ranges[low - 1];
	if (address - table->starts[low - 1] >= range->size)
		return false;
	hit->name = table->names + range->name;
	hit->offset = address - table->starts[low - 1] + range->offset;
	hit->size = range->symbol_size;
	return true;
}

size_t symbol_table__bytes(const struct symbol_table *table)
{
	return table->nr_ranges * (sizeof(*table->starts) + sizeof(*table->ranges)) +
	       table->names_capacity + table->entries_capacity * sizeof(*table->entries);
}

void symbol_table__free(struct symbol_table *table)
{
	free(table->entries);
	free(table->starts);
	free(table->ranges);
	free(table->names);
	*table = (struct symbol_table){};
}
