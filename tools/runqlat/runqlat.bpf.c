// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long threads wait for a CPU. A wait begins when a thread that was not queued is
 * woken or made, or when one that could run on leaves its CPU; it ends when the thread is
 * switched in. Whether a thread that leaves its CPU stays queued is what the run queue itself
 * says (on_rq): its state can say that it sleeps although it was woken, or has a signal
 * pending, or was preempted on its way to sleep.
 */
#include "bpf/account.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/kernel.bpf.h"
#include "runqlat.h"
#include "thread.bpf.h"
#include "wait.bpf.h"

char LICENSE[] SEC("license") = "GPL";

SEC("?tp_btf/task_newtask")
int BPF_PROG(runqlat_new, struct task_struct *task, unsigned long clone_flags)
{
	struct thread *thread = thread__make(task);

	if (thread)
		thread->known = 1;
	return 0;
}

/* After the end, when threads are switched in and nobody looks: what was missed before. */
static __always_inline void task__settle_at_end(struct task_struct *task)
{
	struct thread *thread = thread__find(task);
	struct runqlat_cpu *cpu;
	struct wait wait = {};
	__u32 zero = 0;

	if (!thread || !thread__was_missed(thread, task))
		return;
	cpu = bpf_map_lookup_elem(&cpus, &zero);
	if (cpu && task->sched_info.last_arrival + cpu->ahead_ns < run_ended_ns &&
	    thread__settle(thread, task, cpu->ahead_ns, &wait) == 1)
		wait__report(&wait, thread, NULL, task, NULL);
}

/* For the threads that are there when the run begins, and once more after its end. */
SEC("?iter/task")
int runqlat_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (!task)
		return 0;
	if (run_ended_ns)
		task__settle_at_end(task);
	else if (!thread__make(task))
		__sync_fetch_and_add(&walk_failures, 1);
	return 0;
}

/* Whoever runs now is the waker. Read as typed memory where the kernel gives a typed pointer. */
static __always_inline void thread__note_waker(struct thread *thread)
{
	struct task_struct *waker;
	const __u64 *comm;

	if (!threads_in_storage) {
		waker = (void *)bpf_get_current_task();
		thread->waker_pid = BPF_CORE_READ(waker, tgid);
		thread->waker_tid = BPF_CORE_READ(waker, pid);
		bpf_get_current_comm(thread->waker_comm, sizeof(thread->waker_comm));
		return;
	}
	waker = bpf_get_current_task_btf();
	comm = (const __u64 *)waker->comm;
	thread->waker_pid = waker->tgid;
	thread->waker_tid = waker->pid;
	__builtin_memcpy(&thread->waker_comm[0], &comm[0], sizeof(*comm));
	__builtin_memcpy(&thread->waker_comm[8], &comm[1], sizeof(*comm));
}

/* Fires in the waker's context, also where the wake-up itself is left to another CPU. */
SEC("?tp_btf/sched_waking")
int BPF_PROG(runqlat_waking, struct task_struct *task)
{
	struct thread *thread = thread__find(task);

	if (!thread || run_ended_ns)
		return 0;
	thread__note_waker(thread);
	/* One that is queued waits already, or runs. */
	if (runqlat_config.from_waking && !thread->since_ns &&
	    (!task__is_queued(task) || task__is_delayed(task)))
		thread__begin_wait(thread, task, task__now(task), RUNQLAT_WOKEN);
	return 0;
}

SEC("?tp_btf/sched_wakeup")
int BPF_PROG(runqlat_wakeup, struct task_struct *task)
{
	struct thread *thread = thread__find(task);

	if (!thread || run_ended_ns)
		return 0;
	thread__catch_up(thread, task);
	if (runqlat_config.waker_at_wakeup)
		thread__note_waker(thread);
	/* It has not left its CPU: whether a wait begins, its switch-out will tell. */
	if (BPF_CORE_READ_BITFIELD(task, on_cpu))
		thread->woken_ns = task__now(task);
	else if (!thread->since_ns)
		thread__begin_wait(thread, task, thread->moved_ns ?: task__now(task),
				   RUNQLAT_WOKEN);
	return 0;
}

/*
 * A sleeper whose dequeue is put off can be moved to another CPU's queue. The kernel's account has
 * it wait from then on, as if it could run (sched_info_enqueue() in kernel/sched/stats.h), until it
 * is switched in after its next wake-up. Seen on 6.18; attached for --clock schedstat alone.
 */
SEC("?tp_btf/sched_migrate_task")
int BPF_PROG(runqlat_migrate, struct task_struct *task)
{
	struct thread *thread;

	if (run_ended_ns || !task__is_delayed(task))
		return 0;
	thread = thread__find(task);
	if (thread && !thread->moved_ns)
		thread->moved_ns = task__now(task);
	return 0;
}

SEC("?tp_btf/sched_wakeup_new")
int BPF_PROG(runqlat_wakeup_new, struct task_struct *task)
{
	struct thread *thread = thread__find(task);

	if (thread && !run_ended_ns)
		thread__begin_wait(thread, task, task__now(task), RUNQLAT_NEW);
	return 0;
}

/*
 * A task leaves its CPU. On kernels that put off a sleeper's dequeue, the scheduler can drop the
 * run-queue lock after that and look for work elsewhere: a wake-up then finds the
 * task queued, and its wait begins there and not at the switch. One that came unseen is caught up
 * with before it is woken unseen, too.
 */
static __always_inline void task__leaves(struct task_struct *task, bool came_unseen, bool preempt,
					 unsigned long long *ctx, __u64 switched_ns, __u64 now_ns)
{
	struct task_struct___delayed *delayed = (void *)task;
	struct thread *thread;
	bool sleeps = !task__is_queued(task) || task__is_delayed(task);

	if (sleeps && !came_unseen)
		return;
	thread = thread__find(task);
	if (!thread)
		return;
	thread__catch_up(thread, task);
	if (sleeps)
		return;
	if (bpf_core_field_exists(delayed->se.sched_delayed) && !preempt && (__u32)ctx[3] &&
	    thread->woken_ns > switched_ns) {
		thread__begin_wait(thread, task, thread->woken_ns, RUNQLAT_WOKEN);
		return;
	}
	thread__begin_wait(thread, task, now_ns, RUNQLAT_PREEMPTED);
	/* sched_info_depart() in kernel/sched/stats.h takes it for asleep. */
	if (runqlat_config.by_run_queue_clock && !task__is_running(task))
		thread->uncounted = 1;
}

/*
 * Begin of the wait of a thread that is being switched in, by the kernel's own account; 0 when that
 * has none, or one from before the run. What a wait was before a migration has been added to the
 * thread's whole.
 */
static __always_inline __u64 thread__queued_since(struct thread *thread, struct task_struct *task,
						  __u64 now_ns, __u64 clock)
{
	__u64 queued, duration_ns;

	queued = task__has_own_account(task) ? task->sched_info.last_queued : 0;
	if (!queued)
		return 0;
	duration_ns = time__between(queued, clock);
	if (thread->known)
		duration_ns += time__between(thread->delay_ns, task->sched_info.run_delay);
	else if (!run_started_ns || bpf_ktime_get_ns() - duration_ns < run_started_ns)
		return 0;
	thread->cause = task->sched_info.pcount ? RUNQLAT_UNSEEN : RUNQLAT_NEW;
	thread->uncounted = 0;
	return now_ns - duration_ns;
}

/* Takes the begin of the wait that ends now; 0, accounted for, when there is none. */
static __always_inline __u64 thread__end_wait(struct thread *thread, struct task_struct *task,
					      __u64 now_ns, __u64 clock,
					      struct account_counters *account)
{
	bool known = thread->known;
	__u64 since_ns;

	thread__catch_up(thread, task);
	since_ns = thread->since_ns;
	if (!since_ns)
		since_ns = thread__queued_since(thread, task, now_ns, clock);
	thread__arrives(thread, task, clock);
	if (!account)
		return 0;
	/* It was queued already when the run began. */
	if (!since_ns && !known) {
		account__add(&account->begun_before);
		return 0;
	}
	account__add(&account->seen);
	if (!since_ns)
		account__add(&account->lost[ACCOUNT_NO_START]);
	return since_ns;
}

/* Who leaves the CPU, and who runs from now on. A task that was switched in unseen has held it for
 * a time that is not known. */
static __always_inline void cpu__switch(struct runqlat_cpu *cpu, struct wait *wait, __u64 clock,
					bool preempt, unsigned long long *ctx,
					struct task_struct *prev, struct task_struct *next)
{
	bool came_unseen = cpu->tid != prev->pid;

	if (cpu->switched_ns && !came_unseen)
		wait->held_ns = time__between(cpu->switched_ns, wait->now_ns);
	/* Idle tasks, one for each CPU, do not wait. */
	if (prev->pid)
		task__leaves(prev, came_unseen, preempt, ctx, wait->now_ns - wait->held_ns,
			     wait->now_ns);
	cpu->switched_ns = wait->now_ns;
	cpu->tid = next->pid;
	cpu->ahead_ns = (runqlat_config.by_run_queue_clock ? bpf_ktime_get_ns() : wait->now_ns) -
			clock;
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(runqlat_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct wait wait = { .now_ns = task__now(next) };
	struct account_counters *account;
	struct thread *thread;
	struct runqlat_cpu *cpu;
	__u64 since_ns, clock;
	__u32 zero = 0;

	/* What waits at the end of the run stays so until it is counted. */
	cpu = bpf_map_lookup_elem(&cpus, &zero);
	if (!cpu || run_ended_ns)
		return 0;
	clock = task__has_own_account(next) ? task__clock(next) : wait.now_ns;
	cpu__switch(cpu, &wait, clock, preempt, ctx, prev, next);
	if (!next->pid)
		return 0;

	account = account__open(RUNQLAT_WAIT);
	thread = thread__find_or_adopt(next);
	if (!thread) {
		if (account) {
			account__add(&account->seen);
			account__add(&account->lost[ACCOUNT_NO_STORAGE]);
		}
		return 0;
	}
	since_ns = thread__end_wait(thread, next, wait.now_ns, clock, account);
	if (!since_ns)
		return 0;
	wait.duration_ns = time__between(since_ns, wait.now_ns);
	wait.cause = thread->cause;
	if ((runqlat_config.by_run_queue_clock && thread->uncounted) ||
	    !filter__passes(next, next->pid, true))
		account__add(&account->filtered);
	else
		wait__report(&wait, thread, prev, next, cpu);
	return 0;
}

/* After the end: the threads that still wait. */
SEC("?iter/task")
int runqlat_open(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct account_counters *account;
	struct runqlat_open open = {};
	struct thread *thread;
	__u64 now_ns;

	if (!task || !task->pid)
		return 0;
	thread = thread__find(task);
	if (!thread || !thread->since_ns)
		return 0;
	account = account__see(RUNQLAT_WAIT);
	if (!account)
		return 0;
	if (!filter__passes(task, task->pid, true)) {
		account__add(&account->filtered);
		return 0;
	}
	now_ns = runqlat_config.by_run_queue_clock ? task__now(task) : run_ended_ns;
	open.age_ns = now_ns > thread->since_ns ? now_ns - thread->since_ns : 0;
	open.pid = task->tgid;
	open.tid = task->pid;
	open.cause = thread->cause;
	task__fill_comm(task, open.comm);
	bpf_seq_write(ctx->meta->seq, &open, sizeof(open));
	return 0;
}
