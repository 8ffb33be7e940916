/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What runqlat reports beside histograms, as tables of fields, and their values. No libbpf. */
#ifndef VANTAGE_RUNQLAT_RECORDS_H
#define VANTAGE_RUNQLAT_RECORDS_H

#include "output/histogram.h"
#include "output/sink.h"
#include "run/clock.h"
#include "runqlat.h"

extern const struct record_type slow_record_type;
extern const struct record_type in_flight_record_type;

/* All that can be written, the rows of a table, and those of CSV, which has histograms, too; and
 * the columns of the text face. NULL-terminated. */
extern const struct record_type *const runqlat_types[];
extern const struct record_type *const runqlat_row_types[];
extern const struct record_type *const runqlat_csv_types[];
extern const char *const runqlat_columns[];

/* Names of --by, by enum runqlat_by, NULL-terminated; and of causes, by enum runqlat_cause. */
extern const char *const runqlat_by_names[];
extern const char *const runqlat_cause_names[];

/* Room for the values of one record, and for what they borrow. */
struct record_values {
	struct value values[18];
	char text[128];
	char more[64];
};

/* These borrow from their arguments. */
struct record slow__record(const struct runqlat_slow *slow, const struct record_times *times,
			   struct record_values *values);
struct record open__record(const struct runqlat_open *open, struct record_values *values);

/* The parts of a key that only runqlat has; by: bits of enum runqlat_by. */
void key__fill(const struct hist_key *key, uint32_t by,
	       struct value values[HISTOGRAM_KEY_NR_FIELDS]);

#endif
