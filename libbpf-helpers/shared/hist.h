/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Histograms as both sides know them. The kernel side only ever adds; user space
 * keeps what it last saw and reports the difference.
 *
 * A value is first divided by the unit asked for, so that a bucket's bounds are whole
 * numbers of that unit; sum, least and greatest stay unscaled. Log-linear slots: the
 * values 0 to 15 have one each, from 16 on every power of two is cut into 16 equal parts:
 *	shift = log2(value | 16) - 4,  slot = 16 * shift + (value >> shift)
 * so that a bucket is at most 1/16 of its lower bound wide, and the last one ends at 2^64.
 * With a linear step: slot = value / step; the last slot takes all that is larger.
 */
#ifndef VANTAGE_SHARED_HIST_H
#define VANTAGE_SHARED_HIST_H

#include "shared/types.h"

#define HIST_SUB_BITS 4
#define HIST_ROW_SLOTS (1 << HIST_SUB_BITS)
/* Rows of 16 slots: the first for 0 to 15, then one for each power of two from 2^4 to 2^63. */
#define HIST_ROWS (64 - HIST_SUB_BITS + 1)
#define HIST_SLOTS (HIST_ROWS * HIST_ROW_SLOTS)

struct hist_config {
	__u64 unit; /* what a value is divided by: 1000 for microseconds; never 0 */
	__u64 linear_step; /* in that unit; 0: log-linear */
};

/* Least and greatest value of one interval; differences cannot give them. */
struct hist_extremes {
	__u64 interval; /* number of the interval; 0: no value yet */
	__u64 min;
	__u64 max;
};

/*
 * extremes: by the parity of the interval's number; the first value of an interval starts
 * its slot anew. Updates of one CPU that interrupt each other lose no count and no sum,
 * but can lose an extreme.
 */
struct hist_stats {
	__u64 count;
	__u64 sum; /* of the unscaled values */
	struct hist_extremes extremes[2];
};

struct hist {
	struct hist_stats stats;
	__u64 slots[HIST_SLOTS];
};

#define HIST_NAME_SIZE 16

/* What histograms can be kept by: bits of a mask. Kinds of a tool's own follow them. */
enum hist_by {
	HIST_BY_PID,
	HIST_BY_TID,
	HIST_BY_COMM, /* command name of the process */
	HIST_BY_CGROUP,
	HIST_BY_CPU, /* the one that the event ended on */
	HIST_NR_BY,
};

/* What a histogram of a keyed table is of. A tool leaves the parts it has no use for 0: keys are
 * compared as bytes. */
struct hist_key {
	__u64 cgroup_id;
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 cause; /* the tool's own numbers */
	union {
		__u32 pid_ns; /* inode number of a PID namespace */
		__u32 place; /* the tool's own number of what is written to */
	};
	union {
		__u32 kind; /* the tool's own numbers, too */
		__u32 uid;
	};
	char comm[HIST_NAME_SIZE];
};

/* Per CPU. The name is the one that the key's task had at its last event on that CPU. */
struct hist_keyed {
	struct hist_stats stats;
	__u64 named_ns; /* CLOCK_MONOTONIC of that event; 0: no name */
	char name[HIST_NAME_SIZE];
};

/* The slots of a keyed histogram, a row at a time: only the rows that have values exist. Not per
 * CPU: its size would grow with the machine. */
struct hist_row_key {
	struct hist_key key;
	__u32 row;
	__u32 unused; /* 0 */
};

struct hist_row {
	__u64 slots[HIST_ROW_SLOTS];
};

#endif
