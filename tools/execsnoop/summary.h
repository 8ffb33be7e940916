/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What ran how often: one row for each command and parent, with failures, lifetimes
 * and CPU time, in bounded memory. It decides no event's fate. Knows no libbpf.
 */
#ifndef VANTAGE_EXECSNOOP_SUMMARY_H
#define VANTAGE_EXECSNOOP_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "output/sink.h"

extern const struct record_type summary_record_type;

/* The columns of its table of text, NULL-terminated. */
extern const char *const summary_columns[];

/* Names for --sort, NULL-terminated, and what they are. Rows with more of it come first. */
extern const char *const summary_sort_names[];
enum summary_sort {
	SUMMARY_BY_COUNT,
	SUMMARY_BY_FAILED,
	SUMMARY_BY_MEDIAN,
	SUMMARY_BY_P99,
	SUMMARY_BY_CPU,
};

/* Rows by default. Each with a lifetime takes 8 KB. */
#define SUMMARY_KEYS_DEFAULT 1024

struct summary;

/* max_keys: rows there may be; what has none is added up in one more. NULL when out of memory. */
struct summary *summary__new(size_t max_keys);

/* The end of what is added; lifetime_ns since its exec, or its fork if it never executed. */
struct summary_end {
	uint64_t lifetime_ns;
	bool cpu_known;
	uint64_t cpu_ns;
};

/*
 * Adds a successful exec, a failed call of it (by event->ret), or, with filename unknown, the
 * end of a process that never executed. A command is what the path ends with, so that a search
 * through PATH is one row. 0 or -ENOMEM, not reported.
 */
int summary__add(struct summary *summary, const struct exec_event *event);

/* Adds the end of what was added. 0 or -ENOMEM, not reported. */
int summary__end(struct summary *summary, const struct exec_event *event,
		 const struct summary_end *end);

typedef int (*summary_fn)(void *ctx, const struct record *record);

/*
 * Hands over at most top rows as records, the first by sort first; then, if there is one, the
 * row of all that had no room. *nr_rows: how many there are. 0, the first return of fn that is not
 * 0, or -ENOMEM, not reported.
 */
int summary__each(struct summary *summary, enum summary_sort sort, size_t top, summary_fn fn,
		  void *ctx, size_t *nr_rows);

/* summary may be NULL. */
void summary__free(struct summary *summary);

/* All that can be written, the rows of a table, and the rows of one that ends with a summary;
 * NULL-terminated. */
extern const struct record_type *const execsnoop_types[];
extern const struct record_type *const execsnoop_row_types[];
extern const struct record_type *const execsnoop_row_types_with_summary[];

#endif
