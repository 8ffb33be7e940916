// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/clock.h"

#include <time.h>

#define NS_PER_S 1000000000ULL

static uint64_t read_ns(clockid_t id)
{
	struct timespec now;

	/* Cannot fail: both clocks exist on every Linux and the pointer is good. */
	clock_gettime(id, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

uint64_t clock__now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

void clock__set(struct clock_base *base)
{
	uint64_t closest = UINT64_MAX;

	/* Being put off the CPU between two readings makes them wide; one of a few is not. */
	for (int i = 0; i < 5; i++) {
		uint64_t before = read_ns(CLOCK_MONOTONIC);
		uint64_t wall = read_ns(CLOCK_REALTIME);
		uint64_t width = read_ns(CLOCK_MONOTONIC) - before;

		if (width < closest) {
			closest = width;
			base->offset_ns = (int64_t)(wall - (before + width / 2));
		}
	}
}

uint64_t clock__wall_ns(const struct clock_base *base, uint64_t monotonic_ns)
{
	return monotonic_ns + (uint64_t)base->offset_ns;
}
