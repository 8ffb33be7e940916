/* SPDX-License-Identifier: GPL-2.0-only */
/* What is known of each thread: since when it is off the CPU, and in which state it left. */
#ifndef VANTAGE_OFFCPUTIME_THREAD_BPF_H
#define VANTAGE_OFFCPUTIME_THREAD_BPF_H

#include "bpf/kernel.bpf.h"
#include "offcputime.h"

/* Of the two begins the first one that is set counts; each has one writer. */
struct thread {
	__u64 since_ns; /* its switch-out; 0: it is on a CPU, or was not seen to leave */
	__u64 walked_ns; /* when the walk found it off the CPU; 0: it did not */
	__u64 delay_ns; /* what it had waited for CPUs when it left, as the kernel counts it */
	__u64 user_stack;
	__u32 arrivals; /* how often it had been switched in, as the kernel counts it */
	__u32 state; /* enum offcputime_state */
	__u32 state_bits; /* TASK_* */
	__u32 preempted; /* it could have run on */
	__u32 known; /* what it does from here on is seen */
	__u32 unused;
	/* Its stack when the run ended, if it was off the CPU since then. */
	__u64 open_since_ns;
	__u64 open_stack;
};

#include "bpf/threads.bpf.h"

/* include/linux/sched.h */
#define TASK_INTERRUPTIBLE 0x1
#define TASK_UNINTERRUPTIBLE 0x2
#define TASK_STOPPED_BIT 0x4
#define TASK_TRACED_BIT 0x8
#define TASK_PARKED 0x40
#define TASK_WAKEKILL 0x100
#define TASK_NOLOAD 0x400

static __always_inline __u32 state__of_bits(__u32 bits)
{
	if (bits & TASK_INTERRUPTIBLE)
		return OFFCPUTIME_SLEEPING;
	if (bits & TASK_UNINTERRUPTIBLE)
		return bits & TASK_NOLOAD   ? OFFCPUTIME_IDLE :
		       bits & TASK_WAKEKILL ? OFFCPUTIME_KILLABLE :
					      OFFCPUTIME_DISK;
	if (bits & TASK_STOPPED_BIT)
		return OFFCPUTIME_STOPPED;
	if (bits & TASK_TRACED_BIT)
		return OFFCPUTIME_TRACED;
	return bits & TASK_PARKED ? OFFCPUTIME_PARKED : OFFCPUTIME_OTHER;
}

static __always_inline __u64 thread__begin(const struct thread *thread)
{
	return thread->since_ns ? thread->since_ns : thread->walked_ns;
}

/* Notes how it is off the CPU, in everything but since when. bits: its state. */
static __always_inline void thread__note(struct thread *thread, struct task_struct *task,
					 __u32 bits, bool preempt)
{
	bool runnable = task__is_runnable(task);

	thread->known = 1;
	thread->state = runnable ? OFFCPUTIME_RUNNABLE : state__of_bits(bits);
	thread->state_bits = runnable ? 0 : bits;
	/* One that is queued without that was woken on its way to sleep. */
	thread->preempted = runnable && (preempt || !bits);
	if (!task__has_own_account(task))
		return;
	thread->arrivals = task->sched_info.pcount;
	thread->delay_ns = task->sched_info.run_delay;
}

/* Whether it was switched in without a program to see it. It is not just being switched in: the
 * kernel counts that after sched_switch. */
static __always_inline bool thread__came_unseen(const struct thread *thread,
						struct task_struct *task)
{
	return task__has_own_account(task) && thread->arrivals != (__u32)task->sched_info.pcount;
}

/* How long it has been awake and waiting for a CPU since it left one. clock: of its run queue. */
static __always_inline __u64 thread__runnable_ns(const struct thread *thread,
						 struct task_struct *task, __u64 clock,
						 __u64 duration_ns)
{
	__u64 queued, runnable_ns;

	if (thread->preempted)
		return 0;
	if (thread->state == OFFCPUTIME_RUNNABLE)
		return duration_ns;
	if (!task__has_own_account(task))
		return 0;
	queued = task->sched_info.last_queued;
	runnable_ns = task->sched_info.run_delay - thread->delay_ns;
	if (queued && clock > queued)
		runnable_ns += clock - queued;
	return runnable_ns < duration_ns ? runnable_ns : duration_ns;
}

#endif
