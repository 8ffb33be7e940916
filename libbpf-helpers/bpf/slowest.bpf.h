/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which events are among the slowest of their CPU in an interval of bpf/hist.bpf.h. Only their
 * durations are kept here: those that are go through the ring, and user space keeps the slowest of
 * all CPUs (collect/slowest.h). For the others it is one comparison.
 */
#ifndef VANTAGE_BPF_SLOWEST_H
#define VANTAGE_BPF_SLOWEST_H

#include "bpf/hist.bpf.h"
#include "shared/slowest.h"

/* Of one CPU; all 0 at first. */
struct slowest_of_cpu {
	__u64 interval; /* that the slowest are of */
	__u64 threshold_ns; /* the least of them, once there are as many as asked for */
	__u64 longest_ns[SLOWEST_MAX];
	__u32 nr;
	__u32 unused;
};

/* Whether the event is among the slowest of this CPU in this interval. nr: how many are kept, a
 * constant at load, not 0. */
static __always_inline bool slowest__takes(struct slowest_of_cpu *slowest, __u32 nr,
					   __u64 duration_ns)
{
	__u64 interval = hist_interval, least = ~0ULL;
	__u32 place = 0;

	if (slowest->interval != interval) {
		slowest->interval = interval;
		slowest->threshold_ns = 0;
		slowest->nr = 0;
	}
	if (slowest->nr == nr && duration_ns <= slowest->threshold_ns)
		return false;
	if (slowest->nr < nr)
		place = slowest->nr++;
	else
		for (__u32 i = 0; i < nr && i < SLOWEST_MAX; i++)
			if (slowest->longest_ns[i] == slowest->threshold_ns)
				place = i;
	barrier_var(place);
	if (place >= SLOWEST_MAX)
		return true;
	slowest->longest_ns[place] = duration_ns;
	for (__u32 i = 0; i < nr && i < SLOWEST_MAX; i++)
		if (i < slowest->nr && slowest->longest_ns[i] < least)
			least = slowest->longest_ns[i];
	slowest->threshold_ns = least;
	return true;
}

#endif
