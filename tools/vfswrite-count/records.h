/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What vfswrite-count reports, as tables of fields, and their values. Knows no libbpf. */
#ifndef VANTAGE_VFSWRITE_COUNT_RECORDS_H
#define VANTAGE_VFSWRITE_COUNT_RECORDS_H

#include "output/buffer.h"
#include "output/sink.h"
#include "rows.h"
#include "vfswrite-count.h"

extern const struct record_type count_record_type;
extern const struct record_type total_record_type;
extern const struct record_type other_paths_record_type;

/* All that can be written, and the rows of a table; NULL-terminated. */
extern const struct record_type *const vfswrite_types[];
extern const struct record_type *const vfswrite_row_types[];

/* Names of --by, by enum vfswrite_by, NULL-terminated. */
extern const char *const vfswrite_by_names[];

/* Columns of the text face for rows by these keys (bits of enum vfswrite_by), and by which errors
 * calls failed; NULL-terminated. */
#define COLUMNS_MAX 16
void count__columns(uint32_t by, bool causes, const char *columns[COLUMNS_MAX]);

/* What the figures of a row are seen against. */
struct count_scale {
	uint32_t by;
	uint64_t calls; /* of all rows */
	uint64_t span_ns; /* in which they came */
};

/* Room for the values of one record, and for what they borrow. */
struct count_values {
	struct value key[8];
	struct value values[20];
	struct record key_record;
	struct named_count *errors; /* room for as many as the row has causes */
	char share[16];
	char rate[32];
	char mean[32];
	struct buffer causes; /* to be freed */
};

/* cgroup: the path of the row's control group, or NULL. Borrows from its arguments. */
struct record count__record(const struct row *row, const struct count_scale *scale,
			    const char *cgroup, struct count_values *values);
struct record total__record(const struct row *total, const struct count_scale *scale,
			    struct count_values *values);

#endif
