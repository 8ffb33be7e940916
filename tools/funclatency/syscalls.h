/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The system calls by name: which ones a pattern means, and by which numbers the kernel knows
 * them. Knows no libbpf. */
#ifndef VANTAGE_FUNCLATENCY_SYSCALLS_H
#define VANTAGE_FUNCLATENCY_SYSCALLS_H

#include <stdbool.h>
#include <stddef.h>

#include "funclatency.h"
#include "names.h"

/*
 * Marks the system calls whose names match a glob (* ? [a-z]) in both tables of numbers. How many
 * names matched. Calls that never return (exit, exit_group) are left out: *without_end tells
 * whether the glob means nothing but them.
 */
size_t syscalls__ask(const char *glob, bool *without_end,
		     __u8 syscalls[FUNCLATENCY_NR_ABIS][FUNCLATENCY_NR_SYSCALLS]);

/* How many names are marked. */
size_t syscalls__count(const __u8 asked[FUNCLATENCY_NR_ABIS][FUNCLATENCY_NR_SYSCALLS]);

/* Offers the names of all to near. */
void syscalls__offer(struct near_names *near);

/* The name of the system call with this number; NULL when there is none. */
const char *syscalls__name(__u32 abi, __u32 number);

/* The system call that a function of the kernel does the work of ("vfs_write" of write), by the
 * form of its name; NULL when there is none. */
const char *syscalls__of_function(const char *function);

#endif
