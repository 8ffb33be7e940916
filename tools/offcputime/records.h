/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What offcputime reports, as tables of fields, and their values. No libbpf. */
#ifndef VANTAGE_OFFCPUTIME_RECORDS_H
#define VANTAGE_OFFCPUTIME_RECORDS_H

#include "frames.h"
#include "output/buffer.h"
#include "output/sink.h"
#include "reasons.h"
#include "stays.h"

/* All that can be written, and those that are rows of a table; NULL-terminated. The text face has
 * no columns. */
extern const struct record_type *const offcputime_types[];
extern const struct record_type *const offcputime_row_types[];
extern const char *const offcputime_columns[];

#define RECORD_NR_VALUES 16

/* Room for the values of one record, and for its text. */
struct record_values {
	struct value values[RECORD_NR_VALUES];
	char state[2];
	struct buffer text; /* freed by the caller */
};

/* How rows are shown. */
struct row_look {
	uint32_t by; /* bits of enum stay_by */
	bool split;
	bool offsets;
	bool delimited;
	bool folded;
	bool kernel_stacks; /* they were taken */
	bool user_stacks;
};

/* The named frames of a row. */
struct row_stacks {
	struct frames kernel;
	struct frames user;
};

/* What all rows of a report come to. */
struct totals {
	uint64_t total_ns; /* of stays that have ended */
	uint64_t count;
	uint64_t open_ns; /* of those that have not */
	uint64_t nr_open;
	uint64_t not_kept_ns; /* of both, without a stack because there was no room for it */
	uint64_t nr_not_kept;
	uint64_t idle_ns; /* of both, in idle waits that are left out */
	uint64_t not_seen_ns; /* because its moment had passed */
	uint64_t nr_not_seen;
};

void totals__add(struct totals *totals, const struct stay_row *row);

/* A "stack", or an "in_flight" if the row is that. Borrows from all arguments. */
struct record stay_row__record(const struct stay_row *row, struct row_stacks *stacks,
			       const struct row_look *look, struct record_values *values);

/* whole_ns: of all reasons; last: it ends the table of the text. */
struct record reason__record(const struct reason_time *time, uint64_t whole_ns, bool last,
			     struct record_values *values);

struct record totals__record(const struct totals *totals, struct record_values *values);

#endif
