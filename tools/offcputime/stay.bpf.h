/* SPDX-License-Identifier: GPL-2.0-only */
/* A stay off the CPU: whether it is inside what was asked, and into the table with it. */
#ifndef VANTAGE_OFFCPUTIME_STAY_BPF_H
#define VANTAGE_OFFCPUTIME_STAY_BPF_H

#include "bpf/account.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/stack.bpf.h"
#include "offcputime.h"
#include "thread.bpf.h"

const volatile struct offcputime_config offcputime_config = {};

/* Number of the interval that stays are of; user space ends one by raising it. */
volatile __u64 offcputime_interval = 1;

/* Preallocated: it grows under a run-queue lock. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct offcputime_key);
	__type(value, struct offcputime_row);
} rows SEC(".maps");

/* The time of all that finds no room there. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct offcputime_row);
} rest SEC(".maps");

static const struct offcputime_row no_row;

#define PF_KTHREAD 0x00200000 /* include/linux/sched.h */

struct stay {
	__u64 duration_ns;
	__u64 runnable_ns;
	__u64 kernel_stack;
	__u32 begun_before;
	__u32 unused;
};

/* Its length so far, from the start of the run at the earliest. False when it was over by then. */
static __always_inline bool stay__measure(struct stay *stay, const struct thread *thread,
					  __u64 end_ns)
{
	__u64 begin_ns = thread__begin(thread);

	stay->begun_before = begin_ns < run_started_ns;
	if (stay->begun_before)
		begin_ns = run_started_ns;
	stay->duration_ns = end_ns > begin_ns ? end_ns - begin_ns : 0;
	return !stay->begun_before || end_ns > begin_ns;
}

static __always_inline bool task__is_wanted(struct task_struct *task)
{
	if (!filter__passes(task, task->pid, true))
		return false;
	if (offcputime_config.only_user && task->flags & PF_KTHREAD)
		return false;
	return !offcputime_config.only_kernel || task->flags & PF_KTHREAD;
}

static __always_inline bool stay__is_wanted(const struct stay *stay, const struct thread *thread,
					    struct task_struct *task)
{
	if (offcputime_config.states && !(offcputime_config.states & 1 << thread->state))
		return false;
	if (offcputime_config.state_mask && !(offcputime_config.state_mask & thread->state_bits))
		return false;
	return stay->duration_ns >= offcputime_config.min_ns &&
	       stay->duration_ns <= offcputime_config.max_ns && task__is_wanted(task);
}

static __always_inline void stay__fill_key(const struct stay *stay, const struct thread *thread,
					   struct task_struct *task, struct offcputime_key *key)
{
	key->kernel_stack = stay->kernel_stack;
	key->user_stack = thread->user_stack;
	key->pid = task->tgid;
	key->tid = task->pid;
	task__comm(task, key->comm, true);
}

/* Into the table; the time of what finds no room there, among the rest. One copy. */
static __noinline int stay__add(const struct stay *stay, const struct thread *thread,
				struct task_struct *task)
{
	__u64 interval = offcputime_interval;
	struct offcputime_longest *longest;
	struct offcputime_row *row;
	struct offcputime_key key = {};
	__u32 zero = 0;

	stay__fill_key(stay, thread, task, &key);
	row = bpf_map_lookup_elem(&rows, &key);
	if (!row) {
		bpf_map_update_elem(&rows, &key, &no_row, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&rows, &key);
	}
	if (!row)
		row = bpf_map_lookup_elem(&rest, &zero);
	if (!row)
		return 0;
	row->total_ns += stay->duration_ns;
	row->runnable_ns += stay->runnable_ns;
	if (thread->preempted)
		row->preempted_ns += stay->duration_ns;
	row->begun_before += stay->begun_before;
	longest = &row->longest[interval & 1];
	if (longest->interval != interval || longest->ns < stay->duration_ns) {
		longest->interval = interval;
		longest->ns = stay->duration_ns;
	}
	row->count++;
	return 0;
}

/*
 * Makes good what was missed of a thread that is known to have left its CPU and was switched in
 * without a program to see it. Of a single time the kernel's own account tells when that was; its
 * stack is gone. ahead_ns: by how much CLOCK_MONOTONIC is ahead of the run queue's clock. Called
 * from several places and seldom: one copy.
 */
static __noinline int thread__settle(struct thread *thread, struct task_struct *task,
				     __u64 ahead_ns)
{
	struct account_counters *account = account__open(OFFCPUTIME_STAY);
	struct stay stay = {
		.kernel_stack = offcputime_config.kernel_stacks ? STACK_NOT_SEEN : STACK_NONE,
	};
	__u64 nr = 1, end_ns = 0;
	bool measured;

	if (task__has_own_account(task)) {
		nr = (__u32)task->sched_info.pcount - thread->arrivals;
		end_ns = task->sched_info.last_arrival + ahead_ns;
		thread->arrivals = task->sched_info.pcount;
	}
	measured = stay__measure(&stay, thread, end_ns) && end_ns && nr == 1;
	stay.runnable_ns = thread__runnable_ns(thread, task, 0, stay.duration_ns);
	thread->since_ns = thread->walked_ns = 0;
	if (!account || (end_ns && end_ns < run_started_ns))
		return 0;
	__sync_fetch_and_add(&account->seen, nr);
	if (measured ? !stay__is_wanted(&stay, thread, task) : !task__is_wanted(task))
		__sync_fetch_and_add(&account->filtered, nr);
	else if (measured)
		stay__add(&stay, thread, task);
	else
		__sync_fetch_and_add(&account->lost[ACCOUNT_NO_END], nr);
	return 0;
}

#endif
