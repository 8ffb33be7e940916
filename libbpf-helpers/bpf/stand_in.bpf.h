/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A stand-in for a program that the kernel skips. The kernel allows one unfinished run of a
 * program on a CPU. Where it guards tracepoints by SRCU, and no longer by keeping the task on its
 * CPU, a task can be preempted in the middle of a program, and that program is skipped for whoever
 * has the CPU then. A stand-in is a second instance of the program, attached behind it, that
 * handles what the first one has not marked. What both were skipped for is missed; user space
 * subtracts what the stand-in has done from what the kernel says the first one has missed.
 *
 * On kernels without this fault all of it is constant at load: the program marks nothing, and its
 * stand-in has nothing left to do, and is not attached (run/attach.h).
 */
#ifndef VANTAGE_BPF_STAND_IN_H
#define VANTAGE_BPF_STAND_IN_H

#include "bpf/account.bpf.h"

/* include/linux/srcu.h: the guard that the kernel got for its tracepoints (7.x). */
typedef struct {
	int unused;
} class_srcu_fast_notrace_t;

struct handled_event {
	__u64 task; /* its address: one task has one event of an index at a time */
	__u64 index;
};

/* Between a program and its stand-in: no more than there can be tasks that were preempted there,
 * but a stand-in that was skipped leaves one behind. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, struct handled_event);
	__type(value, __u8);
} handled_events SEC(".maps");

static __always_inline bool stand_in__is_needed(void)
{
	return bpf_core_type_exists(class_srcu_fast_notrace_t);
}

/*
 * Of the program itself, at every run: marks the event. False if it could not: it is left to the
 * stand-in. index: of account_counters.
 */
static __always_inline bool stand_in__mark(struct task_struct *task, __u32 index)
{
	struct handled_event event = { .task = (__u64)task, .index = index };
	struct account_counters *account;
	__u8 marked = 1;

	if (!stand_in__is_needed() ||
	    !bpf_map_update_elem(&handled_events, &event, &marked, BPF_ANY))
		return true;
	account = bpf_map_lookup_elem(&account_counters, &index);
	if (account)
		account__add(&account->left_to_stand_in);
	return false;
}

/* Of the stand-in, at every run: whether the event is its to handle. */
static __always_inline bool stand_in__takes(struct task_struct *task, __u32 index)
{
	struct handled_event event = { .task = (__u64)task, .index = index };
	struct account_counters *account;

	if (!stand_in__is_needed() || !bpf_map_delete_elem(&handled_events, &event))
		return false;
	account = bpf_map_lookup_elem(&account_counters, &index);
	if (account)
		account__add(&account->stood_in);
	return true;
}

#endif
