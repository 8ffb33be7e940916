/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is known of each thread: since when it waits, and why. Here are also the facts that are
 * read from its task_struct, among them what the kernel itself keeps of its waits
 * (CONFIG_SCHED_INFO): that is how waits are made good whose begin or end no program was shown. A
 * program can be kept from running, and a kernel can keep what one of its tasks does from all
 * tracing.
 */
#ifndef VANTAGE_RUNQLAT_THREAD_BPF_H
#define VANTAGE_RUNQLAT_THREAD_BPF_H

#include "bpf/kernel.bpf.h"
#include "runqlat.h"

const volatile struct runqlat_config runqlat_config = {};

/* Fields that not every kernel has. */
struct task_struct___throttled {
	bool throttled; /* 6.18: taken off its queue until its group may run again */
} __attribute__((preserve_access_index));
struct cfs_rq___bandwidth {
	int throttle_count; /* with CONFIG_CFS_BANDWIDTH: groups above it that may not run */
} __attribute__((preserve_access_index));

/* What is known of a thread. */
struct thread {
	__u64 since_ns; /* begin of its wait; 0: it does not wait */
	__u64 woken_ns; /* last wake-up while it was on a CPU */
	__u64 moved_ns; /* when it was moved to another queue asleep; 0: it was not */
	__u32 cause;
	__u32 known; /* its waits are known from here on: those before are over */
	__u32 uncounted; /* schedstat does not count its wait */
	__u32 arrivals; /* switch-ins that the kernel has counted, to the last that was seen */
	__u64 delay_ns; /* what they had to wait for, as the kernel counts it */
	__u32 waker_pid;
	__u32 waker_tid;
	char waker_comm[RUNQLAT_COMM_SIZE] __attribute__((aligned(8)));
};

#include "bpf/threads.bpf.h"

/* As the kernel's task_is_running(): a thread on its way to sleep does not. */
static __always_inline bool task__is_running(struct task_struct *task)
{
	return !task__state(task);
}

/* Whether the thread cannot run because of its group's quota. */
static __always_inline bool task__is_throttled(struct task_struct *task)
{
	struct task_struct___throttled *throttled = (void *)task;
	struct cfs_rq___bandwidth *queue = NULL;

	if (bpf_core_field_exists(throttled->throttled))
		return throttled->throttled;
	if (!bpf_core_field_exists(queue->throttle_count) ||
	    !bpf_core_field_exists(task->se.cfs_rq))
		return false;
	queue = (void *)task->se.cfs_rq;
	return queue->throttle_count;
}

/*
 * The clock that waits are measured by. The run queue's own is what schedstat counts with: it
 * stands still between a wake-up that preempts and the switch (rq_clock_skip_update),
 * which takes from the woken thread's wait and adds to that of the preempted one.
 */
static __always_inline __u64 task__now(struct task_struct *task)
{
	return runqlat_config.by_run_queue_clock ? task->se.cfs_rq->rq->clock : bpf_ktime_get_ns();
}

/* From one time to another; 0 when that is not later: clocks of run queues differ by a little, and
 * what the kernel's account will be after a switch is foretold. */
static __always_inline __u64 time__between(__u64 from_ns, __u64 to_ns)
{
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* Whether it was switched in without a program to see it. Its run-queue lock is held, and it is
 * not just being switched in: the kernel counts that after sched_switch. */
static __always_inline bool thread__was_missed(const struct thread *thread,
					       struct task_struct *task)
{
	return task__has_own_account(task) && thread->known &&
	       thread->arrivals != (__u32)task->sched_info.pcount;
}

/* Takes it as known from here on; it is not being switched in. */
static __always_inline void thread__know(struct thread *thread, struct task_struct *task)
{
	thread->known = 1;
	if (!task__has_own_account(task))
		return;
	thread->arrivals = task->sched_info.pcount;
	thread->delay_ns = task->sched_info.run_delay;
}

/* At its switch-in, as sched_info_arrive() in kernel/sched/stats.h will do. clock: the one of the
 * kernel's account. */
static __always_inline void thread__arrives(struct thread *thread, struct task_struct *task,
					    __u64 clock)
{
	__u64 queued;

	thread->since_ns = 0;
	thread->moved_ns = 0;
	thread->known = 1;
	if (!task__has_own_account(task))
		return;
	queued = task->sched_info.last_queued;
	thread->arrivals = task->sched_info.pcount + !!queued;
	thread->delay_ns = task->sched_info.run_delay + (queued ? time__between(queued, clock) : 0);
}

static __always_inline void thread__begin_wait(struct thread *thread, struct task_struct *task,
					       __u64 since_ns, __u32 cause)
{
	if (!thread->known)
		thread__know(thread, task);
	thread->since_ns = since_ns;
	thread->uncounted = 0;
	thread->cause = task__is_throttled(task) ? RUNQLAT_THROTTLED : cause;
}

/* For a thread that no walk has shown. */
static __always_inline struct thread *thread__find_or_adopt(struct task_struct *task)
{
	struct thread *thread = thread__find(task);

	if (thread)
		return thread;
	thread = thread__adopt(task);
	/* One that was made during the run has not been switched in before, or was missed. */
	if (thread && run_started_ns && task->start_time >= run_started_ns)
		thread->known = 1;
	return thread;
}

#endif
