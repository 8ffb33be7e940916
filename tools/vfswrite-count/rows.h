/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel side has counted, as rows that can be shown: the values of all CPUs added up,
 * keys that look the same put together, and what came since the time before. No libbpf.
 */
#ifndef VANTAGE_VFSWRITE_COUNT_ROWS_H
#define VANTAGE_VFSWRITE_COUNT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "places.h"
#include "vfswrite-count.h"

/* What the rows are put in order by; names NULL-terminated. */
enum rows_order { ROWS_BY_CALLS, ROWS_BY_BYTES, ROWS_BY_ERRORS };
extern const char *const rows_order_names[];

struct row_error {
	uint32_t error; /* errno */
	uint64_t count;
};

struct row {
	struct vfswrite_key key;
	uint64_t calls;
	uint64_t results;
	uint64_t bytes;
	uint64_t errors; /* of all kinds */
	uint64_t name_calls; /* of the name that the row shows */
	const struct row_error *causes; /* in the order of their numbers */
	size_t nr_causes;
};

struct rows {
	struct row *items;
	size_t nr;
	struct row_error *causes; /* of all rows */
	uint32_t by; /* bits of enum vfswrite_by */
};

/* What a table of the kernel holds at one time: entries of a key and its value, one after
 * another; one can be there twice, as a walk met it. key_size: of struct vfswrite_key as the
 * tables have it. */
struct rows_source {
	const void *rows; /* each with a struct vfswrite_row for each CPU */
	size_t nr_rows;
	const struct vfswrite_hot *hot; /* of all CPUs; those without a key are passed over */
	size_t nr_hot;
	const void *errors; /* each with one number */
	size_t nr_errors;
	size_t key_size;
	size_t nr_cpus;
	uint32_t by; /* bits of enum vfswrite_by */
	struct places *places; /* where rows are by what is written to; or NULL */
};

/* All that was counted so far, in the order of the keys. 0 or -ENOMEM. */
int rows__read(struct rows *rows, const struct rows_source *source);

/* What now has more than before, in the order asked for, the largest last; rows in which nothing
 * came are left out. 0 or -ENOMEM. */
int rows__subtract(struct rows *difference, const struct rows *now, const struct rows *before,
		   enum rows_order order);

/* The sum of all rows; its causes are left out. */
struct row rows__total(const struct rows *rows);

void rows__free(struct rows *rows);

#endif
