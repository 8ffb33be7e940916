/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of ranges of addresses, read once and then searched by bisection. It knows no
 * file format: kallsyms, ELF files and perf maps fill it.
 *
 * Of several symbols that cover an address the one that starts last names it; of those that
 * start together the one of the highest rank, then the one added first (later_first: last).
 * A symbol without a size reaches up to the next symbol or to its limit, whichever comes
 * first, and only where no symbol with a size covers its start (a label inside a function
 * names neither the rest of the function nor what follows it).
 */
#ifndef VANTAGE_SYMBOLS_SYMBOL_TABLE_H
#define VANTAGE_SYMBOLS_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol that ends the one before it and names nothing. */
#define SYMBOL_TABLE_NO_NAME UINT32_MAX

struct symbol_table_entry {
	uint64_t start;
	uint64_t end; /* of a sized symbol: after its last byte; else its limit */
	uint32_t name; /* offset in names */
	uint32_t order; /* filled by the table */
	uint8_t rank;
	bool sized;
	bool later_first; /* of one start and rank, the one added last */
};

struct symbol_table_range {
	uint32_t size; /* bytes of the range, from its start */
	uint32_t offset; /* of the range's start in the symbol */
	uint32_t name;
	uint32_t symbol_size; /* without a size of its own: up to where it reaches */
};

/* All zero: empty. */
struct symbol_table {
	/* While it is filled. */
	struct symbol_table_entry *entries;
	size_t nr_entries;
	size_t entries_capacity;
	/* When it is finished: ranges that do not overlap, by rising start. */
	uint64_t *starts;
	struct symbol_table_range *ranges;
	size_t nr_ranges;
	/* Strings, each ended by NUL. */
	char *names;
	size_t names_size;
	size_t names_capacity;
};

struct symbol_table_hit {
	const char *name;
	uint64_t offset;
	uint64_t size; /* of the symbol; without one of its own: up to where it reaches */
};

/* Appends a name; its offset, or SYMBOL_TABLE_NO_NAME without memory or beyond 4 GiB - 2. */
uint32_t symbol_table__add_name(struct symbol_table *table, const char *name, size_t size);

/* Adds a symbol. Those of 4 GiB and more are cut there. 0 or -ENOMEM. */
int symbol_table__add(struct symbol_table *table, const struct symbol_table_entry *entry);

/* Makes what was added searchable, and frees the entries. Takes n log n steps for any
 * entries. 0 or -ENOMEM. */
int symbol_table__finish(struct symbol_table *table);

/* Whether an address has a name. */
bool symbol_table__find(const struct symbol_table *table, uint64_t address,
			struct symbol_table_hit *hit);

/* Memory it holds. */
size_t symbol_table__bytes(const struct symbol_table *table);

/* Frees all; the table is then empty and ready for use. */
void symbol_table__free(struct symbol_table *table);

#endif
