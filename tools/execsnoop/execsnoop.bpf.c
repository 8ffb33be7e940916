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
#include "bpf/stand_in.bpf.h"
#include "cwd.bpf.h"
#include "execsnoop.h"

char LICENSE[] SEC("license") = "GPL";

#define PATH_MAX 4096 /* include/uapi/linux/limits.h */
#define ENOSPC 28
#define ENAMETOOLONG 36

/* Whether the end of a process that was forked in the run and never executed is an event. */
const volatile __u32 show_forks = 0;

/* task: the current one, whose user and cgroup the kernel tells for less than a pointer costs. */
static __always_inline void process__fill(struct execsnoop_process *process, __u32 kind,
					  struct task_struct *task, struct task_struct *leader,
					  __u32 tid, const bool typed)
{
	struct task_struct *parent = KERNEL_READ(typed, task, real_parent);

	process->time_ns = bpf_ktime_get_ns();
	process->fork_ns = KERNEL_READ(typed, leader, start_time);
	process->cgroup_id = bpf_get_current_cgroup_id();
	process->kind = kind;
	process->cpu = bpf_get_smp_processor_id();
	process->pid = KERNEL_READ(typed, task, tgid);
	process->tid = tid;
	process->ppid = KERNEL_READ(typed, parent, tgid);
	process->uid = (__u32)bpf_get_current_uid_gid();
	process->unused = 0;
	task__comm(leader, process->comm, typed);
	task__process_comm(parent, process->pcomm, typed);
	process->ns_pid = leader__ns_pid(leader, typed);
}

const volatile struct execsnoop_context_config context_config = {};

/* Room for the names of a working directory: in most records less than there can be. */
#define CWD_ROOM(path_room) ((path_room) == PATH_MAX ? EXECSNOOP_CWD_MAX : 192)

/* Room for the whole context in a record, or 0 in one without. */
#define CONTEXT_ROOM(with_context, path_room)                                                      \
	((with_context) ? sizeof(struct execsnoop_context) + CWD_ROOM(path_room) : 0)

static __always_inline bool context__is_wanted(void)
{
	return context_config.nr_ancestors || context_config.cwd;
}

/*
 * Behind the first process, each is its own parent, with id 0: user space stops there. Without a
 * branch, and by helpers, since the verifier goes through this once for each size of record, and
 * looks every typed pointer up by name.
 */
static __always_inline void context__fill(struct execsnoop_context *context,
					  struct task_struct *task, const __u32 cwd_room)
{
	struct task_struct *ancestor = task;
	struct cwd *cwd;

	for (int i = 0; i < EXECSNOOP_ANCESTORS_MAX && i < context_config.nr_ancestors; i++) {
		ancestor = BPF_CORE_READ(ancestor, real_parent);
		context->ancestors[i].pid = BPF_CORE_READ(ancestor, tgid);
		task__process_comm(ancestor, context->ancestors[i].comm, false);
	}
	context->nr_ancestors = context_config.nr_ancestors;
	context->cwd_end = EXECSNOOP_CWD_UNKNOWN;
	context->cwd_size = 0;
	context->unused = 0;
	if (!context_config.cwd)
		return;
	cwd = cwd__kept();
	if (!cwd)
		return;
	bpf_probe_read_kernel(context->cwd, cwd_room, cwd->names);
	context->cwd_size = cwd->size < cwd_room ? cwd->size : cwd_room;
	context->cwd_end = cwd->size <= cwd_room ? cwd->end : EXECSNOOP_CWD_CUT;
}

/* Bytes of the working directory, if it is asked for. */
static __always_inline __u32 context__cwd_size(void)
{
	struct cwd *cwd = context_config.cwd ? cwd__kept() : NULL;

	return cwd ? cwd->size : 0;
}

static __always_inline void context__forget(void)
{
	if (context_config.cwd)
		cwd__forget();
}

/* What an exec has that is too much for arguments in registers. */
struct exec_source {
	struct task_struct *task;
	const char *filename;
	__u64 strings; /* the arguments, and behind them the environment */
	__u64 args_size;
	__u64 size; /* of both, or of the arguments if the environment is not asked for */
	__u32 cwd_size;
};

/*
 * Reserves a record of a constant size (ring records must have one on 5.10), fills and
 * submits it. The rooms of path and context are constant too, so that the arguments begin at a
 * constant place. 0; 1: submitted without all arguments; -ENOSPC: no room in the ring;
 * -ENAMETOOLONG: the path needs a larger record.
 */
static __always_inline int exec__submit(const struct execsnoop_process *process,
					const struct exec_source *source, const __u32 record_size,
					const __u32 path_room, const bool with_context)
{
	const __u32 args_offset = path_room + CONTEXT_ROOM(with_context, path_room);
	const __u32 room = record_size - sizeof(struct execsnoop_exec) - args_offset;
	struct execsnoop_exec *exec = bpf_ringbuf_reserve(&event_ring, record_size, 0);
	__u64 kept = source->size, args_kept;
	long length;

	if (!exec)
		return -ENOSPC;
	length = bpf_probe_read_kernel_str(exec->data, path_room, source->filename);
	if (length == path_room && path_room < PATH_MAX) {
		bpf_ringbuf_discard(exec, BPF_RB_NO_WAKEUP);
		return -ENAMETOOLONG;
	}
	/* Without this 6.1's verifier does not see the bound that the compiler has proven. */
	barrier_var(kept);
	if (kept > room)
		kept = room;
	if (bpf_probe_read_user(exec->data + args_offset, kept, (void *)source->strings))
		kept = 0;
	args_kept = kept < source->args_size ? kept : source->args_size;
	exec->process = *process;
	exec->filename_size = length > 0 ? length : 0;
	exec->unreadable_offset = 0;
	exec->args_offset = args_offset;
	exec->args_size = args_kept;
	exec->args_cut = source->args_size - args_kept;
	exec->env_size = kept - args_kept;
	exec->ret = 0;
	exec->context_offset = with_context ? path_room : 0;
	if (with_context)
		context__fill((struct execsnoop_context *)(exec->data + path_room), source->task,
			      CWD_ROOM(path_room));
	ring__submit(exec, record_size);
	return kept < source->size;
}

#define FITS(record_size, path_room)                                                               \
	(sizeof(struct execsnoop_exec) + (path_room) + CONTEXT_ROOM(with_context, path_room) <     \
		 (record_size) &&                                                                  \
	 source->size <= (record_size) - sizeof(struct execsnoop_exec) -                           \
				 (path_room)-CONTEXT_ROOM(with_context, path_room) &&              \
	 (!with_context || source->cwd_size <= CWD_ROOM(path_room)))

/* Sizes of the records, growing by four: a record of 5.9 MB is one piece, as all others. */
static __always_inline int exec__submit_fitting(const struct execsnoop_process *process,
						const struct exec_source *source,
						const bool with_context)
{
	int err = -ENAMETOOLONG;

	if (FITS(512, 96))
		err = exec__submit(process, source, 512, 96, with_context);
	else if (with_context && FITS(1 << 10, 96))
		err = exec__submit(process, source, 1 << 10, 96, with_context);
	else if (FITS(2 << 10, 256))
		err = exec__submit(process, source, 2 << 10, 256, with_context);
	if (err != -ENAMETOOLONG)
		return err;
	if (FITS(8 << 10, PATH_MAX))
		return exec__submit(process, source, 8 << 10, PATH_MAX, with_context);
	if (FITS(32 << 10, PATH_MAX))
		return exec__submit(process, source, 32 << 10, PATH_MAX, with_context);
	if (FITS(128 << 10, PATH_MAX))
		return exec__submit(process, source, 128 << 10, PATH_MAX, with_context);
	if (FITS(512 << 10, PATH_MAX))
		return exec__submit(process, source, 512 << 10, PATH_MAX, with_context);
	if (FITS(2 << 20, PATH_MAX))
		return exec__submit(process, source, 2 << 20, PATH_MAX, with_context);
	return exec__submit(process, source, 8 << 20, PATH_MAX, with_context);
}

/* Better the command without all of its arguments than nothing. */
static __always_inline int exec__submit_somehow(const struct execsnoop_process *process,
						const struct exec_source *source,
						const bool with_context)
{
	int err = exec__submit_fitting(process, source, with_context);

	return err < 0 ? exec__submit(process, source, 8 << 10, PATH_MAX, with_context) : err;
}

static __always_inline void exec__handle(struct task_struct *task, pid_t old_pid,
					 struct linux_binprm *bprm)
{
	struct account_counters *account = account__see(EXECSNOOP_EXEC);
	struct execsnoop_process process;
	struct exec_source source = { .task = task, .filename = bprm->filename };
	int err;

	if (!account)
		return;
	if (!filter__passes(task, old_pid, true)) {
		account__add(&account->filtered);
		return;
	}
	/* Whoever executes is its process's leader by now. */
	process__fill(&process, EXECSNOOP_EXEC, task, task, old_pid, true);
	source.strings = task->mm->arg_start;
	source.args_size = task->mm->arg_end - source.strings;
	source.size = context_config.env ? task->mm->env_end - source.strings : source.args_size;
	source.cwd_size = context__cwd_size();
	if (context__is_wanted())
		err = exec__submit_somehow(&process, &source, true);
	else
		err = exec__submit_somehow(&process, &source, false);
	if (err < 0)
		account__add(&account->lost[ACCOUNT_RING_FULL]);
	else if (err)
		account__add(&account->detail_lost[ACCOUNT_DETAIL_ARGS]);
}

/* Before the next one, with --cwd. */
SEC("?tp_btf/sched_process_exec")
int execsnoop_cwd(unsigned long long *ctx)
{
	cwd__keep(CWD_OF_EXEC);
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(execsnoop_exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	if (stand_in__mark(task, EXECSNOOP_EXEC)) {
		exec__handle(task, old_pid, bprm);
		context__forget();
	}
	return 0;
}

SEC("?tp_btf/sched_process_exec")
int BPF_PROG(execsnoop_exec_stand_in, struct task_struct *task, pid_t old_pid,
	     struct linux_binprm *bprm)
{
	if (stand_in__takes(task, EXECSNOOP_EXEC)) {
		exec__handle(task, old_pid, bprm);
		context__forget();
	}
	return 0;
}

_Static_assert(EXECSNOOP_FAILED_ARGS_MAX == EXEC_WORDS_MOST, "bits of arguments");

/* Sizes of records of failed calls. */
enum failed_size {
	FAILED_SMALL, /* a call as most are */
	FAILED_MEDIUM, /* more arguments */
	FAILED_LARGE, /* longer ones, up to 128 KB (MAX_ARG_STRLEN) */
};

EXEC_WORDS_READER(failed__read_small, 1 << 10, 512, 32)
EXEC_WORDS_READER(failed__read_medium, 24 << 10, 8 << 10, EXECSNOOP_FAILED_ARGS_MAX)
EXEC_WORDS_READER(failed__read_large, 1000 << 10, 256 << 10, EXECSNOOP_FAILED_ARGS_MAX)

/* Reads the arguments; loop: by bpf_loop(), of which the verifier sees one round. */
static __always_inline void failed__read_words(struct exec_words *words,
					       const enum failed_size size, const bool loop)
{
	if (loop && size == FAILED_SMALL)
		bpf_loop(32, failed__read_small, words, 0);
	else if (loop && size == FAILED_MEDIUM)
		bpf_loop(EXECSNOOP_FAILED_ARGS_MAX, failed__read_medium, words, 0);
	else if (loop)
		bpf_loop(EXECSNOOP_FAILED_ARGS_MAX, failed__read_large, words, 0);
	else if (size == FAILED_SMALL)
		for (__u32 i = 0; i < 32 && !failed__read_small(i, words); i++)
			;
	else
		for (__u32 i = 0; i < EXECSNOOP_FAILED_ARGS_UNROLLED; i++)
			if (failed__read_large(i, words))
				break;
}

/*
 * As exec__submit(), for a failed call: 0; 1: submitted without all of it; -ENOSPC: no room in
 * the ring; -ENAMETOOLONG: a larger record would hold more, and this is not the last size.
 */
static __always_inline int failed__submit(const struct execsnoop_process *process,
					  const struct exec_call *call, __s32 ret,
					  const enum failed_size size, const bool last,
					  const bool with_context, __u32 cwd_size, const bool loop)
{
	const __u32 record_size = size == FAILED_SMALL	? (with_context ? 4 << 10 : 2 << 10) :
				  size == FAILED_MEDIUM ? 32 << 10 :
							  1 << 20;
	const __u32 path_room = size == FAILED_SMALL ? 256 : PATH_MAX;
	const __u32 state_offset = path_room + CONTEXT_ROOM(with_context, path_room);
	const __u32 args_offset = state_offset + sizeof(struct exec_words_state);
	struct execsnoop_exec *exec = bpf_ringbuf_reserve(&event_ring, record_size, 0);
	struct exec_words_state *state;
	struct exec_words words;
	bool incomplete;
	long length;

	if (!exec)
		return -ENOSPC;
	state = (struct exec_words_state *)(exec->data + state_offset);
	__builtin_memset(state, 0, sizeof(*state));
	length = exec_call__read_path(call, exec->data, path_room);
	words = (struct exec_words){
		.call = *call,
		.state = state,
		.data = exec->data + args_offset,
	};
	failed__read_words(&words, size, loop);
	if (!last &&
	    (state->end == EXEC_WORDS_FULL || (length == path_room && path_room < PATH_MAX) ||
	     cwd_size > CWD_ROOM(path_room))) {
		bpf_ringbuf_discard(exec, BPF_RB_NO_WAKEUP);
		return -ENAMETOOLONG;
	}
	incomplete = length <= 0 || state->end != EXEC_WORDS_COMPLETE || state->failures;
	exec->process = *process;
	exec->filename_size = length > 0 ? length : 0;
	exec->unreadable_offset = state_offset +
				  __builtin_offsetof(struct exec_words_state, unreadable);
	exec->args_offset = args_offset;
	exec->args_size = state->size;
	exec->args_cut = state->end == EXEC_WORDS_COMPLETE ? 0 : EXECSNOOP_CUT_UNKNOWN;
	exec->env_size = 0;
	exec->ret = ret;
	exec->context_offset = with_context ? path_room : 0;
	if (with_context)
		context__fill((struct execsnoop_context *)(exec->data + path_room),
			      (struct task_struct *)bpf_get_current_task(), CWD_ROOM(path_room));
	ring__submit(exec, record_size);
	return incomplete;
}

static __always_inline int failed__submit_fitting(const struct execsnoop_process *process,
						  const struct exec_call *call, __s32 ret,
						  const bool with_context, __u32 cwd_size,
						  const bool loop)
{
	int err = failed__submit(process, call, ret, FAILED_SMALL, false, with_context, cwd_size,
				 loop);

	if (loop && err == -ENAMETOOLONG)
		err = failed__submit(process, call, ret, FAILED_MEDIUM, false, with_context,
				     cwd_size, loop);
	if (err == -ENAMETOOLONG)
		err = failed__submit(process, call, ret, FAILED_LARGE, true, with_context, cwd_size,
				     loop);
	if (err == -ENOSPC)
		err = failed__submit(process, call, ret, FAILED_SMALL, true, with_context, cwd_size,
				     loop);
	return err;
}

static __always_inline void failed__handle(const struct exec_call *call, long ret, const bool loop)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct account_counters *account = account__see(EXECSNOOP_FAILED);
	__u32 tid = bpf_get_current_pid_tgid();
	struct execsnoop_process process;
	int err;

	if (!account)
		return;
	if (!filter__passes(task, tid, false)) {
		account__add(&account->filtered);
		return;
	}
	process__fill(&process, EXECSNOOP_FAILED, task, BPF_CORE_READ(task, group_leader), tid,
		      false);
	if (context__is_wanted())
		err = failed__submit_fitting(&process, call, ret, true, context__cwd_size(), loop);
	else
		err = failed__submit_fitting(&process, call, ret, false, 0, loop);
	if (err < 0)
		account__add(&account->lost[ACCOUNT_RING_FULL]);
	else if (err)
		account__add(&account->detail_lost[ACCOUNT_DETAIL_ARGS]);
}

/* Before the next one, with --cwd. */
SEC("?tp_btf/sys_exit")
int BPF_PROG(execsnoop_failed_cwd, struct pt_regs *regs, long ret)
{
	struct exec_call call;

	if (ret < 0 && exec_call__read(regs, &call))
		cwd__keep(CWD_OF_FAILED);
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(execsnoop_failed, struct pt_regs *regs, long ret)
{
	struct exec_call call;

	if (ret < 0 && exec_call__read(regs, &call) &&
	    stand_in__mark((struct task_struct *)bpf_get_current_task(), EXECSNOOP_FAILED)) {
		failed__handle(&call, ret, true);
		context__forget();
	}
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(execsnoop_failed_stand_in, struct pt_regs *regs, long ret)
{
	struct exec_call call;

	if (ret < 0 && exec_call__read(regs, &call) &&
	    stand_in__takes((struct task_struct *)bpf_get_current_task(), EXECSNOOP_FAILED)) {
		failed__handle(&call, ret, true);
		context__forget();
	}
	return 0;
}

/* For kernels without bpf_loop(): fewer arguments. */
SEC("?tp_btf/sys_exit")
int BPF_PROG(execsnoop_failed_unrolled, struct pt_regs *regs, long ret)
{
	struct exec_call call;

	if (ret < 0 && exec_call__read(regs, &call)) {
		failed__handle(&call, ret, false);
		context__forget();
	}
	return 0;
}

static __always_inline void exit__handle(struct task_struct *task)
{
	struct account_counters *account = account__see(EXECSNOOP_EXIT);
	struct task_struct *leader = task->group_leader;
	bool execed = !(leader->flags & PF_FORKNOEXEC);
	struct process_times times = {};
	struct execsnoop_exit *exit;

	if (!account)
		return;
	if ((!execed && !show_forks && leader->start_time >= run_started_ns) ||
	    !filter__passes(task, task->pid, true)) {
		account__add(&account->filtered);
		return;
	}
	exit = bpf_ringbuf_reserve(&event_ring, sizeof(*exit), 0);
	if (!exit) {
		account__add(&account->lost[ACCOUNT_RING_FULL]);
		return;
	}
	exit->max_rss_pages = task->signal->maxrss;
	exit->status = process__exit_status(leader);
	process__fill(&exit->process, EXECSNOOP_EXIT, task, leader, task->pid, true);
	exit->execed = execed;
	/* Last, as it has the most branches: the verifier goes through what follows for each. */
	exit->times_known = process__times(task, &times);
	exit->utime_ns = times.utime_ns;
	exit->stime_ns = times.stime_ns;
	exit->runtime_ns = times.runtime_ns;
	exit->unused[0] = exit->unused[1] = 0;
	ring__submit(exit, sizeof(*exit));
}

SEC("?tp_btf/sched_process_exit")
int execsnoop_exit(unsigned long long *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];

	if (stand_in__mark(task, EXECSNOOP_EXIT) && process__ends(task, ctx))
		exit__handle(task);
	return 0;
}

SEC("?tp_btf/sched_process_exit")
int execsnoop_exit_stand_in(unsigned long long *ctx)
{
	struct task_struct *task = (struct task_struct *)ctx[0];

	if (stand_in__takes(task, EXECSNOOP_EXIT) && process__ends(task, ctx))
		exit__handle(task);
	return 0;
}
