/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What vfswrite-count can count, by enum vfswrite_func: functions of the kernel and the system
 * calls in their place, and which of them a run is about. Knows no libbpf.
 */
#ifndef VANTAGE_VFSWRITE_COUNT_FUNCS_H
#define VANTAGE_VFSWRITE_COUNT_FUNCS_H

#include <stdbool.h>

#include "vfswrite-count.h"

struct func {
	const char *name;
	bool reads; /* no write */
	bool is_other_path; /* a write that vfs_write does not see */
	bool is_syscall;
	short numbers[VFSWRITE_NR_ABIS]; /* of a system call; -1: none */
};

extern const struct func vfswrite_funcs[VFSWRITE_NR_FUNCS];

/* Bits of enum vfswrite_func: those with rows, with all write paths or with reads, too. */
__u32 funcs__counted(bool all_paths, bool reads);

/* Fills the table of system calls: those that are counted, and the other paths. */
void funcs__fill_syscalls(__u32 counted, __u8 syscalls[VFSWRITE_NR_ABIS][VFSWRITE_NR_SYSCALLS]);

#endif
