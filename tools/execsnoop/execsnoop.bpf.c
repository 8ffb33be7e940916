// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every successful exec, from sched_process_exec: at that point the arguments lie
 * in the new memory, copied there by the kernel a moment ago, whichever call, thread
 * or ABI asked for it. Failed calls of exec, from sys_exit. And the end of each process.
 */
#include "bpf/account.bpf.h"
#include "bpf/exec_call.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/process_end.bpf.h"
#include "bpf/ring.bpf.h"
#include "execsnoop.h"

char LICENSE[] SEC("license") = "GPL";

#define PATH_MAX 4096 /* include/uapi/linux/limits.h */
#define ENOSPC 28
#define ENAMETOOLONG 36

/* Whether the end of a process that was forked in the run and never executed is an event. */
const volatile __u32 show_forks = 0;

static __always_inline void process__fill(struct execsnoop_process *process, __u32 kind,
					  struct task_struct *task, __u32 tid)
{
	struct task_struct *parent = BPF_CORE_READ(task, real_parent);

	process->time_ns = bpf_ktime_get_ns();
	process->fork_ns = BPF_CORE_READ(task, group_leader, start_time);
	process->cgroup_id = cgroup__id(task__cgroup(task));
	process->kind = kind;
	process->cpu = bpf_get_smp_processor_id();
	process->pid = BPF_CORE_READ(task, tgid);
	process->tid = tid;
	process->ppid = BPF_CORE_READ(parent, tgid);
	process->uid = task__uid(task);
	process->ns_pid = task__ns_pid(task);
	process->unused = 0;
	task__process_comm(task, process->comm);
	task__process_comm(parent, process->pcomm);
}

/*
 * Reserves a record of a constant size (ring records must have one on 5.10), fills and
 * submits it. The path's room is constant too, so that the arguments begin at a constant
 * place. 0; 1: submitted without all arguments; -ENOSPC: no room in the ring;
 * -ENAMETOOLONG: the path needs a larger record.
 */
static __always_inline int exec__submit(const struct execsnoop_process *process,
					struct linux_binprm *bprm, __u64 args, __u64 args_size,
					const __u32 record_size, const __u32 path_room)
{
	const __u32 args_room = record_size - sizeof(struct execsnoop_exec) - path_room;
	struct execsnoop_exec *exec = bpf_ringbuf_reserve(&event_ring, record_size, 0);
	__u64 kept = args_size;
	long length;

	if (!exec)
		return -ENOSPC;
	length = bpf_probe_read_kernel_str(exec->data, path_room, bprm->filename);
	if (length == path_room && path_room < PATH_MAX) {
		bpf_ringbuf_discard(exec, BPF_RB_NO_WAKEUP);
		return -ENAMETOOLONG;
	}
	/* Without this 6.1's verifier does not see the bound that the compiler has proven. */
	barrier_var(kept);
	if (kept > args_room)
		kept = args_room;
	if (bpf_probe_read_user(exec->data + path_room, kept, (void *)args))
		kept = 0;
	exec->process = *process;
	exec->filename_size = length > 0 ? length : 0;
	exec->unreadable_offset = 0;
	exec->args_offset = path_room;
	exec->args_size = kept;
	exec->args_cut = args_size - kept;
	exec->ret = 0;
	ring__submit(exec, record_size);
	return kept < args_size;
}

/* Sizes of the records, growing by four: a record of 5.9 MB is one piece, as all others. */
static __always_inline int exec__submit_fitting(const struct execsnoop_process *process,
						struct linux_binprm *bprm, __u64 args,
						__u64 args_size)
{
	int err = -ENAMETOOLONG;

	if (args_size <= 512 - sizeof(struct execsnoop_exec) - 96)
		err = exec__submit(process, bprm, args, args_size, 512, 96);
	else if (args_size <= 2048 - sizeof(struct execsnoop_exec) - 256)
		err = exec__submit(process, bprm, args, args_size, 2048, 256);
	if (err != -ENAMETOOLONG)
		return err;
#define ROOM(size) ((size) - sizeof(struct execsnoop_exec) - PATH_MAX)
	if (args_size <= ROOM(8 << 10))
		return exec__submit(process, bprm, args, args_size, 8 << 10, PATH_MAX);
	if (args_size <= ROOM(32 << 10))
		return exec__submit(process, bprm, args, args_size, 32 << 10, PATH_MAX);
	if (args_size <= ROOM(128 << 10))
		return exec__submit(process, bprm, args, args_size, 128 << 10, PATH_MAX);
	if (args_size <= ROOM(512 << 10))
		return exec__submit(process, bprm, args, args_size, 512 << 10, PATH_MAX);
	if (args_size <= ROOM(2 << 20))
		return exec__submit(process, bprm, args, args_size, 2 << 20, PATH_MAX);
	return exec__submit(process, bprm, args, args_size, 8 << 20, PATH_MAX);
#undef ROOM
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(execsnoop_exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct account_counters *account = account__see(EXECSNOOP_EXEC);
	struct execsnoop_process process;
	__u64 args, args_size;
	int err;

	if (!account)
		return 0;
	if (!filter__passes(task, old_pid)) {
		account__add(&account->filtered);
		return 0;
	}
	process__fill(&process, EXECSNOOP_EXEC, task, old_pid);
	args = task->mm->arg_start;
	args_size = task->mm->arg_end - args;
	err = exec__submit_fitting(&process, bprm, args, args_size);
	if (err < 0) /* better the command without all of its arguments than nothing */
		err = exec__submit(&process, bprm, args, args_size, 8 << 10, PATH_MAX);
	if (err < 0)
		account__add(&account->lost[ACCOUNT_RING_FULL]);
	else if (err)
		account__add(&account->detail_lost[ACCOUNT_DETAIL_ARGS]);
	return 0;
}

/*
 * As exec__submit(), for a failed call: 0; 1: submitted without all of it; -ENOSPC: no room in
 * the ring; -ENAMETOOLONG: a larger record would hold more, and whole is true.
 */
static __always_inline int failed__submit(const struct execsnoop_process *process,
					  const struct exec_call *call, __s32 ret,
					  const __u32 record_size, const __u32 path_room,
					  const __u32 longest, const __u32 most, const bool whole)
{
	const __u32 bits_size = EXECSNOOP_FAILED_ARGS_MAX / 8;
	const __u32 room = record_size - sizeof(struct execsnoop_exec) - path_room - bits_size;
	struct execsnoop_exec *exec = bpf_ringbuf_reserve(&event_ring, record_size, 0);
	struct exec_words words;
	__u64 *unreadable;
	long length;

	if (!exec)
		return -ENOSPC;
	unreadable = (__u64 *)(exec->data + path_room);
	for (int i = 0; i < bits_size / 8; i++)
		unreadable[i] = 0;
	length = exec_call__read_path(call, exec->data, path_room);
	exec_call__read_words(call, exec->data + path_room + bits_size, room, longest, unreadable,
			      most, &words);
	if (whole &&
	    (words.end == EXEC_WORDS_FULL || (length == path_room && path_room < PATH_MAX))) {
		bpf_ringbuf_discard(exec, BPF_RB_NO_WAKEUP);
		return -ENAMETOOLONG;
	}
	exec->process = *process;
	exec->filename_size = length > 0 ? length : 0;
	exec->unreadable_offset = path_room;
	exec->args_offset = path_room + bits_size;
	exec->args_size = words.size;
	exec->args_cut = words.end == EXEC_WORDS_COMPLETE ? 0 : EXECSNOOP_CUT_UNKNOWN;
	exec->ret = ret;
	ring__submit(exec, record_size);
	return length <= 0 || words.end || !words.readable;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(execsnoop_failed, struct pt_regs *regs, long ret)
{
	struct account_counters *account;
	struct execsnoop_process process;
	struct task_struct *task;
	struct exec_call call;
	__u32 tid;
	int err;

	if (ret >= 0 || !exec_call__read(regs, &call))
		return 0;
	account = account__see(EXECSNOOP_FAILED);
	if (!account)
		return 0;
	task = (struct task_struct *)bpf_get_current_task();
	tid = bpf_get_current_pid_tgid();
	if (!filter__passes(task, tid)) {
		account__add(&account->filtered);
		return 0;
	}
	process__fill(&process, EXECSNOOP_FAILED, task, tid);
	err = failed__submit(&process, &call, ret, 2 << 10, 256, 512, 32, true);
	if (err == -ENAMETOOLONG)
		err = failed__submit(&process, &call, ret, 32 << 10, PATH_MAX, 8 << 10,
				     EXECSNOOP_FAILED_ARGS_MAX, true);
	/* More than an argument can have: 128 KB with its NUL (MAX_ARG_STRLEN). */
	if (err == -ENAMETOOLONG)
		err = failed__submit(&process, &call, ret, 1 << 20, PATH_MAX, 256 << 10,
				     EXECSNOOP_FAILED_ARGS_MAX, false);
	if (err == -ENOSPC)
		err = failed__submit(&process, &call, ret, 2 << 10, 256, 512, 32, false);
	if (err < 0)
		account__add(&account->lost[ACCOUNT_RING_FULL]);
	else if (err)
		account__add(&account->detail_lost[ACCOUNT_DETAIL_ARGS]);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int execsnoop_exit(unsigned long long *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];
	struct task_struct *leader = task->group_leader;
	struct process_times times = {};
	struct account_counters *account;
	struct execsnoop_exit *exit;
	bool execed, times_known;

	if (!process__ends(task, ctx))
		return 0;
	account = account__see(EXECSNOOP_EXIT);
	if (!account)
		return 0;
	execed = !(leader->flags & PF_FORKNOEXEC);
	if ((!execed && !show_forks && leader->start_time >= run_started_ns) ||
	    !filter__passes(task, task->pid)) {
		account__add(&account->filtered);
		return 0;
	}
	times_known = process__times(task, &times);
	exit = bpf_ringbuf_reserve(&event_ring, sizeof(*exit), 0);
	if (!exit) {
		account__add(&account->lost[ACCOUNT_RING_FULL]);
		return 0;
	}
	process__fill(&exit->process, EXECSNOOP_EXIT, task, task->pid);
	exit->utime_ns = times.utime_ns;
	exit->stime_ns = times.stime_ns;
	exit->runtime_ns = times.runtime_ns;
	exit->max_rss_pages = task->signal->maxrss;
	exit->status = process__exit_status(task);
	exit->execed = execed;
	exit->times_known = times_known;
	exit->unused[0] = exit->unused[1] = 0;
	ring__submit(exit, sizeof(*exit));
	return 0;
}
