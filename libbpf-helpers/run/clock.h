/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The kernel's monotonic stamps as wall-clock times: one offset, taken at the
 * start and again when the wall clock is set.
 */
#ifndef VANTAGE_RUN_CLOCK_H
#define VANTAGE_RUN_CLOCK_H

#include <stdint.h>

struct clock_base {
	int64_t offset_ns; /* wall clock minus monotonic clock */
};

/* Where the times of a record count from. */
struct record_times {
	struct clock_base clock;
	uint64_t started_ns; /* CLOCK_MONOTONIC */
};

/* Nanoseconds of CLOCK_MONOTONIC, the clock of bpf_ktime_get_ns(). */
uint64_t clock__now_ns(void);
/* Takes the offset as the closest of a few readings. */
void clock__set(struct clock_base *base);
/* Nanoseconds since the epoch of a monotonic stamp. */
uint64_t clock__wall_ns(const struct clock_base *base, uint64_t monotonic_ns);

#endif
