/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keeps the task that a program runs in on its CPU until the program is done. A kernel that
 * preempts itself (full; lazy, the default of 7.2) may otherwise run another task in the middle,
 * and skips the same program for that one: it allows one unfinished run on a CPU. What is left is
 * the moment before the first instruction and after the last; the kernel counts what it skips.
 * Does nothing where the kernel has no such function (before 6.10).
 */
#ifndef VANTAGE_BPF_PREEMPT_H
#define VANTAGE_BPF_PREEMPT_H

#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

extern void bpf_preempt_disable(void) __ksym __weak;
extern void bpf_preempt_enable(void) __ksym __weak;

/* Every way out of the program must go by preempt__enable(): the verifier refuses it otherwise. */
static __always_inline void preempt__disable(void)
{
	if (bpf_preempt_disable)
		bpf_preempt_disable();
}

static __always_inline void preempt__enable(void)
{
	if (bpf_preempt_enable)
		bpf_preempt_enable();
}

#endif
