/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The account of a run, as the kernel side counts it. Each event of a kind has
 * exactly one fate: seen = filtered + recorded + lost + in flight. What is
 * recorded is counted in user space, where the report is written.
 */
#ifndef VANTAGE_SHARED_ACCOUNT_H
#define VANTAGE_SHARED_ACCOUNT_H

#include "shared/types.h"

/* Kinds of events with a sum of their own that one tool can have. */
#define ACCOUNT_KINDS_MAX 4

/* Behind them, what is counted of no event but of stand-ins (bpf/stand_in.bpf.h) alone. */
enum account_counters_index {
	ACCOUNT_OF_TREE_FORK = ACCOUNT_KINDS_MAX,
	ACCOUNT_OF_TREE_EXIT,
	ACCOUNT_NR_COUNTERS,
};

/* Why an event is lost. The names in the report are in run/account.c. */
enum account_cause {
	ACCOUNT_RING_FULL, /* no room for the record in the ring buffer */
	ACCOUNT_MAP_FULL, /* no room in a table: --max-keys */
	ACCOUNT_NO_START, /* its end was seen and its beginning was not */
	ACCOUNT_NO_STORAGE, /* no memory was found for what is kept of its task */
	ACCOUNT_OUTPUT_CLOSED, /* the reader or the disk took no more; counted in user space */
	ACCOUNT_NO_END, /* it began, but its end was not seen */
	ACCOUNT_NR_CAUSES,
};

/* What of a recorded event was not kept. */
enum account_detail {
	ACCOUNT_DETAIL_ARGS, /* arguments cut: no room for all, or a page could not be read */
	ACCOUNT_DETAIL_TREE, /* a descendant that could not be followed: table full */
	ACCOUNT_DETAIL_SLOW, /* the record of a slow event found no room in the ring buffer */
	ACCOUNT_DETAIL_RESULT, /* its result has not come; counted in user space */
	ACCOUNT_DETAIL_ERRNO, /* a failure that found no room in the table of their causes */
	ACCOUNT_DETAIL_STACK, /* its stack was not kept, or not seen; counted in user space */
	ACCOUNT_DETAIL_DISTRIBUTION, /* a value that its histogram does not have */
	ACCOUNT_DETAIL_PATH, /* what a file is called */
	ACCOUNT_NR_DETAILS,
};

/* One per kind, or enum account_counters_index, and CPU; only ever grows. */
struct account_counters {
	__u64 seen; /* events, before any filter */
	__u64 filtered;
	__u64 lost[ACCOUNT_NR_CAUSES];
	__u64 detail_lost[ACCOUNT_NR_DETAILS];
	__u64 begun_before; /* began before the run; not among seen */
	/* Of bpf/stand_in.bpf.h: runs of the stand-in, and events that were left to it. */
	__u64 stood_in;
	__u64 left_to_stand_in;
};

#endif
