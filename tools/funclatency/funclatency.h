/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What funclatency's two sides agree on. */
#ifndef VANTAGE_FUNCLATENCY_H
#define VANTAGE_FUNCLATENCY_H

#include "shared/hist.h"
#include "shared/slowest.h"
#include "shared/types.h"

/* The one kind of the account. */
enum funclatency_kind {
	FUNCLATENCY_CALL,
};

/* What histograms can be kept by beside enum hist_by. */
enum funclatency_by {
	FUNCLATENCY_BY_FUNC = HIST_NR_BY, /* hist_key.cause: FUNCLATENCY_FUNC(); functions: 0 */
	FUNCLATENCY_BY_RET, /* hist_key.kind: 0, the number of an error, FUNCLATENCY_RET_UNKNOWN */
};

/* A system call in one number. */
#define FUNCLATENCY_FUNC(abi, number) ((abi) << 16 | (number))
#define FUNCLATENCY_FUNC_ABI(func) ((func) >> 16)
#define FUNCLATENCY_FUNC_NUMBER(func) ((func)&0xffff)

#define FUNCLATENCY_ERROR_MAX 4095 /* include/linux/err.h */
#define FUNCLATENCY_RET_UNKNOWN (FUNCLATENCY_ERROR_MAX + 1)

/* Numbers of system calls that are looked at, of 64-bit and of 32-bit callers. */
#define FUNCLATENCY_NR_SYSCALLS 512
#define FUNCLATENCY_NR_ABIS 2

/* What is asked about a system call. */
enum funclatency_syscall {
	FUNCLATENCY_SYSCALL_NOT_ASKED,
	FUNCLATENCY_SYSCALL_ASKED,
	FUNCLATENCY_SYSCALL_FORKS, /* asked, and the child returns from it, too, with 0 */
};

struct funclatency_config {
	__u64 min_ns; /* shorter calls are filtered */
	__u64 max_ns; /* longer ones, too; 0: none are */
	__u64 slower_ns; /* a record for each call longer than this; 0: none */
	__u32 slowest; /* a record for the longest calls of each CPU; 0: none */
	__u32 by; /* bits of enum hist_by and enum funclatency_by; 0: one histogram of all */
	__u32 result_shift; /* bits of the register above what is returned */
	__u32 result_has_errors; /* what is returned can be negative */
	/* By ABI and number: enum funclatency_syscall. */
	__u8 syscalls[FUNCLATENCY_NR_ABIS][FUNCLATENCY_NR_SYSCALLS];
};

/*
 * A call from its entry to its return. Its key is one __u64, which names the call among all that
 * are inside at one time: where its frame lies.
 */
struct funclatency_frame {
	__u64 start_ns; /* CLOCK_MONOTONIC; 0: there is no call in this frame now */
	__u32 tid; /* of the task that was current at the entry; 0: an idle CPU */
	__u32 pid;
};

/*
 * A place in front of the table of frames, found without the cost of a hash table. Once it has a
 * frame it keeps it.
 */
struct funclatency_slot {
	__u64 key; /* of the frame; 0: it is free */
	struct funclatency_frame frame;
};

#define FUNCLATENCY_SLOT_BITS 14
#define FUNCLATENCY_NR_SLOTS (1 << FUNCLATENCY_SLOT_BITS)

#define FUNCLATENCY_COMM_SIZE 16
#define FUNCLATENCY_STACK_MAX 64

/* One call, sent when it returned. */
struct funclatency_slow {
	struct slow_event event;
	__s64 result; /* as the register has it */
	__u32 has_result;
	__u32 pid;
	__u32 tid;
	__u32 cpu;
	__u32 syscall; /* its number by the ABI; for functions 0 */
	__u32 abi; /* of the system call: 0 of 64-bit code, 1 of 32-bit code */
	char comm[FUNCLATENCY_COMM_SIZE]; /* of the thread */
	__s64 stack_size; /* bytes of the stack; negative: it could not be taken */
	__u64 stack[FUNCLATENCY_STACK_MAX]; /* of the kernel, as it was at the return */
};

#endif
