/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The slowest events of an interval, as both sides know them. */
#ifndef VANTAGE_SHARED_SLOWEST_H
#define VANTAGE_SHARED_SLOWEST_H

#include "shared/types.h"

/* The most events of one CPU that are kept. */
#define SLOWEST_MAX 32

/* How the record of a slow event begins. */
struct slow_event {
	__u64 time_ns; /* of its end; CLOCK_MONOTONIC, as in every record of a ring */
	__u64 duration_ns;
	__u64 interval; /* number of the interval it belongs to (bpf/hist.bpf.h) */
};

#endif
