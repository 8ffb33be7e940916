// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who writes: calls, bytes and failures by the task that calls. A call is counted at its return by
 * fexit and by system call, which has the result; by kprobe it is counted at its entry, since that
 * loses none, and its result is added when it comes.
 */
#include "bpf/account.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/ring.bpf.h"
#include "vfswrite-count.h"

char LICENSE[] SEC("license") = "GPL";

#define MAX_ERRNO 4095 /* include/linux/err.h */

const volatile struct vfswrite_config vfswrite_config = {};

/* Both sized by user space, keys and all. Not preallocated: most keys never come. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(struct vfswrite_key));
	__uint(value_size, sizeof(struct vfswrite_row));
} rows SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(struct vfswrite_error_key));
	__uint(value_size, sizeof(__u64));
} errors SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, VFSWRITE_HOT_ROWS);
	__type(key, __u32);
	__type(value, struct vfswrite_hot);
} hot_rows SEC(".maps");

/* Who may give a key to a hot row: whoever can make its entry here. On each CPU one task alone,
 * also when it is preempted there. Sized by user space. */
struct hot_claim {
	__u32 cpu;
	__u32 index;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct hot_claim);
	__type(value, __u8);
} hot_claims SEC(".maps");

/* A call that is inside: its thread and its place on the thread's stack. */
struct frame {
	__u64 thread;
	__u64 sp;
};

struct call {
	struct vfswrite_key key;
};

/* Calls by kprobe whose key cannot be told at the return; sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct frame);
	__type(value, struct call);
} calls SEC(".maps");

/* Calls by kprobe that were inside when the run began: their results are nobody's. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, struct frame);
	__type(value, __u8);
} calls_before SEC(".maps");

/* How many are in it. */
__u64 nr_calls_before = 0;

static const struct vfswrite_row no_row;
static const __u64 no_errors;
static const __u8 present = 1;

static __always_inline bool is_by(__u32 key)
{
	return vfswrite_config.by & (1U << key);
}

static __always_inline void key__fill_comm(struct vfswrite_key *key)
{
	struct task_struct *task;

	if (is_by(VFSWRITE_BY_TID)) {
		bpf_get_current_comm(key->comm, sizeof(key->comm));
	} else if (current__is_typed()) {
		task = bpf_get_current_task_btf();
		task__process_comm(task, key->comm, true);
	} else {
		task = (struct task_struct *)bpf_get_current_task();
		task__process_comm(task, key->comm, false);
	}
}

/* All of the key: who calls, and what. */
static __always_inline void key__fill(struct vfswrite_key *key, __u32 func)
{
	__u64 ids;

	if (is_by(VFSWRITE_BY_COMM) || is_by(VFSWRITE_BY_PID) || is_by(VFSWRITE_BY_TID))
		key__fill_comm(key);
	if (is_by(VFSWRITE_BY_PID) || is_by(VFSWRITE_BY_TID)) {
		ids = bpf_get_current_pid_tgid();
		key->pid = ids >> 32;
		if (is_by(VFSWRITE_BY_TID))
			key->tid = (__u32)ids;
	}
	if (is_by(VFSWRITE_BY_FUNC))
		key->func = func;
	if (is_by(VFSWRITE_BY_CPU))
		key->cpu = bpf_get_smp_processor_id();
	if (is_by(VFSWRITE_BY_UID))
		key->uid = (__u32)bpf_get_current_uid_gid();
	if (is_by(VFSWRITE_BY_CGROUP))
		key->cgroup_id = bpf_get_current_cgroup_id();
}

/* The place of a key among the hot rows: by multiplication with odd numbers that have many bits. */
static __always_inline struct vfswrite_hot *hot__place(const struct vfswrite_key *key, __u32 *index)
{
	const __u64 *words = (const __u64 *)key;

	*index = (words[0] * 0x9e3779b97f4a7c15 + words[1] * 0xc2b2ae3d27d4eb4f +
		  words[2] * 0x165667b19e3779f9) >>
		 58;
	return bpf_map_lookup_elem(&hot_rows, index);
}

static __always_inline bool hot__holds(const struct vfswrite_hot *hot,
				       const struct vfswrite_key *key)
{
	const __u64 *words = (const __u64 *)key;

	return hot->words[0] == words[0] && hot->words[1] == words[1] && hot->words[2] == words[2];
}

/* Gives a free hot row its key, for the calls to come. */
static __always_inline void hot__claim(struct vfswrite_hot *hot, const struct vfswrite_key *key,
				       __u32 index)
{
	struct hot_claim claim = { .cpu = bpf_get_smp_processor_id(), .index = index };
	const __u64 *words = (const __u64 *)key;

	if (hot->words[0] || !words[0] ||
	    bpf_map_update_elem(&hot_claims, &claim, &present, BPF_NOEXIST))
		return;
	hot->words[1] = words[1];
	hot->words[2] = words[2];
	barrier();
	hot->words[0] = words[0];
}

/* make: whether it is made when it is not there. NULL when there is no room. */
static __always_inline struct vfswrite_row *row__find(const struct vfswrite_key *key, bool make)
{
	struct vfswrite_hot *hot = NULL;
	struct vfswrite_row *row;
	__u32 index;

	if (vfswrite_config.hot_size) {
		hot = hot__place(key, &index);
		if (hot && hot__holds(hot, key))
			return &hot->row;
	}
	row = bpf_map_lookup_elem(&rows, key);
	if (!row && make) {
		/* When another CPU was first, the row is there all the same. */
		bpf_map_update_elem(&rows, key, &no_row, BPF_NOEXIST);
		row = bpf_map_lookup_elem(&rows, key);
	}
	/* A hot row is only for a key that has found room. */
	if (row && hot)
		hot__claim(hot, key, index);
	return row;
}

static __always_inline void count_error(const struct vfswrite_key *key, __u32 error)
{
	struct account_counters *account;
	struct vfswrite_error_key error_key = { .error = error, .key = *key };
	__u64 *count = bpf_map_lookup_elem(&errors, &error_key);

	if (!count) {
		bpf_map_update_elem(&errors, &error_key, &no_errors, BPF_NOEXIST);
		count = bpf_map_lookup_elem(&errors, &error_key);
	}
	if (count) {
		__sync_fetch_and_add(count, 1);
		return;
	}
	account = account__open(VFSWRITE_CALL);
	if (account)
		account__add(&account->detail_lost[ACCOUNT_DETAIL_ERRNO]);
}

static __always_inline void row__add_result(struct vfswrite_row *row,
					    const struct vfswrite_key *key, long result)
{
	if (result > 0)
		__sync_fetch_and_add(&row->bytes, result);
	else if (result < 0 && result >= -MAX_ERRNO)
		count_error(key, (__u32)-result);
}

/* A call at its return. */
static __always_inline void count_returned(__u32 func, long result)
{
	struct account_counters *account = account__see(VFSWRITE_CALL);
	struct vfswrite_key key = {};
	struct vfswrite_row *row;

	if (!account)
		return;
	if (!filter__current_passes()) {
		account__add(&account->filtered);
		return;
	}
	key__fill(&key, func);
	row = row__find(&key, true);
	if (!row) {
		account__add(&account->lost[ACCOUNT_MAP_FULL]);
		return;
	}
	__sync_fetch_and_add(&row->calls, 1);
	row__add_result(row, &key, result);
}

/* Calls of what has no rows, by enum vfswrite_func. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, VFSWRITE_NR_FUNCS);
	__type(key, __u32);
	__type(value, __u64);
} calls_aside SEC(".maps");

static __always_inline bool is_counted(__u32 func)
{
	return vfswrite_config.counted & (1U << func);
}

static __always_inline void count_aside(__u32 func)
{
	__u64 *count;

	if (!run_started_ns || !filter__current_passes())
		return;
	count = bpf_map_lookup_elem(&calls_aside, &func);
	if (count)
		__sync_fetch_and_add(count, 1);
}

/* A function at its return; result: 0 where it says nothing of the bytes. */
static __always_inline int count_exit(__u32 func, long result)
{
	if (is_counted(func))
		count_returned(func, result);
	else
		count_aside(func);
	return 0;
}

SEC("?fexit/vfs_write")
int BPF_PROG(write_exit, struct file *file, const char *buffer, size_t count, loff_t *position,
	     ssize_t result)
{
	return count_exit(VFSWRITE_VFS_WRITE, result);
}

SEC("?fexit/vfs_read")
int BPF_PROG(read_exit, struct file *file, char *buffer, size_t count, loff_t *position,
	     ssize_t result)
{
	return count_exit(VFSWRITE_VFS_READ, result);
}

SEC("?fexit/vfs_writev")
int BPF_PROG(writev_exit, struct file *file, const void *vector, unsigned long nr, loff_t *position,
	     __u32 flags, ssize_t result)
{
	return count_exit(VFSWRITE_VFS_WRITEV, result);
}

SEC("?fexit/iter_file_splice_write")
int BPF_PROG(splice_exit, void *pipe, struct file *file, loff_t *position, size_t count,
	     __u32 flags, ssize_t result)
{
	return count_exit(VFSWRITE_ITER_FILE_SPLICE_WRITE, result);
}

SEC("?fexit/vfs_copy_file_range")
int BPF_PROG(copy_exit, struct file *from, loff_t from_position, struct file *to,
	     loff_t to_position, size_t count, __u32 flags, ssize_t result)
{
	return count_exit(VFSWRITE_VFS_COPY_FILE_RANGE, result);
}

SEC("?fexit/aio_write")
int BPF_PROG(aio_exit)
{
	return count_exit(VFSWRITE_AIO_WRITE, 0);
}

SEC("?fexit/io_write")
int BPF_PROG(io_exit)
{
	return count_exit(VFSWRITE_IO_WRITE, 0);
}

SEC("?fexit/kernel_write")
int BPF_PROG(kernel_exit, struct file *file, const void *buffer, size_t count, loff_t *position,
	     ssize_t result)
{
	return count_exit(VFSWRITE_KERNEL_WRITE, result);
}

SEC("?fexit/__kernel_write")
int BPF_PROG(inner_kernel_exit, struct file *file, const void *buffer, size_t count,
	     loff_t *position, ssize_t result)
{
	return count_exit(VFSWRITE___KERNEL_WRITE, result);
}

/* Whether a result cannot be given to its row by who is current at the return. */
static __always_inline bool keeps_calls(void)
{
	return is_by(VFSWRITE_BY_CPU);
}

static __always_inline struct frame frame__of(__u64 sp)
{
	return (struct frame){ .thread = bpf_get_current_pid_tgid(), .sp = sp };
}

/* At the entry of a function, the return address is on top of the stack. */
static __always_inline int count_call(struct pt_regs *ctx, __u32 func, bool has_result)
{
	struct account_counters *account;
	struct frame frame;
	struct call call = {};
	struct vfswrite_row *row;

	if (!is_counted(func)) {
		count_aside(func);
		return 0;
	}
	account = account__see(VFSWRITE_CALL);
	if (!account) {
		frame = frame__of(PT_REGS_SP(ctx));
		if (has_result &&
		    !bpf_map_update_elem(&calls_before, &frame, &present, BPF_NOEXIST))
			__sync_fetch_and_add(&nr_calls_before, 1);
		return 0;
	}
	if (!filter__current_passes()) {
		account__add(&account->filtered);
		return 0;
	}
	key__fill(&call.key, func);
	row = row__find(&call.key, true);
	if (!row) {
		account__add(&account->lost[ACCOUNT_MAP_FULL]);
		return 0;
	}
	__sync_fetch_and_add(&row->calls, 1);
	if (!has_result) {
		__sync_fetch_and_add(&row->results, 1);
	} else if (keeps_calls()) {
		frame = frame__of(PT_REGS_SP(ctx));
		bpf_map_update_elem(&calls, &frame, &call, BPF_ANY);
	}
	return 0;
}

/* Whether the call was inside when the run began. Most runs have none left after a moment. */
static __always_inline bool was_before(__u64 sp)
{
	struct frame frame;

	if (!nr_calls_before)
		return false;
	frame = frame__of(sp);
	if (bpf_map_delete_elem(&calls_before, &frame))
		return false;
	__sync_fetch_and_add(&nr_calls_before, -1);
	return true;
}

/* Fills the key of the call that returns. False when it has none. */
static __always_inline bool call__take_key(struct vfswrite_key *key, __u32 func, __u64 sp)
{
	struct frame frame;
	struct call *call;

	if (!keeps_calls()) {
		if (!filter__current_passes())
			return false;
		key__fill(key, func);
		return true;
	}
	frame = frame__of(sp);
	call = bpf_map_lookup_elem(&calls, &frame);
	if (!call)
		return false;
	*key = call->key;
	bpf_map_delete_elem(&calls, &frame);
	return true;
}

/* The return has taken the return address from the stack. */
static __always_inline int count_result(struct pt_regs *ctx, __u32 func)
{
	__u64 sp = PT_REGS_SP(ctx) - sizeof(__u64);
	struct vfswrite_key key = {};
	struct vfswrite_row *row;

	if (was_before(sp) || !run_started_ns || !call__take_key(&key, func, sp))
		return 0;
	/* A call without room for its row was lost whole. */
	row = row__find(&key, false);
	if (!row)
		return 0;
	__sync_fetch_and_add(&row->results, 1);
	row__add_result(row, &key, PT_REGS_RC(ctx));
	return 0;
}

#define ENTRY(function, name, func, has_result)                                                    \
	SEC("?kprobe/" function)                                                                   \
	int name##_call(struct pt_regs *ctx)                                                       \
	{                                                                                          \
		return count_call(ctx, func, has_result);                                          \
	}

#define ENTRY_AND_RETURN(function, name, func)                                                     \
	ENTRY(function, name, func, true)                                                          \
	SEC("?kretprobe/" function)                                                                \
	int name##_result(struct pt_regs *ctx)                                                     \
	{                                                                                          \
		return count_result(ctx, func);                                                    \
	}

ENTRY_AND_RETURN("vfs_write", write, VFSWRITE_VFS_WRITE)
ENTRY_AND_RETURN("vfs_read", read, VFSWRITE_VFS_READ)
ENTRY_AND_RETURN("vfs_writev", writev, VFSWRITE_VFS_WRITEV)
ENTRY_AND_RETURN("iter_file_splice_write", splice, VFSWRITE_ITER_FILE_SPLICE_WRITE)
ENTRY_AND_RETURN("vfs_copy_file_range", copy, VFSWRITE_VFS_COPY_FILE_RANGE)
ENTRY("aio_write", aio, VFSWRITE_AIO_WRITE, false)
ENTRY("io_write", io, VFSWRITE_IO_WRITE, false)
ENTRY_AND_RETURN("kernel_write", kernel, VFSWRITE_KERNEL_WRITE)
ENTRY_AND_RETURN("__kernel_write", inner_kernel, VFSWRITE___KERNEL_WRITE)

/* The tracepoint of all system calls: most are none of these, so numbers are looked at first. */
SEC("?tp_btf/sys_exit")
int BPF_PROG(syscall_exit, struct pt_regs *regs, long result)
{
	__u64 number = regs->orig_ax;
	__u32 func;

	if (number >= VFSWRITE_NR_SYSCALLS)
		return 0;
	/* 6.1's verifier does not see the bound that the compiler has proven. */
	barrier_var(number);
	number &= VFSWRITE_NR_SYSCALLS - 1;
	if (!vfswrite_config.syscalls[0][number] && !vfswrite_config.syscalls[1][number])
		return 0;
	func = current__is_compat() ? vfswrite_config.syscalls[1][number] :
				      vfswrite_config.syscalls[0][number];
	if (!func)
		return 0;
	func--;
	if (func < VFSWRITE_NR_FUNCS)
		count_exit(func, result);
	return 0;
}

/* What the tables hold, entry by entry (see collect/table.h). */
SEC("?iter/bpf_map_elem")
int walk_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	void *key = ctx->key, *value = ctx->value;

	if (!key || !value)
		return 0;
	bpf_seq_write(seq, key, vfswrite_config.key_size);
	bpf_seq_write(seq, value, vfswrite_config.row_size);
	return 0;
}

/* The hot rows of all CPUs have their keys in them. */
SEC("?iter/bpf_map_elem")
int walk_hot(struct bpf_iter__bpf_map_elem *ctx)
{
	void *value = ctx->value;

	if (value)
		bpf_seq_write(ctx->meta->seq, value, vfswrite_config.hot_size);
	return 0;
}

SEC("?iter/bpf_map_elem")
int walk_errors(struct bpf_iter__bpf_map_elem *ctx)
{
	struct seq_file *seq = ctx->meta->seq;
	void *key = ctx->key, *value = ctx->value;

	if (!key || !value)
		return 0;
	bpf_seq_write(seq, key,
		      vfswrite_config.key_size +
			      __builtin_offsetof(struct vfswrite_error_key, key));
	bpf_seq_write(seq, value, sizeof(__u64));
	return 0;
}
