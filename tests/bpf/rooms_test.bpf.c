// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rooms of the kernel side run on demand, without any event. Each test stands
 * twice: as a syscall program, and as a raw_tp program for kernels before 5.14.
 */
#include "bpf/account.bpf.h"
#include "bpf/filter.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/ring.bpf.h"
#include "bpf/stand_in.bpf.h"
#include "rooms_test.h"

char LICENSE[] SEC("license") = "GPL";

struct rooms_test rooms_test = {};

static __always_inline int test_name(void)
{
	char name[ROOMS_NAME_SIZE];

	__builtin_memcpy(name, rooms_test.name, sizeof(name));
	return filter__wants_comm(name);
}

static __always_inline int test_account(void)
{
	struct account_counters *counters = account__see(1);

	if (counters)
		account__add(&counters->filtered);
	return !!counters;
}

static __always_inline int test_ring(void)
{
	__u64 *record = bpf_ringbuf_reserve(&event_ring, ROOMS_RECORD_SIZE, 0);

	if (!record) {
		rooms_test.refused++;
		return 0;
	}
	*record = bpf_ktime_get_ns();
	rooms_test.reserved++;
	ring__submit(record, ROOMS_RECORD_SIZE);
	return 1;
}

/* Bits, from the lowest: whether it is needed; takes what is not marked; can be marked; takes what
 * is marked; takes what was marked before. */
static __always_inline int test_stand_in(void)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	int bits = stand_in__is_needed();

	bits |= stand_in__takes(task, 1) << 1;
	bits |= stand_in__mark(task, 1) << 2;
	bits |= stand_in__takes(task, 1) << 3;
	bits |= stand_in__takes(task, 1) << 4;
	return bits;
}

SEC("?syscall")
int name_syscall(void *ctx)
{
	return test_name();
}

SEC("?raw_tp")
int name_raw_tp(void *ctx)
{
	return test_name();
}

SEC("?syscall")
int account_syscall(void *ctx)
{
	return test_account();
}

SEC("?raw_tp")
int account_raw_tp(void *ctx)
{
	return test_account();
}

SEC("?syscall")
int ring_syscall(void *ctx)
{
	return test_ring();
}

SEC("?raw_tp")
int ring_raw_tp(void *ctx)
{
	return test_ring();
}

SEC("?syscall")
int stand_in_syscall(void *ctx)
{
	return test_stand_in();
}

SEC("?raw_tp")
int stand_in_raw_tp(void *ctx)
{
	return test_stand_in();
}

/* The task filter needs a task the verifier trusts: the one that calls a system call. */
SEC("?tp_btf/sys_enter")
int BPF_PROG(passes_tp_btf)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task_btf();

	if (task->pid == rooms_test.asked_tid)
		rooms_test.passes = filter__passes(task, task->pid, true);
	return 0;
}
