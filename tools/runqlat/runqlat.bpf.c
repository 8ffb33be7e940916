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
#include "bpf/hist.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/ring.bpf.h"
#include "runqlat.h"

char LICENSE[] SEC("license") = "GPL";

const volatile struct runqlat_config runqlat_config = {};

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
struct task_struct___throttled {
	bool throttled; /* 6.18: taken off its queue until its group may run again */
} __attribute__((preserve_access_index));
struct cfs_rq___bandwidth {
	int throttle_count; /* with CONFIG_CFS_BANDWIDTH: groups above it that may not run */
} __attribute__((preserve_access_index));

/* 6.4: task storage has an allocator that may be used under a run-queue lock. */
struct bpf_local_storage_map___allocator {
	struct bpf_mem_alloc___any {
		int percpu;
	} selem_ma;
} __attribute__((preserve_access_index));

/* What is known of a thread. */
struct thread {
	__u64 since_ns; /* begin of its wait; 0: it does not wait */
	__u64 woken_ns; /* last wake-up while it was on a CPU */
	__u32 cause;
	__u32 known; /* it is new in this run, or was switched in during it */
	__u32 uncounted; /* schedstat does not count its wait */
	__u32 unused;
	__u32 waker_pid;
	__u32 waker_tid;
	char waker_comm[RUNQLAT_COMM_SIZE] __attribute__((aligned(8)));
};

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

struct runqlat_cpu {
	__u64 switched_ns; /* when the task that runs now was switched in */
	__u64 interval; /* that the longest waits are of */
	__u64 threshold_ns; /* the least of them, once there are as many as asked for */
	__u64 longest_ns[RUNQLAT_SLOWEST_MAX];
	__u32 nr;
	__u32 unused;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct runqlat_cpu);
} cpus SEC(".maps");

static __always_inline struct thread *thread__find(struct task_struct *task)
{
	struct thread_by_tid *by_tid;
	__u32 tid;

	if (runqlat_config.has_task_storage)
		return bpf_task_storage_get(&threads, task, NULL, 0);
	tid = task->pid;
	by_tid = bpf_map_lookup_elem(&threads_by_tid, &tid);
	return by_tid && by_tid->start_time == task->start_time ? &by_tid->thread : NULL;
}

/* Threads for which the walk found no memory. */
__u64 walk_failures = 0;

/* In process context only. known: the thread is new. False when there is no memory. */
static __always_inline bool thread__make(struct task_struct *task, bool known)
{
	struct thread_by_tid by_tid = { .thread.known = known };
	struct thread *thread;
	__u32 tid;

	if (runqlat_config.has_task_storage) {
		thread = bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
		if (thread && known)
			thread->known = 1;
		return thread;
	}
	if (!known && thread__find(task))
		return true;
	tid = task->pid;
	by_tid.start_time = task->start_time;
	return !bpf_map_update_elem(&threads_by_tid, &tid, &by_tid, BPF_ANY);
}

/* Read as bit fields: their sizes differ between kernels. */
static __always_inline bool task__is_queued(struct task_struct *task)
{
	return BPF_CORE_READ_BITFIELD(task, on_rq);
}

/* For a thread that no walk has shown: some kernels hide tasks from the iterator. NULL where it
 * cannot be done under a run-queue lock. */
static __always_inline struct thread *thread__adopt(struct task_struct *task)
{
	if (!runqlat_config.has_task_storage ||
	    !bpf_core_field_exists(struct bpf_local_storage_map___allocator, selem_ma))
		return NULL;
	return bpf_task_storage_get(&threads, task, NULL, BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Whether the thread sleeps although it is still queued. */
static __always_inline bool task__is_delayed(struct task_struct *task)
{
	struct task_struct___delayed *delayed = (void *)task;

	return bpf_core_field_exists(delayed->se.sched_delayed) && delayed->se.sched_delayed;
}

/* As the kernel's task_is_running(): a thread on its way to sleep does not. */
static __always_inline bool task__is_running(struct task_struct *task)
{
	struct task_struct___state *old = (void *)task;

	if (bpf_core_field_exists(old->state))
		return !old->state;
	return !task->__state;
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

static __always_inline void thread__begin_wait(struct thread *thread, struct task_struct *task,
					       __u64 since_ns, __u32 cause)
{
	thread->since_ns = since_ns;
	thread->uncounted = 0;
	thread->cause = task__is_throttled(task) ? RUNQLAT_THROTTLED : cause;
}

SEC("?tp_btf/task_newtask")
int BPF_PROG(runqlat_new, struct task_struct *task, unsigned long clone_flags)
{
	thread__make(task, true);
	return 0;
}

/* Before 5.11: forgets a thread, unless its id is in use again. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(runqlat_free, struct task_struct *task)
{
	__u32 tid = task->pid;

	if (thread__find(task))
		bpf_map_delete_elem(&threads_by_tid, &tid);
	return 0;
}

/* For the threads that are there when the run begins. */
SEC("?iter/task")
int runqlat_walk(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;

	if (task && !thread__make(task, false))
		__sync_fetch_and_add(&walk_failures, 1);
	return 0;
}

/* Whoever runs now is the waker. Read as typed memory where the kernel gives a typed pointer. */
static __always_inline void thread__note_waker(struct thread *thread)
{
	struct task_struct *waker;
	const __u64 *comm;

	if (!runqlat_config.has_task_storage) {
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
	if (runqlat_config.waker_at_wakeup)
		thread__note_waker(thread);
	/* It has not left its CPU: whether a wait begins, its switch-out will tell. */
	if (BPF_CORE_READ_BITFIELD(task, on_cpu))
		thread->woken_ns = task__now(task);
	else if (!thread->since_ns)
		thread__begin_wait(thread, task, task__now(task), RUNQLAT_WOKEN);
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
 * task queued, and its wait begins there and not at the switch.
 */
static __always_inline void task__leaves(struct task_struct *task, bool preempt,
					 unsigned long long *ctx, __u64 switched_ns, __u64 now_ns)
{
	struct task_struct___delayed *delayed = (void *)task;
	struct thread *thread;

	if (!task__is_queued(task) || task__is_delayed(task))
		return;
	thread = thread__find(task);
	if (!thread)
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

/* Whether the wait is among the longest of this CPU in this interval. */
static __always_inline bool cpu__takes(struct runqlat_cpu *cpu, __u64 duration_ns)
{
	__u64 interval = hist_interval, least = ~0ULL;
	__u32 place = 0;

	if (cpu->interval != interval) {
		cpu->interval = interval;
		cpu->threshold_ns = 0;
		cpu->nr = 0;
	}
	if (cpu->nr == runqlat_config.slowest && duration_ns <= cpu->threshold_ns)
		return false;
	if (cpu->nr < runqlat_config.slowest)
		place = cpu->nr++;
	else
		for (__u32 i = 0; i < runqlat_config.slowest && i < RUNQLAT_SLOWEST_MAX; i++)
			if (cpu->longest_ns[i] == cpu->threshold_ns)
				place = i;
	barrier_var(place);
	if (place >= RUNQLAT_SLOWEST_MAX)
		return true;
	cpu->longest_ns[place] = duration_ns;
	for (__u32 i = 0; i < runqlat_config.slowest && i < RUNQLAT_SLOWEST_MAX; i++)
		if (i < cpu->nr && cpu->longest_ns[i] < least)
			least = cpu->longest_ns[i];
	cpu->threshold_ns = least;
	return true;
}

struct wait {
	__u64 now_ns;
	__u64 duration_ns;
	__u64 held_ns; /* by the task before, 0: not known */
};

static __always_inline void task__fill_comm(struct task_struct *task, char comm[RUNQLAT_COMM_SIZE])
{
	bpf_probe_read_kernel_str(comm, RUNQLAT_COMM_SIZE, task->comm);
}

/* False when the ring has no room. */
static __always_inline bool wait__send(const struct wait *wait, const struct thread *thread,
				       struct task_struct *prev, struct task_struct *next)
{
	struct runqlat_slow *slow = bpf_ringbuf_reserve(&event_ring, sizeof(*slow), 0);
	bool woken = thread->cause == RUNQLAT_WOKEN;

	if (!slow)
		return false;
	slow->time_ns = runqlat_config.by_run_queue_clock ? bpf_ktime_get_ns() : wait->now_ns;
	slow->duration_ns = wait->duration_ns;
	slow->interval = hist_interval;
	slow->prev_ns = wait->held_ns;
	slow->pid = next->tgid;
	slow->tid = next->pid;
	slow->cpu = bpf_get_smp_processor_id();
	slow->cause = thread->cause;
	slow->prev_pid = prev->tgid;
	slow->prev_tid = prev->pid;
	slow->waker_pid = woken ? thread->waker_pid : 0;
	slow->waker_tid = woken ? thread->waker_tid : 0;
	task__fill_comm(next, slow->comm);
	task__fill_comm(prev, slow->prev_comm);
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
	bool named = by & (1 << RUNQLAT_BY_PID | 1 << RUNQLAT_BY_TID);

	if (by & (1 << RUNQLAT_BY_PID | 1 << RUNQLAT_BY_TID))
		key.pid = task->tgid;
	if (by & 1 << RUNQLAT_BY_TID)
		key.tid = task->pid;
	if (by & 1 << RUNQLAT_BY_COMM)
		/* By helper: of a key, the bytes behind the name count, too. */
		task__process_comm(task, key.comm, false);
	if (by & 1 << RUNQLAT_BY_CGROUP)
		key.cgroup_id = task__cgroup_id(task, true);
	if (by & 1 << RUNQLAT_BY_CPU)
		key.cpu = bpf_get_smp_processor_id();
	if (by & 1 << RUNQLAT_BY_CAUSE)
		key.cause = cause;
	if (by & 1 << RUNQLAT_BY_PIDNS)
		key.pid_ns = task__pid_ns(task);
	if (by & 1 << RUNQLAT_BY_TID)
		task__fill_comm(task, name);
	else if (named)
		task__process_comm(task, name, false);
	return hist__add_keyed(&key, named ? name : NULL, wait->now_ns, wait->duration_ns);
}

/* A wait that is inside what was asked, into the report. */
static __always_inline void wait__report(const struct wait *wait, const struct thread *thread,
					 struct task_struct *prev, struct task_struct *next,
					 struct runqlat_cpu *cpu, struct account_counters *account)
{
	bool send = false;

	if (!runqlat_config.by) {
		hist__add(wait->duration_ns);
	} else if (!wait__add_keyed(wait, thread->cause, next)) {
		account__add(&account->lost[ACCOUNT_MAP_FULL]);
		return;
	}
	if (runqlat_config.slowest)
		send = cpu__takes(cpu, wait->duration_ns);
	if (runqlat_config.slower_ns && wait->duration_ns > runqlat_config.slower_ns)
		send = true;
	if (send && !wait__send(wait, thread, prev, next))
		account__add(&account->detail_lost[ACCOUNT_DETAIL_SLOW]);
}

/* Takes the begin of the wait that ends now; 0, accounted for, when there is none. */
static __always_inline __u64 thread__end_wait(struct thread *thread,
					      struct account_counters *account)
{
	__u64 since_ns = thread->since_ns;
	bool known = thread->known;

	thread->since_ns = 0;
	thread->known = 1;
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

SEC("?tp_btf/sched_switch")
int BPF_PROG(runqlat_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct wait wait = { .now_ns = task__now(next) };
	struct account_counters *account;
	struct thread *thread;
	struct runqlat_cpu *cpu;
	__u32 zero = 0;
	__u64 since_ns;

	/* What waits at the end of the run stays so until it is counted. */
	cpu = bpf_map_lookup_elem(&cpus, &zero);
	if (!cpu || run_ended_ns)
		return 0;
	/* Idle tasks, one for each CPU, do not wait. */
	if (prev->pid)
		task__leaves(prev, preempt, ctx, cpu->switched_ns, wait.now_ns);
	if (cpu->switched_ns)
		wait.held_ns = wait.now_ns - cpu->switched_ns;
	cpu->switched_ns = wait.now_ns;
	if (!next->pid)
		return 0;

	account = account__open(RUNQLAT_WAIT);
	thread = thread__find(next);
	if (!thread)
		thread = thread__adopt(next);
	if (!thread) {
		if (account) {
			account__add(&account->seen);
			account__add(&account->lost[ACCOUNT_NO_STORAGE]);
		}
		return 0;
	}
	since_ns = thread__end_wait(thread, account);
	if (!since_ns)
		return 0;
	if ((runqlat_config.by_run_queue_clock && thread->uncounted) ||
	    !filter__passes(next, next->pid, true)) {
		account__add(&account->filtered);
		return 0;
	}
	wait.duration_ns = wait.now_ns - since_ns;
	wait__report(&wait, thread, prev, next, cpu, account);
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
