/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The end of a process, seen from sched_process_exit, which fires for every
 * thread: which thread's exit is the process's, and what the process used.
 */
#ifndef VANTAGE_BPF_PROCESS_END_H
#define VANTAGE_BPF_PROCESS_END_H

#include "bpf/kernel.bpf.h"

struct process_identity {
	__u64 fork_ns;
	__u64 pid;
};

/* Ends already reported by a process that had several threads. Recent ones are all that is
 * needed: threads that end together do so within microseconds. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, struct process_identity);
	__type(value, __u8);
} process_ends SEC(".maps");

/*
 * Whether this thread's exit is the end of its process; true exactly once.
 * ctx: of a tp_btf program on sched_process_exit. Since 6.16 the tracepoint says
 * it. Before, signal->live has fallen to 0 by the time the last thread gets here,
 * but for every thread that ends at that moment, too: the first one claims it.
 */
static __always_inline bool process__ends(struct task_struct *task, unsigned long long *ctx)
{
	struct signal_struct *signal = task->signal;
	struct process_identity identity = {};
	__u8 claimed = 1;

	if (bpf_core_field_exists(struct trace_event_raw_sched_process_exit___group_dead,
				  group_dead))
		return ctx[1] & 1;
	if (signal->live.counter)
		return false;
	/* Released threads leave their run time here: none, and none but this one left, means
	 * that there was never a second thread to claim the end. */
	if (signal->nr_threads == 1 && !signal->sum_sched_runtime)
		return true;
	identity.fork_ns = task->group_leader->start_time;
	identity.pid = task->tgid;
	return !bpf_map_update_elem(&process_ends, &identity, &claimed, BPF_NOEXIST);
}

/* The status wait() gives for the process (kernel/exit.c, wait_task_zombie). */
static __always_inline __u32 process__exit_status(struct task_struct *leader)
{
	struct signal_struct *signal = leader->signal;

	return signal->flags & SIGNAL_GROUP_EXIT ? signal->group_exit_code : leader->exit_code;
}

struct process_times {
	__u64 utime_ns;
	__u64 stime_ns;
	__u64 runtime_ns;
};

/*
 * Threads that are added up while they end, and readings. The verifier walks through every
 * one of them at load: 512 threads and three readings took it 80 ms, these take 3.
 */
#define PROCESS_THREADS_MAX 32
#define PROCESS_TIMES_TRIES 2

/* Adds the threads that are not released yet. False if there are too many. */
static __always_inline bool process__add_threads(struct signal_struct *signal,
						 struct process_times *times)
{
	struct list_head *head = &signal->thread_head;
	struct list_head *node = BPF_CORE_READ(signal, thread_head.next);

	for (int i = 0; i < PROCESS_THREADS_MAX; i++) {
		struct task_struct *thread;

		if ((__u64)node == (__u64)head)
			return true;
		thread = (void *)((__u64)node -
				  bpf_core_field_offset(struct task_struct, thread_node));
		times->utime_ns += BPF_CORE_READ(thread, utime);
		times->stime_ns += BPF_CORE_READ(thread, stime);
		times->runtime_ns += BPF_CORE_READ(thread, se.sum_exec_runtime);
		node = BPF_CORE_READ(node, next);
	}
	return false;
}

/*
 * CPU time of all threads the process ever had, as thread_group_cputime() adds it
 * (kernel/sched/cputime.c). A thread moves from the list to the sums under stats_lock,
 * so a reading during which the lock was taken is made again. False if it did not succeed.
 */
static __always_inline bool process__times(struct task_struct *task, struct process_times *times)
{
	struct signal_struct *signal = task->signal;

	/* Alone, it is what is left of the process: nothing moves any more. */
	if (*(volatile int *)&signal->nr_threads == 1) {
		times->utime_ns = signal->utime + task->utime;
		times->stime_ns = signal->stime + task->stime;
		times->runtime_ns = signal->sum_sched_runtime + task->se.sum_exec_runtime;
		return true;
	}
	for (int i = 0; i < PROCESS_TIMES_TRIES; i++) {
		__u32 sequence = BPF_CORE_READ(signal, stats_lock.seqcount.seqcount.sequence);

		times->utime_ns = signal->utime;
		times->stime_ns = signal->stime;
		times->runtime_ns = signal->sum_sched_runtime;
		if (!process__add_threads(signal, times))
			return false;
		if (!(sequence & 1) &&
		    sequence == BPF_CORE_READ(signal, stats_lock.seqcount.seqcount.sequence))
			return true;
	}
	return false;
}

#endif
