/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which tasks a run is about. A filter asks about the task an event is about,
 * never about whoever happens to run. Set before load, read by the kernel side.
 */
#ifndef VANTAGE_SHARED_FILTER_H
#define VANTAGE_SHARED_FILTER_H

#include "shared/types.h"

/* What a number in the set of wanted values is. */
enum filter_key_kind {
	FILTER_PID, /* process id, in the initial PID namespace */
	FILTER_TID,
	FILTER_PPID,
	FILTER_UID, /* real user id, in the initial user namespace */
	FILTER_CGROUP, /* cgroup2 id; matches the whole subtree */
	FILTER_NR_KINDS,
};

struct filter_key {
	__u32 kind; /* enum filter_key_kind */
	__u32 unused; /* 0: keys are compared as bytes */
	__u64 value;
};

/* Positions in the command-name automaton: one more than the tokens of each glob. */
#define FILTER_GLOB_POSITIONS 64

/*
 * Globs over command names, compiled to one automaton that holds any number of
 * patterns in 64 positions (bit-parallel, one step a character):
 *	state = ((state & accepts[character]) << 1) | (state & loops)
 * A name matches when a bit of final is left at its end.
 */
struct filter_globs {
	__u64 accepts[256]; /* positions whose token takes this character */
	__u64 first; /* where each pattern starts */
	__u64 loops; /* positions before which a * stands */
	__u64 final; /* where each pattern ends */
};

struct filter_config {
	__u32 nr[FILTER_NR_KINDS]; /* how many values of each kind; 0: any will do */
	__u32 has_tree; /* only processes in the kernel side's set of descendants */
	__u32 has_trees; /* of processes that have descendants already */
	__u32 has_globs;
	__u32 has_any; /* there is some filter */
	__u64 only_pid; /* the one process id that is wanted; 0: none, or several */
	struct filter_globs globs;
};

/* Most processes followed at one time; its table of buckets takes 16 bytes for each. */
#define FILTER_TREE_MAX 262144

/* Most edges (child, parent) that are kept while the set is being seeded. */
#define FILTER_EDGES_MAX 65536

/* Value of a process in the set of descendants whose time of fork is not known; else it is
 * that time, so that a process id in use again matches nothing. */
#define FILTER_TREE_ANY_FORK 0

#endif
