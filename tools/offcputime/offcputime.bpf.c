// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where threads are while they are off the CPU. A stay begins when a thread is switched out, or
 * made, and ends when it is switched in: there its time is charged to it, and its kernel stack is
 * taken, of which nothing has moved since. What is left out by then costs no stack.
 */
#include "bpf/account.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/stack.bpf.h"
#include "offcputime.h"
#include "stay.bpf.h"
#include "thread.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* By how much CLOCK_MONOTONIC was ahead of the run queues' clocks lately, and since when that is
 * the least. The clock of a run queue can stand still for a while (rq_clock_skip_update). */
__u64 clocks_ahead_ns = 0;
__u64 clocks_read_ns = 0;

#define CLOCKS_GOOD_NS 100000000

/* A new thread waits for its first CPU. */
SEC("?tp_btf/task_newtask")
int BPF_PROG(offcputime_new, struct task_struct *task, unsigned long clone_flags)
{
	struct thread *thread = thread__make(task);

	if (!thread || run_ended_ns)
		return 0;
	thread->known = 1;
	thread->state = OFFCPUTIME_RUNNABLE;
	thread->since_ns = bpf_ktime_get_ns();
	return 0;
}

/* For the threads that are there when the run begins: those off the CPU have their stays charged
 * from then on. */
SEC("?iter/task")
int offcputime_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *thread;
	__u32 bits;

	if (!task || !task->pid)
		return 0;
	thread = thread__make(task);
	if (!thread) {
		__sync_fetch_and_add(&walk_failures, 1);
		return 0;
	}
	/* From the switch that lets it run until it is on the CPU, it seemed to be off it: the walk
	 * before was wrong. */
	if (task__is_on_cpu(task)) {
		thread->walked_ns = 0;
		thread->known = 1;
		return 0;
	}
	bits = task__state(task);
	if (thread->known || bits & TASK_DEAD)
		return 0;
	thread__note(thread, task, bits, true);
	thread->user_stack = offcputime_config.user_stacks && !(task->flags & PF_KTHREAD) ?
				     STACK_NOT_SEEN :
				     STACK_NONE;
	thread->walked_ns = bpf_ktime_get_ns();
	barrier();
	if (task__is_on_cpu(task))
		thread->walked_ns = 0;
	return 0;
}

/* Its maps are read while it lives. */
SEC("?tp_btf/sched_process_exec")
int BPF_PROG(offcputime_exec, struct task_struct *task)
{
	if (!run_ended_ns && task__is_wanted(task))
		stack__tell_process(task);
	return 0;
}

/* preempt, ctx: the tracepoint's. */
static __always_inline void thread__leaves(struct task_struct *task, bool preempt,
					   unsigned long long *ctx, __u64 now_ns)
{
	struct task_struct___delayed *delayed = (void *)task;
	struct thread *thread = thread__find(task);
	__u32 bits;

	if (!thread)
		thread = thread__adopt(task);
	if (!thread)
		return;
	if (thread__begin(thread))
		thread__settle(thread, task, now_ns - task__clock(task));
	/* Before 6.12, a wake-up that comes just now can have changed it. */
	bits = bpf_core_field_exists(delayed->se.sched_delayed) ? (__u32)ctx[3] : task__state(task);
	thread__note(thread, task, bits, preempt);
	thread->walked_ns = 0;
	thread->since_ns = thread->state != OFFCPUTIME_RUNNABLE && bits & TASK_DEAD ? 0 : now_ns;
	thread->user_stack = STACK_NONE;
	/* Only its own memory can be read, and that while it is the current task. */
	if (offcputime_config.user_stacks && thread->since_ns && !(task->flags & PF_KTHREAD) &&
	    task__is_wanted(task))
		thread->user_stack = stack__of_user(ctx, task, STACK_IN_SWITCH);
}

/* What the clock of the task's run queue is now, without standing still. Its lock is held. */
static __always_inline __u64 clocks__real(struct task_struct *task, __u64 now_ns)
{
	__u64 ahead_ns = now_ns - task__clock(task);

	if (ahead_ns < clocks_ahead_ns || now_ns - clocks_read_ns > CLOCKS_GOOD_NS) {
		clocks_ahead_ns = ahead_ns;
		clocks_read_ns = now_ns;
	}
	return now_ns - clocks_ahead_ns;
}

/* Takes the begin of the stay that ends now, and measures it. False, accounted for, when there is
 * none to charge. */
static __always_inline bool thread__end_stay(struct thread *thread, struct task_struct *task,
					     __u64 now_ns, struct account_counters *account,
					     struct stay *stay)
{
	bool known = thread->known, begun;

	if (thread__begin(thread) && thread__came_unseen(thread, task))
		thread__settle(thread, task, now_ns - task__clock(task));
	begun = thread__begin(thread);
	if (begun)
		stay__measure(stay, thread, now_ns);
	thread->since_ns = thread->walked_ns = 0;
	thread->known = 1;
	if (!account)
		return false;
	/* It was off the CPU when the run began, and no walk has shown it. */
	if (!begun && !known) {
		account__add(&account->begun_before);
		return false;
	}
	account__add(&account->seen);
	if (!begun) {
		account__add(task__is_wanted(task) ? &account->lost[ACCOUNT_NO_START] :
						     &account->filtered);
		return false;
	}
	stay->runnable_ns = thread__runnable_ns(thread, task, clocks__real(task, now_ns),
						stay->duration_ns);
	return true;
}

static __always_inline void thread__returns(struct task_struct *task, __u64 now_ns)
{
	struct account_counters *account = account__open(OFFCPUTIME_STAY);
	struct thread *thread = thread__find(task);
	struct stay stay = {};

	if (!thread)
		thread = thread__adopt(task);
	if (!thread) {
		if (account) {
			account__add(&account->seen);
			account__add(task__is_wanted(task) ? &account->lost[ACCOUNT_NO_STORAGE] :
							     &account->filtered);
		}
		return;
	}
	if (!thread__end_stay(thread, task, now_ns, account, &stay))
		return;
	if (!stay__is_wanted(&stay, thread, task)) {
		account__add(&account->filtered);
		return;
	}
	if (offcputime_config.kernel_stacks)
		stay.kernel_stack = stack__of_task(task, STACK_IN_SWITCH);
	stay__add(&stay, thread, task);
}

SEC("?tp_btf/sched_switch")
int BPF_PROG(offcputime_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	__u64 now_ns = bpf_ktime_get_ns();

	/* Who is off the CPU at the end of the run stays so until it is counted. */
	if (run_ended_ns)
		return 0;
	/* Idle tasks, one for each CPU, wait for nothing. */
	if (prev->pid)
		thread__leaves(prev, preempt, ctx, now_ns);
	if (next->pid)
		thread__returns(next, now_ns);
	return 0;
}

/* The stack of a stay that has not ended; if the thread runs by now, that is gone. */
static __always_inline __u64 thread__open_stack(const struct thread *thread,
						struct task_struct *task)
{
	__u64 stack;

	if (thread->open_since_ns == thread__begin(thread))
		return thread->open_stack;
	if (task__is_on_cpu(task) || thread__came_unseen(thread, task))
		return STACK_NOT_SEEN;
	stack = stack__of_task(task, STACK_IN_WALK);
	barrier();
	if (task__is_on_cpu(task) || thread__came_unseen(thread, task))
		return STACK_NOT_SEEN;
	return stack;
}

/* At the end, before the detach: the stacks of those that are off the CPU, which do not stay so. */
SEC("?iter/task")
int offcputime_stacks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread *thread;
	struct stay stay = {};
	__u64 stack;

	if (!task || !task->pid)
		return 0;
	thread = thread__find(task);
	if (!thread || !thread__begin(thread))
		return 0;
	stay__measure(&stay, thread, run_ended_ns);
	if (!stay__is_wanted(&stay, thread, task))
		return 0;
	stack = thread__open_stack(thread, task);
	if (stack == STACK_NOT_SEEN)
		return 0;
	thread->open_stack = stack;
	thread->open_since_ns = thread__begin(thread);
	return 0;
}

/* After the end: the threads that are still off the CPU. */
SEC("?iter/task")
int offcputime_open(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct account_counters *account;
	struct offcputime_open open = {};
	struct thread *thread;
	struct stay stay = {};

	if (!task || !task->pid)
		return 0;
	thread = thread__find(task);
	if (!thread || !thread__begin(thread))
		return 0;
	if (thread__came_unseen(thread, task) &&
	    task->sched_info.last_arrival + clocks_ahead_ns < run_ended_ns) {
		thread__settle(thread, task, clocks_ahead_ns);
		return 0;
	}
	account = account__see(OFFCPUTIME_STAY);
	if (!account)
		return 0;
	stay__measure(&stay, thread, run_ended_ns);
	if (!stay__is_wanted(&stay, thread, task)) {
		account__add(&account->filtered);
		return 0;
	}
	if (offcputime_config.kernel_stacks)
		stay.kernel_stack = thread__open_stack(thread, task);
	stay__fill_key(&stay, thread, task, &open.key);
	open.age_ns = stay.duration_ns;
	open.begun_before = stay.begun_before;
	open.state = thread->state;
	open.preempted = thread->preempted;
	open.runnable_ns = thread__runnable_ns(thread, task, run_ended_ns - clocks_ahead_ns,
					       stay.duration_ns);
	bpf_seq_write(ctx->meta->seq, &open, sizeof(open));
	return 0;
}
