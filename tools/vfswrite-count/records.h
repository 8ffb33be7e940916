/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What vfswrite-count reports, as tables of fields, and their values. Knows no libbpf. */
#ifndef VANTAGE_VFSWRITE_COUNT_RECORDS_H
#define VANTAGE_VFSWRITE_COUNT_RECORDS_H

#include "collect/hist.h"
#include "output/buffer.h"
#include "output/histogram.h"
#include "output/sink.h"
#include "rows.h"
#include "settings.h"
#include "vfswrite-count.h"

extern const struct record_type count_record_type;
extern const struct record_type total_record_type;
extern const struct record_type other_paths_record_type;

extern const struct record_type size_record_type; /* histograms of bytes */
extern const struct record_type time_record_type; /* histograms of times */

/* All that can be written; NULL-terminated. */
extern const struct record_type *const vfswrite_types[];

/* The rows of a table, and in CSV the histograms, too. NULL-terminated. */
const struct record_type *const *vfswrite_row_types(const struct vfswrite_options *options);

/* Names of --by, by enum vfswrite_by, NULL-terminated. */
extern const char *const vfswrite_by_names[];

/* Columns of the text face for rows by these keys (bits of enum vfswrite_by), and by which errors
 * calls failed; NULL-terminated. */
#define COLUMNS_MAX 20
void count__columns(uint32_t by, bool causes, const char *columns[COLUMNS_MAX]);

/* What the figures of a row are seen against. */
struct count_scale {
	uint32_t by;
	uint64_t calls; /* of all rows */
	uint64_t span_ns; /* in which they came */
};

/* The parts of the member "key", in this order. */
enum key_field {
	KEY_COMM,
	KEY_PID,
	KEY_TID,
	KEY_UID,
	KEY_CGROUP_ID,
	KEY_CGROUP,
	KEY_CPU,
	KEY_FUNC,
	KEY_FS,
	KEY_DEVICE,
	KEY_DEVICE_NAME,
	KEY_FILE_TYPE,
	KEY_FILE,
	KEY_OTHERS,
	KEY_NR_FIELDS,
};

/* Names of what a key has as a number. */
struct key_names {
	const char *cgroup; /* path of its control group; or NULL */
	const struct place *place; /* what is written to; or NULL */
};

/* Room for the values of one record, and for what they borrow. */
struct count_values {
	struct value key[KEY_NR_FIELDS];
	struct value values[24];
	struct record key_record;
	struct named_count *errors; /* room for as many as the row has causes */
	char share[16];
	char rate[32];
	char mean[32];
	struct buffer causes; /* to be freed */
};

/* The values of a key for rows or histograms by these keys (bits of enum vfswrite_by). */
void key__values(const struct vfswrite_key *key, uint32_t by, const struct key_names *names,
		 struct value values[KEY_NR_FIELDS]);

/* The key of a histogram. */
void key__values_of_reading(const struct hist_reading *reading, uint32_t by,
			    const struct key_names *names, struct value values[KEY_NR_FIELDS]);

/* Borrow from their arguments. */
struct record count__record(const struct row *row, const struct count_scale *scale,
			    const struct key_names *names, struct count_values *values);
struct record total__record(const struct row *total, const struct count_scale *scale,
			    struct count_values *values);

/* How histograms look; times are in nanoseconds. */
struct histogram_style distribution__style(enum vfswrite_distribution distribution);

#endif
