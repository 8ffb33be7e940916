/* SPDX-License-Identifier: GPL-2.0-only */
/* A wait that has ended, into the report: the histograms and the records of the longest. */
#ifndef VANTAGE_RUNQLAT_WAIT_BPF_H
#define VANTAGE_RUNQLAT_WAIT_BPF_H

#include "bpf/account.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/hist.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/ring.bpf.h"
#include "bpf/slowest.bpf.h"
#include "runqlat.h"
#include "thread.bpf.h"

struct runqlat_cpu {
	__u64 switched_ns; /* when the task that runs now was switched in */
	__u64 ahead_ns; /* by how much CLOCK_MONOTONIC is ahead of the run queue's clock */
	struct slowest_of_cpu slowest;
	__u32 tid; /* of that task */
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runqlat_cpu);
} cpus SEC(".maps");

struct wait {
	__u64 now_ns;
	__u64 duration_ns;
	__u64 held_ns; /* by the task before, 0: not known */
	__u32 cause; /* enum runqlat_cause */
	__u32 unused;
};

static __always_inline void task__fill_comm(struct task_struct *task, char comm[RUNQLAT_COMM_SIZE])
{
	bpf_probe_read_kernel_str(comm, RUNQLAT_COMM_SIZE, task->comm);
}

/* prev: NULL when not known. False when the ring has no room. */
static __always_inline bool wait__send(const struct wait *wait, const struct thread *thread,
				       struct task_struct *prev, struct task_struct *next)
{
	struct runqlat_slow *slow = bpf_ringbuf_reserve(&event_ring, sizeof(*slow), 0);
	bool woken = wait->cause == RUNQLAT_WOKEN;

	if (!slow)
		return false;
	slow->event.time_ns = runqlat_config.by_run_queue_clock ? bpf_ktime_get_ns() : wait->now_ns;
	slow->event.duration_ns = wait->duration_ns;
	slow->event.interval = hist_interval;
	slow->prev_ns = wait->held_ns;
	slow->pid = next->tgid;
	slow->tid = next->pid;
	slow->cpu = bpf_get_smp_processor_id();
	slow->cause = wait->cause;
	slow->prev_seen = !!prev;
	slow->prev_pid = prev ? prev->tgid : 0;
	slow->prev_tid = prev ? prev->pid : 0;
	slow->waker_pid = woken ? thread->waker_pid : 0;
	slow->waker_tid = woken ? thread->waker_tid : 0;
	task__fill_comm(next, slow->comm);
	if (prev)
		task__fill_comm(prev, slow->prev_comm);
	else
		slow->prev_comm[0] = '\0';
	__builtin_memcpy(slow->waker_comm, thread->waker_comm, RUNQLAT_COMM_SIZE);
	ring__submit(slow, sizeof(*slow));
	return true;
}

static __always_inline __u32 task__pid_ns(struct task_struct *task)
{
	struct pid *pid = task->thread_pid;
	struct upid upid = {};

	bpf_probe_read_kernel(&upid, sizeof(upid), &pid->numbers[pid->level]);
	return upid.ns ? BPF_CORE_READ(upid.ns, ns.inum) : 0;
}

/* False when the table has no room. */
static __always_inline bool wait__add_keyed(const struct wait *wait, __u32 cause,
					    struct task_struct *task)
{
	const __u32 by = runqlat_config.by;
	struct hist_key key = {};
	char name[HIST_NAME_SIZE];
	bool named = by & (1 << HIST_BY_PID | 1 << HIST_BY_TID);

	if (by & (1 << HIST_BY_PID | 1 << HIST_BY_TID))
		key.pid = task->tgid;
	if (by & 1 << HIST_BY_TID)
		key.tid = task->pid;
	if (by & 1 << HIST_BY_COMM)
		/* By helper: of a key, the bytes behind the name count, too. */
		task__process_comm(task, key.comm, false);
	if (by & 1 << HIST_BY_CGROUP)
		key.cgroup_id = task__cgroup_id(task);
	if (by & 1 << HIST_BY_CPU)
		key.cpu = bpf_get_smp_processor_id();
	if (by & 1 << RUNQLAT_BY_CAUSE)
		key.cause = cause;
	if (by & 1 << RUNQLAT_BY_PIDNS)
		key.pid_ns = task__pid_ns(task);
	if (by & 1 << HIST_BY_TID)
		task__fill_comm(task, name);
	else if (named)
		task__process_comm(task, name, false);
	return hist__add_keyed(&key, named ? name : NULL, wait->now_ns, wait->duration_ns);
}

/* A wait that is inside what was asked, into the report. cpu: NULL after the end of the run, when
 * nobody reads the ring. One copy. */
static __noinline int wait__report(const struct wait *wait, const struct thread *thread,
				   struct task_struct *prev, struct task_struct *next,
				   struct runqlat_cpu *cpu)
{
	struct account_counters *account;
	bool send = false;

	if (!runqlat_config.by) {
		hist__add(wait->duration_ns);
	} else if (!wait__add_keyed(wait, wait->cause, next)) {
		account = account__open(RUNQLAT_WAIT);
		if (account)
			account__add(&account->lost[ACCOUNT_MAP_FULL]);
		return 0;
	}
	if (runqlat_config.slowest && cpu)
		send = slowest__takes(&cpu->slowest, runqlat_config.slowest, wait->duration_ns);
	if (runqlat_config.slower_ns && wait->duration_ns > runqlat_config.slower_ns)
		send = true;
	if (send && (!cpu || !wait__send(wait, thread, prev, next))) {
		account = account__open(RUNQLAT_WAIT);
		if (account)
			account__add(&account->detail_lost[ACCOUNT_DETAIL_SLOW]);
	}
	return 0;
}

/*
 * Makes good the switch-ins of a thread that no program saw (see thread__was_missed). Of a single
 * one the kernel's own account tells how long the wait was: to that switch-in from the begin that
 * was seen; or, when the begin was not seen either, what was added to the time that the thread
 * has waited. ahead_ns: by how much CLOCK_MONOTONIC is ahead of the run queue's clock. wait: is
 * filled; returns 1 when it is to be reported. Called from many places and seldom: one copy.
 */
static __noinline int thread__settle(struct thread *thread, struct task_struct *task,
				     __u64 ahead_ns, struct wait *wait)
{
	struct account_counters *account = account__open(RUNQLAT_WAIT);
	__u32 arrivals = task->sched_info.pcount, nr = arrivals - thread->arrivals;
	__u64 delay_ns = task->sched_info.run_delay;
	bool begin_seen;

	wait->now_ns = task->sched_info.last_arrival +
		       (runqlat_config.by_run_queue_clock ? 0 : ahead_ns);
	/* A begin after that is of a wait that has not ended. */
	begin_seen = thread->since_ns && thread->since_ns <= wait->now_ns;
	wait->duration_ns = begin_seen ? wait->now_ns - thread->since_ns :
					 time__between(thread->delay_ns, delay_ns);
	wait->cause = begin_seen ? thread->cause : thread->arrivals ? RUNQLAT_UNSEEN : RUNQLAT_NEW;
	if (begin_seen)
		thread->since_ns = 0;
	thread->arrivals = arrivals;
	thread->delay_ns = delay_ns;
	if (!account)
		return 0;
	__sync_fetch_and_add(&account->seen, nr);
	if (!filter__passes(task, task->pid, true)) {
		__sync_fetch_and_add(&account->filtered, nr);
		return 0;
	}
	if (nr == 1)
		return 1;
	__sync_fetch_and_add(&account->lost[ACCOUNT_NO_END], nr);
	return 0;
}

/* The same during the run: with the task's run-queue lock held. */
static __always_inline void thread__catch_up(struct thread *thread, struct task_struct *task)
{
	struct runqlat_cpu *cpu;
	struct wait wait = {};
	__u32 zero = 0;

	if (!thread__was_missed(thread, task))
		return;
	cpu = bpf_map_lookup_elem(&cpus, &zero);
	if (cpu && thread__settle(thread, task, bpf_ktime_get_ns() - task__clock(task), &wait) == 1)
		wait__report(&wait, thread, NULL, task, cpu);
}

#endif
