/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The records of execsnoop's ring and what its two sides agree on. */
#ifndef VANTAGE_EXECSNOOP_H
#define VANTAGE_EXECSNOOP_H

#include "shared/types.h"

/* Kinds of the account, in this order in execsnoop_kinds[]. */
enum execsnoop_kind {
	EXECSNOOP_EXEC, /* a successful exec */
	EXECSNOOP_EXIT, /* the end of a process */
};

#define EXECSNOOP_COMM_SIZE 16

/* Every record begins so: what happened, when, and to which process. */
struct execsnoop_process {
	__u64 time_ns; /* CLOCK_MONOTONIC, as in every record of a ring */
	__u64 fork_ns; /* CLOCK_MONOTONIC: with pid, the identity of the process */
	__u64 cgroup_id;
	__u32 kind; /* enum execsnoop_kind */
	__u32 cpu;
	__u32 pid;
	__u32 tid; /* the thread that called exec, or ended last */
	__u32 ppid;
	__u32 uid;
	__u32 ns_pid;
	__u32 unused;
	char comm[EXECSNOOP_COMM_SIZE];
	char pcomm[EXECSNOOP_COMM_SIZE]; /* of the parent process */
};

/* args begin args_offset bytes into data: each argument ended by NUL, as in the new memory. */
struct execsnoop_exec {
	struct execsnoop_process process;
	__u32 filename_size; /* with its NUL; at the start of data */
	__u32 args_offset;
	__u32 args_size;
	__u32 args_cut; /* bytes left out at the end */
	char data[];
};

struct execsnoop_exit {
	struct execsnoop_process process;
	__u64 utime_ns; /* sampled at timer ticks; only their ratio is used */
	__u64 stime_ns;
	__u64 runtime_ns; /* exact, up to the last tick or switch */
	__u64 max_rss_pages;
	__u32 status; /* as of wait() */
	__u8 execed; /* false: forked and never exec'ed */
	__u8 times_known;
	__u8 unused[2];
};

#endif
