/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Empty programs attached by every mechanism: the floor under any tool. Which
 * mechanisms a kernel has is found by loading and attaching, and by nothing else.
 */
#ifndef VANTAGE_BENCH_MECHANISMS_H
#define VANTAGE_BENCH_MECHANISMS_H

#include "cost.h"

/* Width of the first column of all tables. */
#define NAME_WIDTH 54

/* One place to attach to or the other, or both. */
enum places { AT_ENTRY = 1, AT_RETURN = 2, AT_BOTH = AT_ENTRY | AT_RETURN };

/* Prints a table: the workload with nothing attached and then with each mechanism. */
void measure_mechanisms(const struct workload *workload);

/* Instructions inside empty tp_btf programs at sched_process_exec (AT_ENTRY) and
 * sched_process_exit (AT_RETURN), as measure_mechanisms(&executing) saw them; 0 before that. */
double exec_floor(enum places places);

/* The compiler of this build's BPF programs. */
const char *bpf_compiler(void);

#endif
