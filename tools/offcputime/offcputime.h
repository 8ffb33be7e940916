/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What offcputime's two sides agree on. */
#ifndef VANTAGE_OFFCPUTIME_H
#define VANTAGE_OFFCPUTIME_H

#include "shared/stack.h"
#include "shared/types.h"

#define OFFCPUTIME_COMM_SIZE 16

/* The one kind of the account. */
enum offcputime_kind {
	OFFCPUTIME_STAY, /* a thread's stay off the CPU */
};

/* What state a thread left its CPU in; bits of offcputime_config.states. */
enum offcputime_state {
	OFFCPUTIME_RUNNABLE, /* could have run on: preempted, end of its time slice, or yield */
	OFFCPUTIME_SLEEPING, /* interruptible */
	OFFCPUTIME_DISK, /* uninterruptible */
	OFFCPUTIME_KILLABLE, /* the same, but for fatal signals */
	OFFCPUTIME_IDLE, /* the same, of a kernel thread without work */
	OFFCPUTIME_STOPPED,
	OFFCPUTIME_TRACED,
	OFFCPUTIME_PARKED,
	OFFCPUTIME_OTHER,
	OFFCPUTIME_NR_STATES,
};

struct offcputime_config {
	__u64 min_ns; /* only stays at least this long */
	__u64 max_ns; /* and at most this long */
	__u32 states; /* bits of enum offcputime_state; 0: any */
	__u32 state_mask; /* any of these bits of TASK_*; 0: any state */
	__u32 only_user; /* no kernel threads */
	__u32 only_kernel; /* kernel threads alone */
	__u32 kernel_stacks;
	__u32 user_stacks;
};

/* What time is kept by. */
struct offcputime_key {
	__u64 kernel_stack; /* its name, see shared/stack.h */
	__u64 user_stack;
	__u32 pid;
	__u32 tid;
	char comm[OFFCPUTIME_COMM_SIZE]; /* of the thread */
};

/* The longest stay of one interval; differences cannot give it. */
struct offcputime_longest {
	__u64 interval; /* number of the interval; 0: none yet */
	__u64 ns;
};

/* Only ever grows, but for the longest. A thread is on one CPU at a time, and its rows are its
 * own: none is written from two CPUs at once. */
struct offcputime_row {
	__u64 total_ns;
	__u64 runnable_ns; /* of it: awake, waiting for a CPU */
	__u64 preempted_ns; /* of it: in stays that began as OFFCPUTIME_RUNNABLE */
	__u64 count; /* of stays */
	__u64 begun_before; /* of them: begun before the run, from whose start they are charged */
	struct offcputime_longest longest[2]; /* by the parity of the interval's number */
};

/* A stay that had not ended when the run did. */
struct offcputime_open {
	struct offcputime_key key;
	__u64 age_ns; /* how long it had lasted, from the start of the run at the earliest */
	__u64 runnable_ns;
	__u32 state; /* enum offcputime_state */
	__u32 preempted;
	__u32 begun_before;
	__u32 unused;
};

#endif
