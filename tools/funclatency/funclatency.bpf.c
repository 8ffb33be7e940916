// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long calls of a function last. Entry and return of one call are paired by where its frame
 * lies, which no other live call has: so recursion, interrupts on top of a task, idle CPUs and
 * tasks that move to another CPU come out right, without a count of the depth.
 *
 * For fentry and fexit it is the address of the arguments, which lie in the trampoline's own frame;
 * for kprobe and kretprobe that of the return address, and for uprobe and uretprobe that with the
 * thread; for system calls that of the registers that the entry has saved, which is one for each
 * task.
 */
#include "bpf/account.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/hist.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/ring.bpf.h"
#include "bpf/slowest.bpf.h"
#include "funclatency.h"

char LICENSE[] SEC("license") = "GPL";

#define X32_BIT 0x40000000 /* arch/x86/include/uapi/asm/unistd.h: a call by the x32 ABI */
#define NR_RT_SIGRETURN 15 /* arch/x86/entry/syscalls/syscall_64.tbl */
#define NR_I386_RT_SIGRETURN 173 /* arch/x86/entry/syscalls/syscall_32.tbl */
#define E2BIG 7 /* include/uapi/asm-generic/errno-base.h */

const volatile struct funclatency_config funclatency_config = {};

/*
 * Calls by frame; sized by user space. A frame stays in the table when its call has returned, with
 * a start of 0: the next call at the same place finds it there, which is half of what adding and
 * deleting costs, and takes no lock. Preallocated: any function can be traced, also one that is
 * called with the locks of an allocator.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, struct funclatency_frame);
} frames SEC(".maps");

/* The table had no room once: from then on frames without a call are deleted. */
__u32 frames_full = 0;

/* In front of them: most calls find their frames here. Mapped by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, FUNCLATENCY_NR_SLOTS);
	__type(key, __u32);
	__type(value, struct funclatency_slot);
} slots SEC(".maps");

/* Who may give a frame to a slot: whoever can make its entry here. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FUNCLATENCY_NR_SLOTS);
	__type(key, __u32);
	__type(value, __u8);
} slot_claims SEC(".maps");

struct cpu_state {
	struct slowest_of_cpu slowest;
	/* Where programs make a number of a pointer: those of an entry, and those of a return, as
	 * each can interrupt the other. */
	__u64 entry_key;
	__u64 exit_key;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct cpu_state);
} cpus SEC(".maps");

static const struct funclatency_frame no_frame;
static const __u8 present = 1;

/* What names a call. */
struct frame_key {
	__u64 key; /* for the table: may be a pointer */
	__u64 number; /* the same, to calculate with; 0 where that cannot be had */
};

static __always_inline struct cpu_state *cpu__get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&cpus, &zero);
}

/*
 * The key that a pointer is. The verifier does not let a program calculate with it, but gives what
 * lies in memory as a number. place: of this program alone on this CPU, where the kernel runs it
 * but once at a time, so that nobody else writes there meanwhile; before 5.12 it did not see to
 * that.
 */
static __always_inline struct frame_key key__of_pointer(void *pointer, __u64 *place)
{
	struct frame_key key = { .key = (__u64)pointer };

	if (!place || !bpf_core_field_exists(struct bpf_prog_stats, misses))
		return key;
	*(volatile __u64 *)place = (__u64)pointer;
	key.number = *(volatile __u64 *)place;
	return key;
}

static __always_inline struct frame_key key__of_number(__u64 number)
{
	return (struct frame_key){ .key = number, .number = number };
}

/* The place of a frame in front of the table; by multiplication with an odd number that has many
 * bits. NULL where the key is no number. */
static __always_inline struct funclatency_slot *slot__of(const struct frame_key *key, __u32 *index)
{
	if (!key->number)
		return NULL;
	*index = (key->number * 0x9e3779b97f4a7c15) >> (64 - FUNCLATENCY_SLOT_BITS);
	return bpf_map_lookup_elem(&slots, index);
}

static __always_inline struct funclatency_frame *frame__find(const struct frame_key *key)
{
	struct funclatency_slot *slot;
	__u32 index;

	slot = slot__of(key, &index);
	if (slot && slot->key == key->number)
		return &slot->frame;
	return bpf_map_lookup_elem(&frames, &key->key);
}

/* A frame that was not used before gets a place: its slot, if that is free, or an element of the
 * table. NULL, accounted for, when there is no room. */
static __always_inline struct funclatency_frame *frame__add(const struct frame_key *key,
							    struct account_counters *account)
{
	struct funclatency_frame *frame;
	struct funclatency_slot *slot;
	/* Before 6.4 the call, which the verifier makes a direct one, gives 32 bits. */
	__u32 index, err;

	slot = slot__of(key, &index);
	if (slot && !slot->key &&
	    !(__u32)bpf_map_update_elem(&slot_claims, &index, &present, BPF_NOEXIST)) {
		slot->key = key->number;
		return &slot->frame;
	}
	err = bpf_map_update_elem(&frames, &key->key, &no_frame, BPF_NOEXIST);
	frame = bpf_map_lookup_elem(&frames, &key->key);
	if (frame)
		return frame;
	if (err == (__u32)-E2BIG) {
		frames_full = 1;
		account__add(&account->lost[ACCOUNT_MAP_FULL]);
	} else {
		account__add(&account->lost[ACCOUNT_NO_STORAGE]);
	}
	return NULL;
}

/* Counts a call that begins. NULL when it is none of the run, or outside the filters: then nothing
 * more is to be done about it. */
static __always_inline struct account_counters *call__see(void)
{
	struct account_counters *account;

	if (run_ended_ns)
		return NULL;
	account = account__see(FUNCLATENCY_CALL);
	if (account && !filter__current_passes()) {
		account__add(&account->filtered);
		return NULL;
	}
	return account;
}

static __always_inline void call__begin(const struct frame_key *key,
					struct account_counters *account)
{
	struct funclatency_frame *frame = frame__find(key);
	__u64 ids;

	if (!frame)
		frame = frame__add(key, account);
	else if (frame->start_ns)
		/* A call that was here has not been seen to return. */
		account__add(&account->lost[ACCOUNT_NO_END]);
	if (!frame)
		return;
	ids = bpf_get_current_pid_tgid();
	frame->tid = (__u32)ids;
	frame->pid = ids >> 32;
	frame->start_ns = bpf_ktime_get_ns();
}

/* What a program knows of a call that returns. */
struct call_end {
	void *ctx; /* of the program */
	__s64 result;
	bool has_result;
	bool has_stack; /* it is of a function */
	__u32 syscall;
	__u32 abi;
};

/* The error that a call returned; 0: none. */
static __always_inline __u32 call__error(const struct call_end *end)
{
	__s64 result = end->result;

	if (!end->has_result)
		return FUNCLATENCY_RET_UNKNOWN;
	result = (__s64)((__u64)result << funclatency_config.result_shift) >>
		 funclatency_config.result_shift;
	if (!funclatency_config.result_has_errors || result >= 0 || result < -FUNCLATENCY_ERROR_MAX)
		return 0;
	return (__u32)-result;
}

/* False when the table has no room. The task of a call is who is current: an interrupt's is the
 * one that it interrupted. */
static __always_inline bool call__add_keyed(const struct call_end *end, __u64 now_ns,
					    __u64 duration_ns)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	const __u32 by = funclatency_config.by;
	bool named = by & (1 << HIST_BY_PID | 1 << HIST_BY_TID);
	char name[HIST_NAME_SIZE] = {};
	struct hist_key key = {};
	__u64 ids;

	if (named) {
		ids = bpf_get_current_pid_tgid();
		key.pid = ids >> 32;
		if (by & 1 << HIST_BY_TID) {
			key.tid = (__u32)ids;
			bpf_get_current_comm(name, sizeof(name));
		} else {
			task__process_comm(task, name, false);
		}
	}
	if (by & 1 << HIST_BY_COMM)
		task__process_comm(task, key.comm, false);
	if (by & 1 << HIST_BY_CGROUP)
		key.cgroup_id = cgroup__id(task__cgroup(task));
	if (by & 1 << HIST_BY_CPU)
		key.cpu = bpf_get_smp_processor_id();
	if (by & 1 << FUNCLATENCY_BY_FUNC)
		key.cause = FUNCLATENCY_FUNC(end->abi, end->syscall);
	if (by & 1 << FUNCLATENCY_BY_RET)
		key.kind = call__error(end);
	return hist__add_keyed(&key, named ? name : NULL, now_ns, duration_ns);
}

/* Whether it is among those asked for. */
static __always_inline bool call__has_length(__u64 duration_ns)
{
	if (funclatency_config.min_ns && duration_ns < funclatency_config.min_ns)
		return false;
	return !funclatency_config.max_ns || duration_ns <= funclatency_config.max_ns;
}

/* Whether a record of the call is to be sent. */
static __always_inline bool call__is_slow(struct cpu_state *cpu, __u64 duration_ns)
{
	if (funclatency_config.slower_ns)
		return duration_ns > funclatency_config.slower_ns;
	if (!funclatency_config.slowest)
		return false;
	return cpu && slowest__takes(&cpu->slowest, funclatency_config.slowest, duration_ns);
}

static __always_inline void call__send(const struct call_end *end, __u64 now_ns, __u64 duration_ns)
{
	struct funclatency_slow *slow = bpf_ringbuf_reserve(&event_ring, sizeof(*slow), 0);
	struct account_counters *account;
	__u64 ids;

	if (!slow) {
		account = account__open(FUNCLATENCY_CALL);
		if (account)
			account__add(&account->detail_lost[ACCOUNT_DETAIL_SLOW]);
		return;
	}
	ids = bpf_get_current_pid_tgid();
	slow->event.time_ns = now_ns;
	slow->event.duration_ns = duration_ns;
	slow->event.interval = hist_interval;
	slow->result = end->result;
	slow->has_result = end->has_result;
	slow->pid = ids >> 32;
	slow->tid = (__u32)ids;
	slow->cpu = bpf_get_smp_processor_id();
	slow->syscall = end->syscall;
	slow->abi = end->abi;
	bpf_get_current_comm(slow->comm, sizeof(slow->comm));
	slow->stack_size = 0;
	if (end->has_stack)
		slow->stack_size = bpf_get_stack(end->ctx, slow->stack, sizeof(slow->stack), 0);
	ring__submit(slow, sizeof(*slow));
}

/* Whether a return may be that of a call of the run. */
static __always_inline bool call__may_end(void)
{
	return run_started_ns && !run_ended_ns && !filter__current_never_passes();
}

/* cpu: of this CPU, as cpu__get() gives it. */
static __always_inline void call__end(const struct frame_key *key, struct cpu_state *cpu,
				      const struct call_end *end)
{
	struct funclatency_frame *frame;
	struct account_counters *account;
	__u64 start_ns, now_ns;

	now_ns = bpf_ktime_get_ns();
	frame = frame__find(key);
	start_ns = frame ? frame->start_ns : 0;
	if (!start_ns) {
		account = account__open(FUNCLATENCY_CALL);
		if (account && filter__current_passes())
			account__add(&account->begun_before);
		return;
	}
	frame->start_ns = 0;
	if (frames_full)
		bpf_map_delete_elem(&frames, &key->key);
	if (!call__has_length(now_ns - start_ns)) {
		account = account__open(FUNCLATENCY_CALL);
		if (account)
			account__add(&account->filtered);
		return;
	}
	if (!funclatency_config.by) {
		hist__add(now_ns - start_ns);
	} else if (!call__add_keyed(end, now_ns, now_ns - start_ns)) {
		account = account__open(FUNCLATENCY_CALL);
		if (account)
			account__add(&account->lost[ACCOUNT_MAP_FULL]);
		return;
	}
	if (call__is_slow(cpu, now_ns - start_ns))
		call__send(end, now_ns, now_ns - start_ns);
}

SEC("?fentry")
int function_entry(unsigned long long *ctx)
{
	struct account_counters *account = call__see();
	struct cpu_state *cpu;
	struct frame_key key;

	if (!account)
		return 0;
	cpu = cpu__get();
	key = key__of_pointer(ctx, cpu ? &cpu->entry_key : NULL);
	call__begin(&key, account);
	return 0;
}

SEC("?fexit")
int function_exit(unsigned long long *ctx)
{
	struct call_end end = { .ctx = ctx, .has_stack = true };
	struct cpu_state *cpu;
	struct frame_key key;

	if (!call__may_end())
		return 0;
	cpu = cpu__get();
	key = key__of_pointer(ctx, cpu ? &cpu->exit_key : NULL);
	/* 5.17 */
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_get_func_ret))
		end.has_result = !bpf_get_func_ret(ctx, (__u64 *)&end.result);
	call__end(&key, cpu, &end);
	return 0;
}

/* At the entry of a function, the return address is on top of the stack. */
SEC("?kprobe")
int function_call(struct pt_regs *ctx)
{
	const struct frame_key key = key__of_number(PT_REGS_SP(ctx));
	struct account_counters *account = call__see();

	if (account)
		call__begin(&key, account);
	return 0;
}

/* The return has taken the return address from the stack. */
SEC("?kretprobe")
int function_return(struct pt_regs *ctx)
{
	const struct call_end end = {
		.ctx = ctx, .has_stack = true, .has_result = true, .result = PT_REGS_RC(ctx)
	};
	const struct frame_key key = key__of_number(PT_REGS_SP(ctx) - sizeof(__u64));

	if (call__may_end())
		call__end(&key, cpu__get(), &end);
	return 0;
}

/*
 * The key of a call in user mode: its thread, and where its return address lies. Of that address it
 * has the bits from 3 to 44: two places of one thread that do not differ there are 32 TB apart.
 */
static __always_inline struct frame_key key__of_user_stack(__u64 sp)
{
	__u64 tid = (__u32)bpf_get_current_pid_tgid();

	return key__of_number(tid << 42 | (sp >> 3 & ((1ULL << 42) - 1)));
}

/*
 * Since 6.13 the kernel gives a program that wants more than 64 bytes of stack one of its own on
 * each CPU. It does not keep a uprobe's program from being preempted, and on 7.2 the run of another
 * thread on that CPU then writes over the stack of the first. A program that can make a tail call
 * has the stack of its thread; this one is never made, and would lead nowhere.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} no_programs SEC(".maps");

volatile __u32 always_false = 0;

static __always_inline void keep_stack_of_thread(void *ctx)
{
	if (always_false)
		bpf_tail_call(ctx, &no_programs, 0);
}

SEC("?uprobe")
int user_call(struct pt_regs *ctx)
{
	struct account_counters *account = call__see();
	struct frame_key key;

	if (!account)
		return 0;
	keep_stack_of_thread(ctx);
	key = key__of_user_stack(PT_REGS_SP(ctx));
	call__begin(&key, account);
	return 0;
}

SEC("?uretprobe")
int user_return(struct pt_regs *ctx)
{
	const struct call_end end = { .ctx = ctx, .has_result = true, .result = PT_REGS_RC(ctx) };
	struct frame_key key;

	if (!call__may_end())
		return 0;
	keep_stack_of_thread(ctx);
	key = key__of_user_stack(PT_REGS_SP(ctx) - sizeof(__u64));
	call__end(&key, cpu__get(), &end);
	return 0;
}

/* What is asked about a system call. The tracepoints are of all of them: most are not asked about,
 * so the number is looked at first. abi: is set where it is asked about. */
static __always_inline __u32 syscall__asked(__u64 number, __u32 *abi)
{
	number &= ~(__u64)X32_BIT;
	if (number >= FUNCLATENCY_NR_SYSCALLS)
		return FUNCLATENCY_SYSCALL_NOT_ASKED;
	/* 6.1's verifier does not see the bound that the compiler has proven. */
	barrier_var(number);
	number &= FUNCLATENCY_NR_SYSCALLS - 1;
	if (!funclatency_config.syscalls[0][number] && !funclatency_config.syscalls[1][number])
		return FUNCLATENCY_SYSCALL_NOT_ASKED;
	*abi = current__is_compat();
	return *abi ? funclatency_config.syscalls[1][number] :
		      funclatency_config.syscalls[0][number];
}

SEC("?tp_btf/sys_enter")
int BPF_PROG(syscall_enter, struct pt_regs *regs, long number)
{
	struct account_counters *account;
	struct cpu_state *cpu;
	struct frame_key key;
	__u32 abi;

	if (!syscall__asked(number, &abi))
		return 0;
	account = call__see();
	if (!account)
		return 0;
	cpu = cpu__get();
	key = key__of_pointer(regs, cpu ? &cpu->entry_key : NULL);
	call__begin(&key, account);
	return 0;
}

SEC("?tp_btf/sys_exit")
int BPF_PROG(syscall_exit, struct pt_regs *regs, long result)
{
	struct call_end end = { .ctx = ctx, .has_result = true, .result = result };
	__u64 number = regs->orig_ax;
	struct cpu_state *cpu;
	struct frame_key key;
	__u32 asked;

	/* It has restored all registers but this one (arch/x86/kernel/signal_64.c). */
	if (number == ~0ULL)
		number = current__is_compat() ? NR_I386_RT_SIGRETURN : NR_RT_SIGRETURN;
	asked = syscall__asked(number, &end.abi);
	if (!asked || (asked == FUNCLATENCY_SYSCALL_FORKS && !result) || !call__may_end())
		return 0;
	end.syscall = number & ~(__u64)X32_BIT;
	cpu = cpu__get();
	key = key__of_pointer(regs, cpu ? &cpu->exit_key : NULL);
	call__end(&key, cpu, &end);
	return 0;
}
