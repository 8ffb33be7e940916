/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The records of execsnoop's ring and what its two sides agree on. */
#ifndef VANTAGE_EXECSNOOP_H
#define VANTAGE_EXECSNOOP_H

#include "shared/types.h"

/* Kinds of the account, in this order in the loader's table of their names. */
enum execsnoop_kind {
	EXECSNOOP_EXEC, /* a successful exec */
	EXECSNOOP_FAILED, /* a call of exec that failed */
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

/* args_cut when it is not known how much is missing. */
#define EXECSNOOP_CUT_UNKNOWN 0xffffffffU

/* Most arguments of a failed call that are read. */
#define EXECSNOOP_FAILED_ARGS_MAX 2048
/* The same where the kernel has no bpf_loop() (before 5.17). */
#define EXECSNOOP_FAILED_ARGS_UNROLLED 64

/* What is told of an exec only when it is asked for. */
struct execsnoop_context_config {
	__u32 nr_ancestors; /* up to EXECSNOOP_ANCESTORS_MAX */
	__u32 env;
	__u32 cwd;
};

#define EXECSNOOP_ANCESTORS_MAX 16

struct execsnoop_ancestor {
	__u32 pid;
	char comm[EXECSNOOP_COMM_SIZE];
};

/* Where the way from a working directory outwards ended. */
enum execsnoop_cwd_end {
	EXECSNOOP_CWD_UNKNOWN, /* not asked for */
	EXECSNOOP_CWD_WHOLE, /* at the root of the process */
	EXECSNOOP_CWD_CUT, /* for lack of room, or too far */
	EXECSNOOP_CWD_UNREACHABLE, /* at another root: the process is outside of its own */
};

/* Most bytes of a working directory: its names, each with one more. */
#define EXECSNOOP_CWD_MAX 2048

struct execsnoop_context {
	__u32 nr_ancestors; /* the parent first; behind the last one, id 0 */
	struct execsnoop_ancestor ancestors[EXECSNOOP_ANCESTORS_MAX];
	__u32 cwd_end; /* enum execsnoop_cwd_end */
	__u32 cwd_size;
	__u32 unused;
	char cwd[]; /* names of directories, the innermost first, each ended by NUL */
};

/*
 * EXECSNOOP_EXEC and EXECSNOOP_FAILED. Offsets count from data; 0: there is none. Arguments are
 * each ended by NUL, as in the new memory. Of a failed call, one that could not be read is an
 * empty one whose bit in an array of EXECSNOOP_FAILED_ARGS_MAX bits is set.
 */
struct execsnoop_exec {
	struct execsnoop_process process;
	__u32 filename_size; /* with its NUL; at the start of data. 0: it could not be read */
	__u32 unreadable_offset; /* of the array of bits, __u64 by __u64 */
	__u32 args_offset;
	__u32 args_size;
	__u32 args_cut; /* bytes left out at the end, or EXECSNOOP_CUT_UNKNOWN */
	__s32 ret; /* 0 or -errno */
	__u32 context_offset; /* of struct execsnoop_context */
	__u32 env_size; /* the environment stands behind the arguments */
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
