/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads all of a hash map in few calls. Only for maps from which nothing is deleted
 * meanwhile: then every entry that was there at the start comes exactly once.
 */
#ifndef VANTAGE_COLLECT_TABLE_H
#define VANTAGE_COLLECT_TABLE_H

#include <stddef.h>

struct bpf_link;
struct bpf_map;

/* Entries one after another: each a key, then its value. All zero: empty. */
struct table {
	char *data;
	size_t nr;
	size_t key_size;
	size_t value_size;
};

/*
 * key_size and value_size: multiples of 8; for a map with a value per CPU, of all CPUs
 * together. 0, or -errno, reported; the table is empty then.
 */
int table__read(struct table *table, const struct bpf_map *map, size_t key_size, size_t value_size);

static inline const char *table__entry(const struct table *table, size_t i)
{
	return table->data + i * (table->key_size + table->value_size);
}

/*
 * The same by a program that writes the key and the value of each entry (iter/bpf_map_elem), whose
 * link this is. While the kernel reads a table for bpf() itself, it skips every program at a kprobe
 * or perf event on that CPU, for as long as that takes (bpf_disable_instrumentation); so a table
 * that such a program fills is read by this. An entry can come twice when others are added
 * meanwhile: the later one counts. 0 or -errno, reported; *table is empty then.
 */
int table__walk(struct table *table, const struct bpf_link *link, size_t key_size,
		size_t value_size);

/* The one entry, number 0, of an array with a value per CPU: an entry of the table for each
 * possible CPU, without keys. 0, or -errno, reported; the table is empty then. */
int table__read_cpus(struct table *table, const struct bpf_map *map, size_t value_size);

void table__free(struct table *table);

#endif
