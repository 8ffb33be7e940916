/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Whether the kernel can preempt itself, which decides how functions are best traced: where it
 * can, a program of a trampoline that is preempted makes the kernel skip it for every other task
 * on that CPU, and a kprobe loses none.
 */
#ifndef VANTAGE_RUN_PREEMPTION_H
#define VANTAGE_RUN_PREEMPTION_H

#include <stdbool.h>

struct preemption {
	const char *mode; /* "none", "voluntary", "full", "lazy", or words where it is not known */
	const char *source; /* where that was read */
	bool known;
	bool preempts; /* the kernel preempts itself; true when it is not known */
};

/*
 * Reads the mode: none or voluntary without PREEMPT in the kernel's version; else from the debug
 * file system, or from preempt_dynamic_mode in kernel memory, which takes some ten
 * milliseconds and a privilege to load programs.
 */
void preemption__read(struct preemption *preemption);

#endif
