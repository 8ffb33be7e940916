/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What funclatency reports beside histograms, as tables of fields, and their values. No libbpf. */
#ifndef VANTAGE_FUNCLATENCY_RECORDS_H
#define VANTAGE_FUNCLATENCY_RECORDS_H

#include "callers.h"
#include "funclatency.h"
#include "inflight.h"
#include "output/buffer.h"
#include "output/histogram.h"
#include "output/sink.h"
#include "run/clock.h"

extern const struct record_type slow_record_type;
extern const struct record_type in_flight_record_type;

/* All that can be written, the rows of a table, and those of CSV, which has histograms, too.
 * NULL-terminated. */
extern const struct record_type *const funclatency_types[];
extern const struct record_type *const funclatency_row_types[];
extern const struct record_type *const funclatency_csv_types[];

/* The columns of the text face: of several system calls or a user program, and of a function of
 * the kernel, whose stack is told. NULL-terminated. */
extern const char *const funclatency_columns[];
extern const char *const funclatency_stack_columns[];

/* Names of --by, by enum hist_by and enum funclatency_by, NULL-terminated. */
extern const char *const funclatency_by_names[];

#define FRAME_NR_FIELDS 5

/* Room for the values of one record, and for what they borrow. */
struct record_values {
	struct value values[13];
	struct value frame_values[1 + FUNCLATENCY_STACK_MAX][FRAME_NR_FIELDS];
	struct record frames[1 + FUNCLATENCY_STACK_MAX];
	struct buffer stack; /* to be freed */
};

/* target: what was called. callers: NULL for a system call. result: NULL when there is none.
 * Borrows from its arguments. */
struct record slow__record(const struct funclatency_slow *slow, const char *target,
			   const struct callers *callers, const int64_t *result,
			   const struct record_times *times, struct record_values *values);

/* Borrows from its arguments. */
struct record open_call__record(const struct open_call *call, const char *target,
				struct record_values *values);

/* Beside histogram_key__values(): what was called (func, borrowed), and what it returned. */
void key__fill(const struct hist_key *key, const char *func, uint32_t by,
	       struct value values[HISTOGRAM_KEY_NR_FIELDS]);

#endif
