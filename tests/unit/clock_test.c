// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <time.h>

#include "run/clock.h"
#include "test.h"

#define NS_PER_S 1000000000LL

/* Far above what a busy machine puts between two readings, far below a clock's usual error. */
#define TOLERANCE_NS (NS_PER_S / 10)

static int64_t wall_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

static void test_monotonic(void)
{
	uint64_t last = clock__now_ns();
	bool grows = true;

	for (int i = 0; i < 10000; i++) {
		uint64_t now = clock__now_ns();

		if (now < last)
			grows = false;
		last = now;
	}
	test__check(grows, "the clock never goes back", "a reading was below the one before");
}

static void test_is_bpf_clock(void)
{
	struct timespec before, after;
	uint64_t now;

	clock_gettime(CLOCK_MONOTONIC, &before);
	now = clock__now_ns();
	clock_gettime(CLOCK_MONOTONIC, &after);
	test__check(now >= (uint64_t)(before.tv_sec * NS_PER_S + before.tv_nsec) &&
			    now <= (uint64_t)(after.tv_sec * NS_PER_S + after.tv_nsec),
		    "it is the monotonic clock", "%" PRIu64 " is outside the readings around it",
		    now);
}

static void test_offset(void)
{
	struct clock_base base = { .offset_ns = 1 };
	int64_t wall, difference;

	clock__set(&base);
	wall = wall_now_ns();
	difference = (int64_t)clock__wall_ns(&base, clock__now_ns()) - wall;
	test__check(llabs(difference) < TOLERANCE_NS, "a stamp of now is the wall clock's now",
		    "it differs by %" PRId64 " ns", difference);
}

static void test_keeps_distances(void)
{
	struct clock_base base;

	clock__set(&base);
	test__equal("stamps keep their distance",
		    clock__wall_ns(&base, 5000000007) - clock__wall_ns(&base, 5000000000), 7);
}

static void test_monotonic_ahead_of_wall(void)
{
	/* A machine whose wall clock was never set: the offset may be below zero. */
	const struct clock_base base = { .offset_ns = -40 };

	test__equal("a negative offset is subtracted", clock__wall_ns(&base, 100), 60);
}

int main(void)
{
	test_monotonic();
	test_is_bpf_clock();
	test_offset();
	test_keeps_distances();
	test_monotonic_ahead_of_wall();
	return test__done();
}
