/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel side of the task filters. Unset filters cost nothing: filter_config is
 * constant at load and the verifier drops what it rules out.
 */
#ifndef VANTAGE_BPF_FILTER_H
#define VANTAGE_BPF_FILTER_H

#include "bpf/account.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/stand_in.bpf.h"
#include "shared/filter.h"

const volatile struct filter_config filter_config = {};

#define FILTER_EEXIST 17 /* include/uapi/asm-generic/errno-base.h */

/* The wanted values of every kind; sized and filled by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct filter_key);
	__type(value, __u8);
} filter_values SEC(".maps");

/* Processes followed from a root: process id -> time of fork, or FILTER_TREE_ANY_FORK. Sized by
 * user space when there is a root. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} filter_tree SEC(".maps");

/* Whether that process is a root or a descendant of one. */
static __always_inline bool filter__follows(__u32 pid, __u64 fork_ns)
{
	__u64 *followed = bpf_map_lookup_elem(&filter_tree, &pid);

	return followed && (*followed == FILTER_TREE_ANY_FORK || *followed == fork_ns);
}

/*
 * While the set is seeded with the descendants that a process has already: child -> parent, as it
 * was when the child was forked or, for older ones, when the child ended, or the parent did and
 * the child went to another. What the kernel shows in /proc may be later than either.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} filter_edges SEC(".maps");

static __always_inline void filter__lose_tree(void)
{
	__u32 kind = 0;
	struct account_counters *account = bpf_map_lookup_elem(&account_counters, &kind);

	if (account)
		account__add(&account->detail_lost[ACCOUNT_DETAIL_TREE]);
}

/* flags: BPF_NOEXIST where an older edge is nearer the truth. */
static __always_inline void filter__add_edge(__u32 child, __u32 parent, __u64 flags)
{
	/* Before 6.4 the call, which the verifier makes a direct one, gives 32 bits. */
	__u32 err = bpf_map_update_elem(&filter_edges, &child, &parent, flags);

	if (err && err != (__u32)-FILTER_EEXIST)
		filter__lose_tree();
}

/* Levels above a process that are looked at for one in the set. */
#define FILTER_TREE_LEVELS 16

/* While the set is seeded: whether a process above this one is in it. */
static __always_inline bool filter__descends(struct task_struct *task)
{
	for (int i = 0; i < FILTER_TREE_LEVELS; i++) {
		__u32 pid;

		task = BPF_CORE_READ(task, real_parent, group_leader);
		pid = BPF_CORE_READ(task, tgid);
		if (!pid)
			break;
		if (filter__follows(pid, BPF_CORE_READ(task, start_time)))
			return true;
	}
	return false;
}

static __always_inline void filter__follow(__u32 pid, __u64 fork_ns)
{
	if (bpf_map_update_elem(&filter_tree, &pid, &fork_ns, BPF_ANY))
		filter__lose_tree();
}

/*
 * Follows a child before it has run: whoever forks in the set adds to it. While the set is
 * seeded, one below a member is added, too, with its child: a family that forks faster than user
 * space reads would else stay ahead of it.
 */
static __always_inline void filter__note_fork(struct task_struct *task)
{
	/* Read by CO-RE helpers: 5.10 gives no typed pointer to the current task. */
	struct task_struct *forker = (struct task_struct *)bpf_get_current_task();
	__u32 pid = task->tgid, parent = BPF_CORE_READ(forker, tgid);
	__u64 parent_fork_ns = BPF_CORE_READ(forker, group_leader, start_time);

	/* With CLONE_PARENT it is a child of the forker's parent, but still a descendant. */
	if (!filter__follows(parent, parent_fork_ns)) {
		if (run_started_ns || !filter_config.has_trees)
			return;
		if (!filter__descends(forker)) {
			filter__add_edge(pid, parent, BPF_ANY);
			return;
		}
		filter__follow(parent, parent_fork_ns);
	}
	filter__follow(pid, task->start_time);
}

SEC("?tp_btf/task_newtask")
int BPF_PROG(filter_tree_fork, struct task_struct *task, unsigned long clone_flags)
{
	if (!(clone_flags & CLONE_THREAD) && stand_in__mark(task, ACCOUNT_OF_TREE_FORK))
		filter__note_fork(task);
	return 0;
}

SEC("?tp_btf/task_newtask")
int BPF_PROG(filter_tree_fork_stand_in, struct task_struct *task, unsigned long clone_flags)
{
	if (!(clone_flags & CLONE_THREAD) && stand_in__takes(task, ACCOUNT_OF_TREE_FORK))
		filter__note_fork(task);
	return 0;
}

/* Notes the parent of a process that is not in the set yet, unless an older one is noted. */
static __always_inline void filter__note_parent(struct task_struct *task, __u32 parent)
{
	__u32 pid = BPF_CORE_READ(task, tgid);

	if (!filter__follows(pid, BPF_CORE_READ(task, group_leader, start_time)))
		filter__add_edge(pid, parent, BPF_NOEXIST);
}

/* Children of one thread whose parent is noted; more are counted as lost. The verifier walks
 * through each one at load. */
#define FILTER_CHILDREN_MAX 32

/* Notes whose child it was that ends, and whose children they were that get another parent. */
static __always_inline void filter__note_exit(struct task_struct *task)
{
	struct list_head *head = &task->children;
	struct list_head *node = BPF_CORE_READ(task, children.next);

	if (run_started_ns)
		return;
	/* It will be gone from /proc, too. */
	filter__note_parent(task, BPF_CORE_READ(task, real_parent, tgid));
	for (int i = 0; i < FILTER_CHILDREN_MAX; i++) {
		struct task_struct *child;

		if ((__u64)node == (__u64)head)
			return;
		child = (void *)((__u64)node - bpf_core_field_offset(struct task_struct, sibling));
		/* One that is freed just now leads nowhere: what is left is walked again. */
		if (BPF_CORE_READ(child, real_parent) != task ||
		    BPF_CORE_READ(node, next) == node) {
			node = BPF_CORE_READ(task, children.next);
			continue;
		}
		filter__note_parent(child, task->tgid);
		node = BPF_CORE_READ(node, next);
	}
	filter__lose_tree();
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(filter_tree_exit, struct task_struct *task)
{
	if (stand_in__mark(task, ACCOUNT_OF_TREE_EXIT))
		filter__note_exit(task);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int BPF_PROG(filter_tree_exit_stand_in, struct task_struct *task)
{
	if (stand_in__takes(task, ACCOUNT_OF_TREE_EXIT))
		filter__note_exit(task);
	return 0;
}

/* Forgets a process when the kernel frees it: by then its exit has been told. */
SEC("?tp_btf/sched_process_free")
int BPF_PROG(filter_tree_free, struct task_struct *task)
{
	__u32 pid = task->tgid;

	if (task->pid == task->tgid && filter__follows(pid, task->start_time))
		bpf_map_delete_elem(&filter_tree, &pid);
	return 0;
}

static __always_inline bool filter__holds(__u32 kind, __u64 value)
{
	struct filter_key key = { .kind = kind, .value = value };

	return bpf_map_lookup_elem(&filter_values, &key);
}

/* Whether a number of a kind is wanted; any is when none is named. */
static __always_inline bool filter__wants(__u32 kind, __u64 value)
{
	return !filter_config.nr[kind] || filter__holds(kind, value);
}

/* Runs the automaton of shared/filter.h over a command name. */
static __always_inline bool filter__wants_comm(const char comm[TASK_COMM_LEN])
{
	__u64 state = filter_config.globs.first;

	if (!filter_config.has_globs)
		return true;
	for (int i = 0; i < TASK_COMM_LEN; i++) {
		__u8 character = comm[i];

		if (!character)
			break;
		state = ((state & filter_config.globs.accepts[character]) << 1) |
			(state & filter_config.globs.loops);
	}
	return state & filter_config.globs.final;
}

/* Levels of the cgroup tree that are looked at, from the task's own upwards. */
#define FILTER_CGROUP_LEVELS 128

/* Whether the task is in the subtree of a wanted cgroup. */
static __always_inline bool filter__wants_cgroup_of(struct task_struct *task)
{
	struct cgroup *cgroup;

	if (!filter_config.nr[FILTER_CGROUP])
		return true;
	cgroup = task__cgroup(task);
	for (int i = 0; i < FILTER_CGROUP_LEVELS && cgroup; i++) {
		if (filter__holds(FILTER_CGROUP, cgroup__id(cgroup)))
			return true;
		cgroup = cgroup__parent(cgroup);
	}
	return false;
}

/*
 * Whether an event about this task is inside what was asked. tid: the thread the
 * event is about (the id it had at the event, which an exec may have changed). typed: as in
 * bpf/kernel.bpf.h.
 */
static __always_inline bool filter__passes(struct task_struct *task, __u32 tid, const bool typed)
{
	char comm[TASK_COMM_LEN] __attribute__((aligned(8)));
	__u32 pid = 0;

	if (filter_config.has_tree || filter_config.nr[FILTER_PID])
		pid = KERNEL_READ(typed, task, tgid);
	if (filter_config.has_tree && !filter__follows(pid, task__fork_ns(task, typed)))
		return false;
	if (!filter__wants(FILTER_PID, pid) || !filter__wants(FILTER_TID, tid))
		return false;
	if (filter_config.nr[FILTER_PPID] && !filter__holds(FILTER_PPID, task__ppid(task, typed)))
		return false;
	if (filter_config.nr[FILTER_UID] && !filter__holds(FILTER_UID, task__uid(task, typed)))
		return false;
	if (filter_config.has_globs) {
		task__process_comm(task, comm, typed);
		if (!filter__wants_comm(comm))
			return false;
	}
	return filter__wants_cgroup_of(task);
}

/* The same of the current task. Without a filter nothing is asked about it. */
static __always_inline bool filter__current_passes(void)
{
	struct task_struct *task;
	__u64 ids;

	if (!filter_config.has_any)
		return true;
	ids = bpf_get_current_pid_tgid();
	if (filter_config.only_pid && ids >> 32 != filter_config.only_pid)
		return false;
	if (current__is_typed()) {
		task = bpf_get_current_task_btf();
		return filter__passes(task, (__u32)ids, true);
	}
	task = (struct task_struct *)bpf_get_current_task();
	return filter__passes(task, (__u32)ids, false);
}

/* Whether it is certain, at little cost, that the current task did not pass at any earlier time,
 * either. */
static __always_inline bool filter__current_never_passes(void)
{
	return filter_config.only_pid && bpf_get_current_pid_tgid() >> 32 != filter_config.only_pid;
}

#endif
