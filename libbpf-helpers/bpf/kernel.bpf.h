/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts about tasks and cgroups, read from the kernel's own structures; where a
 * field moved, the choice is made by CO-RE at load, never by a version number.
 * Every function reads one task's record together, so that id and name never come
 * from different tasks.
 *
 * typed, a constant: the verifier knows the pointer as a task's, so that a field is one
 * instruction and not a helper's call of a hundred. False for the current task on kernels before
 * 5.11, which give no such pointer to it. Each pointer that is read so costs the load of the
 * program about a millisecond on recent kernels, which look for its type by name.
 */
#ifndef VANTAGE_BPF_KERNEL_H
#define VANTAGE_BPF_KERNEL_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#ifndef TASK_COMM_LEN
#define TASK_COMM_LEN 16 /* include/linux/sched.h */
#endif
#define PF_FORKNOEXEC 0x00000040 /* include/linux/sched.h: forked but didn't exec */
#define TS_COMPAT 0x0002 /* arch/x86/include/asm/thread_info.h: a 32-bit system call */
#define CLONE_THREAD 0x00010000 /* include/uapi/linux/sched.h */
#define SIGNAL_GROUP_EXIT 0x00000004 /* include/linux/sched/signal.h */

/* 6.16 gave sched_process_exit a record and a second argument of its own. */
struct trace_event_raw_sched_process_exit___group_dead {
	bool group_dead;
} __attribute__((preserve_access_index));

/* A field of a structure of the kernel's; pointer: a variable. */
#define KERNEL_READ(typed, pointer, field)                                                         \
	((typed) ? (pointer)->field : BPF_CORE_READ(pointer, field))

/* Real user id of the task, in the initial user namespace. */
static __always_inline __u32 task__uid(struct task_struct *task, const bool typed)
{
	const struct cred *cred = KERNEL_READ(typed, task, cred);

	return KERNEL_READ(typed, cred, uid.val);
}

/* The bytes of a word below its first one that is 0; the lowest byte is the first. */
static __always_inline __u64 word__before_nul(__u64 word)
{
	__u64 nul = (word - 0x0101010101010101) & ~word & 0x8080808080808080;

	/* The lowest bit of nul is right; without one the mask is all of it. */
	return word & (((nul & -nul) >> 7) - 1);
}

/*
 * Command name of a task, filled up with NULs, so that it can be a key: before 5.17 the kernel
 * leaves the end of an earlier name behind its NUL.
 */
static __always_inline void task__comm(struct task_struct *task, char comm[TASK_COMM_LEN],
				       const bool typed)
{
	__u64 *to = (__u64 *)comm;

	if (typed) {
		const __u64 *from = (const __u64 *)task->comm;

		to[0] = word__before_nul(from[0]);
		to[1] = to[0] >> 56 ? word__before_nul(from[1]) : 0;
	} else {
		to[0] = to[1] = 0;
		bpf_probe_read_kernel_str(comm, TASK_COMM_LEN, task->comm);
	}
}

/* As task__comm(), of the task's process: the name of its leader. */
static __always_inline void task__process_comm(struct task_struct *task, char comm[TASK_COMM_LEN],
					       const bool typed)
{
	task__comm(KERNEL_READ(typed, task, group_leader), comm, typed);
}

/* Id of the process that is the task's parent. */
static __always_inline __u32 task__ppid(struct task_struct *task, const bool typed)
{
	struct task_struct *parent = KERNEL_READ(typed, task, real_parent);

	return KERNEL_READ(typed, parent, tgid);
}

/* When the task's process was forked, in nanoseconds of CLOCK_MONOTONIC. */
static __always_inline __u64 task__fork_ns(struct task_struct *task, const bool typed)
{
	struct task_struct *leader = KERNEL_READ(typed, task, group_leader);

	return KERNEL_READ(typed, leader, start_time);
}

/* Process id as the process itself sees it, in its own PID namespace. */
static __always_inline __u32 leader__ns_pid(struct task_struct *leader, const bool typed)
{
	struct pid *pid = KERNEL_READ(typed, leader, thread_pid);
	__u32 level = KERNEL_READ(typed, pid, level);
	__u32 nr = KERNEL_READ(typed, leader, tgid); /* in the first namespace, where most are */

	if (level)
		bpf_probe_read_kernel(&nr, sizeof(nr), &pid->numbers[level].nr);
	return nr;
}

/* Id of the task's cgroup in the cgroup2 hierarchy; of the root where there is none. Of the current
 * task bpf_get_current_cgroup_id() is the cheaper way. */
static __always_inline __u64 task__cgroup_id(struct task_struct *task)
{
	return task->cgroups->dfl_cgrp->kn->id;
}

/* The cgroup of task__cgroup_id(). */
static __always_inline struct cgroup *task__cgroup(struct task_struct *task)
{
	return BPF_CORE_READ(task, cgroups, dfl_cgrp);
}

static __always_inline __u64 cgroup__id(struct cgroup *cgroup)
{
	return BPF_CORE_READ(cgroup, kn, id);
}

/* NULL above the root. A parent is known as its css, which is embedded in its cgroup. */
static __always_inline struct cgroup *cgroup__parent(struct cgroup *cgroup)
{
	char *css = (char *)BPF_CORE_READ(cgroup, self.parent);

	return css ? (struct cgroup *)(css - bpf_core_field_offset(struct cgroup, self)) : NULL;
}

/* Whether the kernel gives a typed pointer to the current task: since 5.11. Reads through it need
 * no helper. */
static __always_inline bool current__is_typed(void)
{
	return bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_current_task_btf);
}

/* Whether the current task is inside a system call of 32-bit code. */
static __always_inline bool current__is_compat(void)
{
	struct task_struct *task;

	if (current__is_typed()) {
		task = bpf_get_current_task_btf();
		return task->thread_info.status & TS_COMPAT;
	}
	task = (struct task_struct *)bpf_get_current_task();
	return BPF_CORE_READ(task, thread_info.status) & TS_COMPAT;
}

#endif
