/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel side of the account: counters that only grow, and the gate that keeps
 * anything from being counted before all programs are attached.
 */
#ifndef VANTAGE_BPF_ACCOUNT_H
#define VANTAGE_BPF_ACCOUNT_H

#include "bpf/kernel.bpf.h"
#include "shared/account.h"

/* CLOCK_MONOTONIC at which the run began; 0 until everything is attached. */
volatile __u64 run_started_ns = 0;

/* CLOCK_MONOTONIC at which it ended, before anything is detached; 0 until then. For what has to
 * stay as it was at that moment. */
volatile __u64 run_ended_ns = 0;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, ACCOUNT_NR_COUNTERS);
	__type(key, __u32);
	__type(value, struct account_counters);
} account_counters SEC(".maps");

/* Atomic although per CPU: one program can interrupt another on its own CPU. */
static __always_inline void account__add(__u64 *counter)
{
	__sync_fetch_and_add(counter, 1);
}

/* The counters of a kind on this CPU; NULL while the gate is closed: nothing is an event then. */
static __always_inline struct account_counters *account__open(__u32 kind)
{
	return run_started_ns ? bpf_map_lookup_elem(&account_counters, &kind) : NULL;
}

/* Counts an event as seen, before any filter. NULL while the gate is closed: not an event. */
static __always_inline struct account_counters *account__see(__u32 kind)
{
	struct account_counters *counters = account__open(kind);

	if (counters)
		account__add(&counters->seen);
	return counters;
}

#endif
