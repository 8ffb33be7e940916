/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The longest waits of an interval. The kernel side sends those of each CPU; here the
 * longest of all are kept. Knows no libbpf.
 */
#ifndef VANTAGE_RUNQLAT_SLOWEST_H
#define VANTAGE_RUNQLAT_SLOWEST_H

#include <stddef.h>
#include <stdint.h>

#include "runqlat.h"

/* The waits of the intervals that can be open at one time, by the parity of their numbers. */
struct slowest {
	size_t limit; /* how many are kept, at most RUNQLAT_SLOWEST_MAX */
	struct {
		struct runqlat_slow items[RUNQLAT_SLOWEST_MAX];
		size_t nr;
	} intervals[2];
};

/* Keeps a copy of the wait if it is among the longest of its interval. */
void slowest__add(struct slowest *slowest, const struct runqlat_slow *slow);

/* The longest waits of an interval, the longest first, valid until the next call of either
 * function; they are forgotten then. Returns how many. */
size_t slowest__take(struct slowest *slowest, uint64_t interval, const struct runqlat_slow **items);

#endif
