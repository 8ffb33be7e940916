/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The slowest events of an interval. The kernel side sends those of each CPU
 * (bpf/slowest.bpf.h); here the slowest of all are kept. Knows no libbpf.
 */
#ifndef VANTAGE_COLLECT_SLOWEST_H
#define VANTAGE_COLLECT_SLOWEST_H

#include <stddef.h>
#include <stdint.h>

#include "shared/slowest.h"

/* The events of the intervals that can be open at one time, by the parity of their numbers. */
struct slowest {
	size_t limit; /* how many are kept */
	size_t size; /* of an event's record, which begins with a struct slow_event */
	struct {
		char *items;
		size_t nr;
	} intervals[2];
};

/* limit: 0 keeps none. 0 or -ENOMEM. */
int slowest__open(struct slowest *slowest, size_t limit, size_t size);

/* *slowest may be all zero. */
void slowest__close(struct slowest *slowest);

/* Keeps a copy of the record if its event is among the slowest of its interval. */
void slowest__add(struct slowest *slowest, const void *record);

/* The records of the slowest events of an interval, one behind another, the slowest first, valid
 * until the next call of any function here; they are forgotten then. Returns how many. */
size_t slowest__take(struct slowest *slowest, uint64_t interval, const void **records);

#endif
