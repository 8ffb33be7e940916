/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes stacks and sends each one once through the ring (shared/stack.h). A stack that could not be
 * sent, or for which the set of known ones has no room, has its name all the same: who reads the
 * name and has no such stack, knows that it was not kept.
 */
#ifndef VANTAGE_BPF_STACK_H
#define VANTAGE_BPF_STACK_H

#include "bpf/kernel.bpf.h"
#include "bpf/ring.bpf.h"
#include "shared/stack.h"

/* Of the frames that are kept; set before load. */
const volatile __u32 stack_bytes = STACK_FRAMES_DEFAULT * sizeof(__u64);

/* Names of the stacks that were sent. Preallocated: it grows under a run-queue lock. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u64);
	__type(value, __u8);
} stacks_sent SEC(".maps");

/* Where a stack is taken. A program that can be preempted has a place of its own. */
enum stack_place { STACK_IN_SWITCH, STACK_IN_WALK, STACK_NR_PLACES };

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, STACK_NR_PLACES);
	__type(key, __u32);
	__type(value, struct taken_stack);
} stack_places SEC(".maps");

/* Multiplication by an odd number spreads a bit upwards, the shift brings it down again. */
static __always_inline __u64 hash__mix(__u64 hash, __u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15;
	return hash ^ hash >> 29;
}

/* The name of what was taken into a place, sent if it is new. bytes: what the helper returned. */
static __noinline __u64 stack__name(struct taken_stack *stack, long bytes)
{
	__u64 hash, size;
	__u8 sent = 1;

	if (bytes <= 0)
		return STACK_NONE;
	stack->nr = (__u64)bytes / sizeof(__u64);
	hash = hash__mix(stack->start_ns, (__u64)stack->pid << 32 | stack->nr);
	for (__u32 i = 0; i < STACK_FRAMES_MAX; i++) {
		if (i >= stack->nr)
			break;
		hash = hash__mix(hash, stack->frames[i]);
	}
	if (hash <= STACK_NOT_SEEN)
		hash += STACK_NOT_SEEN + 1;
	if (bpf_map_lookup_elem(&stacks_sent, &hash) ||
	    bpf_map_update_elem(&stacks_sent, &hash, &sent, BPF_NOEXIST))
		return hash;
	stack->time_ns = bpf_ktime_get_ns();
	stack->hash = hash;
	size = offsetof(struct taken_stack, frames) + (__u64)bytes;
	barrier_var(size);
	/* The process can be gone soon, and its maps with it. */
	if (size > sizeof(*stack) || ring__output(stack, size, stack->pid))
		bpf_map_delete_elem(&stacks_sent, &hash);
	return hash;
}

/* The user stack of the current task; ctx: of the program. */
static __always_inline __u64 stack__of_user(void *ctx, struct task_struct *task, __u32 place)
{
	struct taken_stack *stack = bpf_map_lookup_elem(&stack_places, &place);

	if (!stack)
		return STACK_NONE;
	stack->pid = task->tgid;
	stack->start_ns = task->group_leader->start_boottime;
	return stack__name(stack, bpf_get_stack(ctx, stack->frames, stack_bytes, BPF_F_USER_STACK));
}

/* The process has an image of its own now: a record without frames. */
static __always_inline void stack__tell_process(struct task_struct *task)
{
	const __u64 size = offsetof(struct taken_stack, frames);
	struct taken_stack *process = bpf_ringbuf_reserve(&event_ring, size, 0);

	if (!process)
		return;
	process->time_ns = bpf_ktime_get_ns();
	process->hash = STACK_NONE;
	process->pid = task->tgid;
	process->start_ns = task->group_leader->start_boottime;
	process->nr = 0;
	bpf_ringbuf_submit(process, BPF_RB_FORCE_WAKEUP);
}

/* The kernel stack of a task that is not on a CPU: it begins in the function that called the
 * scheduler. */
static __always_inline __u64 stack__of_task(struct task_struct *task, __u32 place)
{
	struct taken_stack *stack = bpf_map_lookup_elem(&stack_places, &place);

	if (!stack)
		return STACK_NONE;
	stack->pid = 0;
	stack->start_ns = 0;
	return stack__name(stack, bpf_get_task_stack(task, stack->frames, stack_bytes, 0));
}

#endif
