/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What runqlat's two sides agree on. */
#ifndef VANTAGE_RUNQLAT_H
#define VANTAGE_RUNQLAT_H

#include "shared/hist.h"
#include "shared/slowest.h"
#include "shared/types.h"

#define RUNQLAT_COMM_SIZE 16

/* The one kind of the account. */
enum runqlat_kind {
	RUNQLAT_WAIT,
};

/* Why a wait began. */
enum runqlat_cause {
	RUNQLAT_WOKEN,
	RUNQLAT_PREEMPTED, /* could have run on: preempted, end of its time slice, or yield */
	RUNQLAT_NEW,
	RUNQLAT_THROTTLED, /* its group had used up its CPU quota */
	RUNQLAT_UNSEEN, /* not known: the kernel's own account alone tells of it */
	RUNQLAT_NR_CAUSES,
};

/* What histograms can be kept by beside enum hist_by. */
enum runqlat_by {
	RUNQLAT_BY_CAUSE = HIST_NR_BY,
	RUNQLAT_BY_PIDNS,
};

struct runqlat_config {
	__u64 slower_ns; /* a record for each wait longer than this; 0: none */
	__u32 slowest; /* a record for the longest waits of each CPU; 0: none */
	__u32 by; /* bits of enum hist_by and enum runqlat_by; 0: one histogram of all */
	__u32 from_waking; /* the clock starts at sched_waking */
	/* Who woke a thread is learnt at sched_wakeup, where sched_waking is not attached. */
	__u32 waker_at_wakeup;
	/* As schedstat counts: by the run queue's clock, without the waits of threads that were
	 * preempted on their way to sleep. Else by CLOCK_MONOTONIC. */
	__u32 by_run_queue_clock;
};

/* One wait, sent when it ended. */
struct runqlat_slow {
	struct slow_event event;
	__u64 prev_ns; /* how long the task that left the CPU had held it; 0: not known */
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 cause; /* enum runqlat_cause */
	__u32 prev_pid;
	__u32 prev_tid;
	__u32 waker_pid;
	__u32 waker_tid; /* 0: nobody, or an interrupt on an idle CPU */
	__u32 prev_seen; /* 0: which task left the CPU is not known */
	__u32 unused;
	char comm[RUNQLAT_COMM_SIZE]; /* of the thread; so the ones below */
	char prev_comm[RUNQLAT_COMM_SIZE];
	char waker_comm[RUNQLAT_COMM_SIZE];
};

/* A thread that waited when the run ended. */
struct runqlat_open {
	__u64 age_ns; /* how long it had waited */
	__u32 pid;
	__u32 tid;
	__u32 cause;
	__u32 unused;
	char comm[RUNQLAT_COMM_SIZE];
};

#endif
