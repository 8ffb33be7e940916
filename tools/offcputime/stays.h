/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the kernel side has counted, as rows that can be shown. Knows no libbpf.
 */
#ifndef VANTAGE_OFFCPUTIME_STAYS_H
#define VANTAGE_OFFCPUTIME_STAYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "offcputime.h"

/* What rows are kept by; bits. A process id stands with its name. */
enum stay_by { STAY_BY_PID, STAY_BY_TID, STAY_BY_COMM, STAY_BY_STACK, STAY_NR_BY };
#define STAY_BY_ALL ((1U << STAY_NR_BY) - 1)

extern const char *const stay_by_names[];

struct stay_row {
	struct offcputime_key key;
	uint64_t total_ns;
	uint64_t runnable_ns;
	uint64_t preempted_ns;
	uint64_t count;
	uint64_t begun_before;
	uint64_t max_ns;
	bool is_rest; /* the time of all that found no room; there is no key */
	bool in_flight; /* one stay that has not ended; total_ns is its age */
	enum offcputime_state state; /* in_flight */
	bool idle; /* an idle wait (reasons.h), if that was asked */
};

struct stay_rows {
	struct stay_row *items;
	size_t nr;
	size_t capacity;
};

/* Each adds a row. interval: the number of the one that it is about. 0 or -ENOMEM. */
int stay_rows__add(struct stay_rows *rows, const struct offcputime_key *key,
		   const struct offcputime_row *value, uint64_t interval);
int stay_rows__add_open(struct stay_rows *rows, const struct offcputime_open *open);
/* Of all CPUs together; adds none when there was nothing. */
int stay_rows__add_rest(struct stay_rows *rows, const struct offcputime_row *values, size_t nr_cpus,
			uint64_t interval);

/* Leaves of the keys what rows are kept by; those of stays that have not ended stay whole. */
void stay_rows__limit(struct stay_rows *rows, uint32_t by);

/* Takes off what was there before, and leaves out rows in which nothing came. before: rows of one
 * key each, in the order of stay_rows__merge(). */
void stay_rows__subtract(struct stay_rows *rows, const struct stay_rows *before);

/* A copy of all rows. 0 or -ENOMEM. */
int stay_rows__copy(struct stay_rows *copy, const struct stay_rows *rows);

/* Puts rows with one key together, those of stays that have not ended apart, and all in the
 * order of their keys. */
void stay_rows__merge(struct stay_rows *rows);

/* The most time last. */
void stay_rows__sort(struct stay_rows *rows);

void stay_rows__free(struct stay_rows *rows);

#endif
