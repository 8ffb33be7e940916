/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a tool keeps of each thread, in task storage or, before 5.11, in a hash; and what the
 * scheduler itself knows of a thread. The tool defines struct thread, in which all zero is a
 * thread that nothing is known of, before it includes this.
 */
#ifndef VANTAGE_BPF_THREADS_H
#define VANTAGE_BPF_THREADS_H

#include "bpf/account.bpf.h"
#include "bpf/kernel.bpf.h"

/* Whether task storage is used; set before load (collect/threads.h). */
const volatile __u32 threads_in_storage = 0;

#define TASK_DEAD 0x80 /* include/linux/sched.h: it leaves its CPU for the last time */

/* Fields that not every kernel has. */
struct sched_entity___delayed {
	unsigned char sched_delayed; /* 6.12: asleep, and still queued for the time being */
} __attribute__((preserve_access_index));
struct task_struct___delayed {
	struct sched_entity___delayed se;
} __attribute__((preserve_access_index));
struct task_struct___state {
	long state; /* before 5.14 */
} __attribute__((preserve_access_index));

/* 6.4: task storage has an allocator that may be used under a run-queue lock. */
struct bpf_local_storage_map___allocator {
	struct bpf_mem_alloc___any {
		int percpu;
	} selem_ma;
} __attribute__((preserve_access_index));
/* 7.0: or it is kmalloc_nolock(), which is for that, too. */
struct bpf_local_storage_map___nolock {
	bool use_kmalloc_nolock;
} __attribute__((preserve_access_index));

/* Elements are made in process context and only looked up under a run-queue lock. */
struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct thread);
} threads SEC(".maps");

struct thread_by_tid {
	struct thread thread;
	__u64 start_time; /* with the id, the identity of the thread */
};

/* In place of task storage before 5.11. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct thread_by_tid);
} threads_by_tid SEC(".maps");

/* Threads for which the walk found no memory; it counts them here. */
__u64 walk_failures = 0;

static __always_inline struct thread *thread__find(struct task_struct *task)
{
	struct thread_by_tid *by_tid;
	__u32 tid;

	if (threads_in_storage)
		return bpf_task_storage_get(&threads, task, NULL, 0);
	tid = task->pid;
	by_tid = bpf_map_lookup_elem(&threads_by_tid, &tid);
	return by_tid && by_tid->start_time == task->start_time ? &by_tid->thread : NULL;
}

/* In process context only: finds it, or makes it all zero. NULL when there is no memory. */
static __always_inline struct thread *thread__make(struct task_struct *task)
{
	struct thread_by_tid by_tid = {};
	struct thread *thread;
	__u32 tid;

	if (threads_in_storage)
		return bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
	thread = thread__find(task);
	if (thread)
		return thread;
	tid = task->pid;
	by_tid.start_time = task->start_time;
	bpf_map_update_elem(&threads_by_tid, &tid, &by_tid, BPF_ANY);
	return thread__find(task);
}

/* For a thread that no walk has shown: some kernels hide tasks from the iterator. NULL where it
 * cannot be done under a run-queue lock. */
static __always_inline struct thread *thread__adopt(struct task_struct *task)
{
	if (!threads_in_storage ||
	    (!bpf_core_field_exists(struct bpf_local_storage_map___allocator, selem_ma) &&
	     !bpf_core_field_exists(struct bpf_local_storage_map___nolock, use_kmalloc_nolock)))
		return NULL;
	return bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Without task storage: forgets a thread, unless its id is in use again. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(threads_free, struct task_struct *task)
{
	__u32 tid = task->pid;

	if (thread__find(task))
		bpf_map_delete_elem(&threads_by_tid, &tid);
	return 0;
}

/* Read as bit fields: their sizes differ between kernels. */
static __always_inline bool task__is_queued(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, on_rq);
}

static __always_inline bool task__is_on_cpu(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, on_cpu);
}

/* Whether the thread sleeps although it is still queued. */
static __always_inline bool task__is_delayed(struct task_struct *task)
{
	struct task_struct___delayed *delayed = (void *)task;

	return bpf_core_field_exists(delayed->se.sched_delayed) && delayed->se.sched_delayed;
}

/* Whether it could run, with a CPU: it does, or waits for one. */
static __always_inline bool task__is_runnable(struct task_struct *task)
{
	return task__is_queued(task) && !task__is_delayed(task);
}

/* Its state as the kernel keeps it: bits of TASK_*, 0 for running. */
static __always_inline __u32 task__state(struct task_struct *task)
{
	struct task_struct___state *old = (void *)task;

	return bpf_core_field_exists(old->state) ? old->state : task->__state;
}

/* Whether the kernel keeps an account of its own of each task's waits (CONFIG_SCHED_INFO). */
static __always_inline bool task__has_own_account(struct task_struct *task)
{
	return bpf_core_field_exists(task->sched_info.pcount) &&
	       bpf_core_field_exists(task->se.cfs_rq);
}

/* The clock of that account: of the task's run queue, whose lock is held. */
static __always_inline __u64 task__clock(struct task_struct *task)
{
	return task->se.cfs_rq->rq->clock;
}

#endif
