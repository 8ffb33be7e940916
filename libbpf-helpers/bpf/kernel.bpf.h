/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Facts about tasks and cgroups, read from the kernel's own structures; where a
 * field moved, the choice is made by CO-RE at load, never by a version number.
 * Every function reads one task's record together, so that id and name never come
 * from different tasks. They read by helpers, so that they also take a task that the
 * verifier does not know as one: 5.10 gives no other pointer to the current task.
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
#define CLONE_THREAD 0x00010000 /* include/uapi/linux/sched.h */
#define SIGNAL_GROUP_EXIT 0x00000004 /* include/linux/sched/signal.h */

/* 6.16 gave sched_process_exit a record and a second argument of its own. */
struct trace_event_raw_sched_process_exit___group_dead {
	bool group_dead;
} __attribute__((preserve_access_index));

/* Real user id of the task, in the initial user namespace. */
static __always_inline __u32 task__uid(struct task_struct *task)
{
	return BPF_CORE_READ(task, cred, uid.val);
}

/* Command name of the task's process (its leader's), NUL-ended. */
static __always_inline void task__process_comm(struct task_struct *task, char comm[TASK_COMM_LEN])
{
	struct task_struct *leader = BPF_CORE_READ(task, group_leader);

	bpf_probe_read_kernel_str(comm, TASK_COMM_LEN, leader->comm);
}

/* Process id as the process itself sees it, in its own PID namespace. */
static __always_inline __u32 task__ns_pid(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, group_leader, thread_pid);
	struct upid upid = {};

	bpf_probe_read_kernel(&upid, sizeof(upid), &pid->numbers[BPF_CORE_READ(pid, level)]);
	return upid.nr;
}

/* The task's cgroup in the cgroup2 hierarchy; the root where there is none. */
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

#endif
