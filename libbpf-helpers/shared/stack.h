/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Stacks as both sides know them. A stack is named by a hash over its addresses; the first time
 * that it comes it is sent, once, and from then on its name stands for it.
 */
#ifndef VANTAGE_SHARED_STACK_H
#define VANTAGE_SHARED_STACK_H

#include "shared/types.h"

/* The default of the kernel's own limit, kernel.perf_event_max_stack. */
#define STACK_FRAMES_DEFAULT 127
#define STACK_FRAMES_MAX 512

/* Hashes that name no stack; those of stacks are larger. */
#define STACK_NONE 0 /* there was none, or it was not asked for */
#define STACK_NOT_KEPT 1 /* there was no room for it */
#define STACK_NOT_SEEN 2 /* the moment had passed */

struct taken_stack {
	__u64 time_ns; /* CLOCK_MONOTONIC, as in every record of a ring */
	__u64 hash;
	__u64 start_ns; /* user stacks: start_boottime of the process */
	__u32 pid; /* user stacks: of the process; 0: a kernel stack */
	__u32 nr; /* 0: a process that has executed a file; no stack */
	__u64 frames[STACK_FRAMES_MAX]; /* nr of them are sent, the innermost first */
};

#endif
