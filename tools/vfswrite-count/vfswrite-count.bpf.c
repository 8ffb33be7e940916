// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who writes: calls, bytes and failures by the task that calls. A call is counted at its return by
 * fexit and by system call, which has the result; by kprobe it is counted at its entry, since that
 * loses none, and its result is added when it comes.
 */
#include "bpf/filter.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/ring.bpf.h"
#include "row.bpf.h"
#include "walk.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* A call that is inside: its thread, and its place on the thread's stack. By fentry and fexit that
 * is where their arguments lie, which is the same for both; a system call is the only one of its
 * thread. */
struct frame {
	__u64 thread;
	__u64 sp;
};

struct call {
	__u64 start_ns;
	struct vfswrite_key key; /* by kprobe */
};

/* Calls of which something must be known at the return: their key by kprobe, when it cannot be told
 * there, or when they began. Sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct frame);
	__type(value, struct call);
} calls SEC(".maps");

/* It had no room once: a call that is not in it may have begun in the run. */
__u32 calls_full = 0;

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

/* The file of an asynchronous write. */
static __always_inline struct file *kiocb__file(struct kiocb *request)
{
	return vfswrite_config.by & VFSWRITE_BY_PLACE ? BPF_CORE_READ(request, ki_filp) : NULL;
}

static __always_inline struct file *io_kiocb__file(struct io_kiocb *request)
{
	return vfswrite_config.by & VFSWRITE_BY_PLACE ? BPF_CORE_READ(request, file) : NULL;
}

static __always_inline bool is_counted(__u32 func)
{
	return vfswrite_config.counted & (1U << func);
}

static __always_inline bool has_times(void)
{
	return vfswrite_config.distribution == VFSWRITE_TIMES;
}

static __always_inline struct frame frame__of(__u64 sp)
{
	return (struct frame){ .thread = bpf_get_current_pid_tgid(), .sp = sp };
}

/* A call at its entry, where it is counted at its return and its time is wanted. */
static __always_inline int begin_call(__u32 func, __u64 sp)
{
	const struct frame frame = frame__of(sp);
	struct call call = {};

	if (!is_counted(func) || !run_started_ns || !filter__current_passes())
		return 0;
	call.start_ns = bpf_ktime_get_ns();
	if ((__u32)bpf_map_update_elem(&calls, &frame, &call, BPF_ANY))
		calls_full = 1;
	return 0;
}

/* The time of a call that returns. */
static __always_inline void end_call(const struct vfswrite_key *key, __u64 sp,
				     struct account_counters *account)
{
	const struct frame frame = frame__of(sp);
	const struct call *call = bpf_map_lookup_elem(&calls, &frame);
	__u64 now_ns = bpf_ktime_get_ns();

	if (call) {
		distribute(key, now_ns - call->start_ns, false);
		bpf_map_delete_elem(&calls, &frame);
	} else if (calls_full) {
		account__add(&account->detail_lost[ACCOUNT_DETAIL_DISTRIBUTION]);
	} else {
		account__add(&account->begun_before);
	}
}

/* A call at its return. sp: of its frame. */
static __always_inline void count_returned(__u32 func, struct file *file, __u64 sp, long result)
{
	struct account_counters *account = account__see(VFSWRITE_CALL);
	struct vfswrite_key key = {};
	struct vfswrite_row *row = NULL;

	if (!account)
		return;
	if (!filter__current_passes()) {
		account__add(&account->filtered);
		return;
	}
	if (key__fill(&key, func, file))
		row = row__find(&key, true);
	if (!row) {
		account__add(&account->lost[ACCOUNT_MAP_FULL]);
		return;
	}
	__sync_fetch_and_add(&row->calls, 1);
	row__add_result(row, &key, func, result, false);
	if (has_times())
		end_call(&key, sp, account);
}

/* Calls of what has no rows, by enum vfswrite_func. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, VFSWRITE_NR_FUNCS);
	__type(key, __u32);
	__type(value, __u64);
} calls_aside SEC(".maps");

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
static __always_inline int count_exit(__u32 func, struct file *file, __u64 sp, long result)
{
	if (is_counted(func))
		count_returned(func, file, sp, result);
	else
		count_aside(func);
	return 0;
}

SEC("?fexit/vfs_write")
int BPF_PROG(write_exit, struct file *file, const char *buffer, size_t count, loff_t *position,
	     ssize_t result)
{
	return count_exit(VFSWRITE_VFS_WRITE, file, (__u64)ctx, result);
}

SEC("?fexit/vfs_read")
int BPF_PROG(read_exit, struct file *file, char *buffer, size_t count, loff_t *position,
	     ssize_t result)
{
	return count_exit(VFSWRITE_VFS_READ, file, (__u64)ctx, result);
}

SEC("?fexit/vfs_writev")
int BPF_PROG(writev_exit, struct file *file, const void *vector, unsigned long nr, loff_t *position,
	     __u32 flags, ssize_t result)
{
	return count_exit(VFSWRITE_VFS_WRITEV, file, (__u64)ctx, result);
}

SEC("?fexit/iter_file_splice_write")
int BPF_PROG(splice_exit, void *pipe, struct file *file, loff_t *position, size_t count,
	     __u32 flags, ssize_t result)
{
	return count_exit(VFSWRITE_ITER_FILE_SPLICE_WRITE, file, (__u64)ctx, result);
}

SEC("?fexit/vfs_copy_file_range")
int BPF_PROG(copy_exit, struct file *from, loff_t from_position, struct file *to,
	     loff_t to_position, size_t count, __u32 flags, ssize_t result)
{
	return count_exit(VFSWRITE_VFS_COPY_FILE_RANGE, to, (__u64)ctx, result);
}

SEC("?fexit/aio_write")
int BPF_PROG(aio_exit, struct kiocb *request)
{
	return count_exit(VFSWRITE_AIO_WRITE, kiocb__file(request), (__u64)ctx, 0);
}

SEC("?fexit/io_write")
int BPF_PROG(io_exit, struct io_kiocb *request)
{
	return count_exit(VFSWRITE_IO_WRITE, io_kiocb__file(request), (__u64)ctx, 0);
}

SEC("?fexit/kernel_write")
int BPF_PROG(kernel_exit, struct file *file, const void *buffer, size_t count, loff_t *position,
	     ssize_t result)
{
	return count_exit(VFSWRITE_KERNEL_WRITE, file, (__u64)ctx, result);
}

SEC("?fexit/__kernel_write")
int BPF_PROG(inner_kernel_exit, struct file *file, const void *buffer, size_t count,
	     loff_t *position, ssize_t result)
{
	return count_exit(VFSWRITE___KERNEL_WRITE, file, (__u64)ctx, result);
}

#define BEGIN(function, name, func)                                                                \
	SEC("?fentry/" function)                                                                   \
	int name##_entry(unsigned long long *ctx)                                                  \
	{                                                                                          \
		return begin_call(func, (__u64)ctx);                                               \
	}

BEGIN("vfs_write", write, VFSWRITE_VFS_WRITE)
BEGIN("vfs_read", read, VFSWRITE_VFS_READ)
BEGIN("vfs_writev", writev, VFSWRITE_VFS_WRITEV)
BEGIN("iter_file_splice_write", splice, VFSWRITE_ITER_FILE_SPLICE_WRITE)
BEGIN("vfs_copy_file_range", copy, VFSWRITE_VFS_COPY_FILE_RANGE)
BEGIN("aio_write", aio, VFSWRITE_AIO_WRITE)
BEGIN("io_write", io, VFSWRITE_IO_WRITE)
BEGIN("kernel_write", kernel, VFSWRITE_KERNEL_WRITE)
BEGIN("__kernel_write", inner_kernel, VFSWRITE___KERNEL_WRITE)

/* Whether a result cannot be given to its row by who is current at the return. */
static __always_inline bool keeps_calls(void)
{
	return is_by(VFSWRITE_BY_CPU) || vfswrite_config.by & VFSWRITE_BY_PLACE || has_times();
}

/* Whether the return of a function is looked at. */
static __always_inline bool has_return(__u32 func)
{
	return func__has_bytes(func) || has_times();
}

/* A call that was inside when the run began. */
static __always_inline void note_before(__u32 func, __u64 sp)
{
	const struct frame frame = frame__of(sp);

	if (has_return(func) && !bpf_map_update_elem(&calls_before, &frame, &present, BPF_NOEXIST))
		__sync_fetch_and_add(&nr_calls_before, 1);
}

/* At the entry of a function, the return address is on top of the stack. */
static __always_inline int count_call(__u32 func, struct file *file, __u64 sp)
{
	struct account_counters *account;
	struct vfswrite_row *row = NULL;
	struct call call = {};
	struct frame frame;

	if (!is_counted(func)) {
		count_aside(func);
		return 0;
	}
	account = account__see(VFSWRITE_CALL);
	if (!account) {
		note_before(func, sp);
		return 0;
	}
	if (!filter__current_passes()) {
		account__add(&account->filtered);
		return 0;
	}
	if (key__fill(&call.key, func, file))
		row = row__find(&call.key, true);
	if (!row) {
		account__add(&account->lost[ACCOUNT_MAP_FULL]);
		return 0;
	}
	__sync_fetch_and_add(&row->calls, 1);
	if (!has_return(func)) {
		__sync_fetch_and_add(&row->results, 1);
	} else if (keeps_calls()) {
		frame = frame__of(sp);
		call.start_ns = bpf_ktime_get_ns();
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

/* Fills what was kept of the call that returns. False when it is none of the run. */
static __always_inline bool call__take(struct call *call, __u32 func, __u64 sp)
{
	struct call *kept;
	struct frame frame;

	if (!keeps_calls())
		return filter__current_passes() && key__fill(&call->key, func, NULL);
	frame = frame__of(sp);
	kept = bpf_map_lookup_elem(&calls, &frame);
	if (!kept)
		return false;
	*call = *kept;
	bpf_map_delete_elem(&calls, &frame);
	return true;
}

/* The return has taken the return address from the stack. */
static __always_inline int count_result(struct pt_regs *ctx, __u32 func)
{
	__u64 sp = PT_REGS_SP(ctx) - sizeof(__u64), now_ns = 0;
	struct vfswrite_row *row;
	struct call call = {};

	if (has_times())
		now_ns = bpf_ktime_get_ns();
	if (was_before(sp) || !run_started_ns || !call__take(&call, func, sp))
		return 0;
	/* A call without room for its row was lost whole. */
	row = row__find(&call.key, false);
	if (!row)
		return 0;
	__sync_fetch_and_add(&row->results, 1);
	row__add_result(row, &call.key, func, func__has_bytes(func) ? PT_REGS_RC(ctx) : 0, true);
	if (has_times())
		distribute(&call.key, now_ns - call.start_ns, true);
	return 0;
}

#define ENTRY_AND_RETURN(function, name, func, file)                                               \
	SEC("?kprobe/" function)                                                                   \
	int name##_call(struct pt_regs *ctx)                                                       \
	{                                                                                          \
		return count_call(func, file, PT_REGS_SP(ctx));                                    \
	}                                                                                          \
	SEC("?kretprobe/" function)                                                                \
	int name##_result(struct pt_regs *ctx)                                                     \
	{                                                                                          \
		return count_result(ctx, func);                                                    \
	}

#define FILE_1ST ((struct file *)PT_REGS_PARM1(ctx))
#define FILE_2ND ((struct file *)PT_REGS_PARM2(ctx))
#define FILE_3RD ((struct file *)PT_REGS_PARM3(ctx))
#define FILE_OF_KIOCB kiocb__file((struct kiocb *)PT_REGS_PARM1(ctx))
#define FILE_OF_IO_KIOCB io_kiocb__file((struct io_kiocb *)PT_REGS_PARM1(ctx))

ENTRY_AND_RETURN("vfs_write", write, VFSWRITE_VFS_WRITE, FILE_1ST)
ENTRY_AND_RETURN("vfs_read", read, VFSWRITE_VFS_READ, FILE_1ST)
ENTRY_AND_RETURN("vfs_writev", writev, VFSWRITE_VFS_WRITEV, FILE_1ST)
ENTRY_AND_RETURN("iter_file_splice_write", splice, VFSWRITE_ITER_FILE_SPLICE_WRITE, FILE_2ND)
ENTRY_AND_RETURN("vfs_copy_file_range", copy, VFSWRITE_VFS_COPY_FILE_RANGE, FILE_3RD)
ENTRY_AND_RETURN("aio_write", aio, VFSWRITE_AIO_WRITE, FILE_OF_KIOCB)
ENTRY_AND_RETURN("io_write", io, VFSWRITE_IO_WRITE, FILE_OF_IO_KIOCB)
ENTRY_AND_RETURN("kernel_write", kernel, VFSWRITE_KERNEL_WRITE, FILE_1ST)
ENTRY_AND_RETURN("__kernel_write", inner_kernel, VFSWRITE___KERNEL_WRITE, FILE_1ST)

/* The file that a system call writes to, by its descriptor: the first argument, or the third. At
 * its end another thread can have closed the descriptor, or given it to another file. */
static __always_inline struct file *syscall__file(struct pt_regs *regs, __u32 func, bool compat)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	bool third = func == VFSWRITE_SYS_SPLICE || func == VFSWRITE_SYS_COPY_FILE_RANGE;
	struct file *file = NULL;
	struct fdtable *table;
	struct file **files;
	__u32 fd;

	if (!(vfswrite_config.by & VFSWRITE_BY_PLACE))
		return NULL;
	fd = third ? regs->dx : compat ? regs->bx : regs->di;
	table = BPF_CORE_READ(task, files, fdt);
	if (!table || fd >= BPF_CORE_READ(table, max_fds))
		return NULL;
	files = BPF_CORE_READ(table, fd);
	bpf_probe_read_kernel(&file, sizeof(file), &files[fd]);
	return file;
}

/* What a number is; VFSWRITE_NR_FUNCS where it is not looked at. The tracepoints are of all system
 * calls: most are none of these, so numbers are looked at first. */
static __always_inline __u32 syscall__func(__u64 number, bool *compat)
{
	__u32 func;

	if (number >= VFSWRITE_NR_SYSCALLS)
		return VFSWRITE_NR_FUNCS;
	/* 6.1's verifier does not see the bound that the compiler has proven. */
	barrier_var(number);
	number &= VFSWRITE_NR_SYSCALLS - 1;
	if (!vfswrite_config.syscalls[0][number] && !vfswrite_config.syscalls[1][number])
		return VFSWRITE_NR_FUNCS;
	*compat = current__is_compat();
	func = *compat ? vfswrite_config.syscalls[1][number] : vfswrite_config.syscalls[0][number];
	return func ? func - 1 : VFSWRITE_NR_FUNCS;
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(syscall_entry, struct pt_regs *regs, long number)
{
	bool compat = false;
	__u32 func = syscall__func(number, &compat);

	return func < VFSWRITE_NR_FUNCS ? begin_call(func, 0) : 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(syscall_exit, struct pt_regs *regs, long result)
{
	bool compat = false;
	__u32 func = syscall__func(regs->orig_ax, &compat);

	if (func < VFSWRITE_NR_FUNCS)
		count_exit(func, syscall__file(regs, func, compat), 0, result);
	return 0;
}
