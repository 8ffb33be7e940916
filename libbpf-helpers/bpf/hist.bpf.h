/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel side of the histograms: one for the whole run, with a value per CPU, or a table
 * of them by key. What the slots are is in shared/hist.h. Nothing is ever cleared here.
 */
#ifndef VANTAGE_BPF_HIST_H
#define VANTAGE_BPF_HIST_H

#include "bpf/kernel.bpf.h"
#include "shared/hist.h"

const volatile struct hist_config hist_config = { .unit = 1 };

/* Number of the interval that runs now, from 1; user space counts it up. */
volatile __u64 hist_interval = 1;

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct hist);
} hist_total SEC(".maps");

/* Sized by user space. Preallocated: the run-queue lock can be held when a key comes. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1);
	__type(key, struct hist_key);
	__type(value, struct hist_keyed);
} hist_keys SEC(".maps");

/* Sized by user space, which also makes it preallocated on kernels where allocating under
 * a run-queue lock can deadlock (before 6.1, which got an allocator for that). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct hist_row_key);
	__type(value, struct hist_row);
} hist_rows SEC(".maps");

static const struct hist_keyed hist_no_key;
static const struct hist_row hist_no_row;

/* Rounded down; 0 for 0. In steps, as clang 14 has no count of leading zeros for BPF. */
static __always_inline __u32 hist__log2(__u64 value)
{
	__u32 result, step;

	result = (value > 0xffffffff) << 5;
	value >>= result;
	step = (value > 0xffff) << 4;
	value >>= step;
	result |= step;
	step = (value > 0xff) << 3;
	value >>= step;
	result |= step;
	step = (value > 0xf) << 2;
	value >>= step;
	result |= step;
	step = (value > 0x3) << 1;
	value >>= step;
	result |= step;
	return result | (__u32)(value >> 1);
}

/* value: unscaled. */
static __always_inline __u32 hist__slot(__u64 value)
{
	__u32 shift;

	if (hist_config.unit != 1)
		value /= hist_config.unit;
	if (hist_config.linear_step) {
		value /= hist_config.linear_step;
		return value < HIST_SLOTS ? value : HIST_SLOTS - 1;
	}
	shift = hist__log2(value | HIST_ROW_SLOTS) - HIST_SUB_BITS;
	return shift * HIST_ROW_SLOTS + (__u32)(value >> shift);
}

static __always_inline void hist_stats__add(struct hist_stats *stats, __u64 value)
{
	__u64 interval = hist_interval;
	struct hist_extremes *extremes = &stats->extremes[interval & 1];

	__sync_fetch_and_add(&stats->count, 1);
	__sync_fetch_and_add(&stats->sum, value);
	if (extremes->interval != interval) {
		extremes->min = value;
		extremes->max = value;
		extremes->interval = interval;
		return;
	}
	if (value < extremes->min)
		extremes->min = value;
	if (value > extremes->max)
		extremes->max = value;
}

/* Adds a value to the histogram of the whole run. */
static __always_inline void hist__add(__u64 value)
{
	__u32 zero = 0, slot = hist__slot(value);
	struct hist *hist = bpf_map_lookup_elem(&hist_total, &zero);

	/* 6.1's verifier does not see the bound that the compiler has proven. */
	barrier_var(slot);
	if (!hist || slot >= HIST_SLOTS)
		return;
	hist_stats__add(&hist->stats, value);
	__sync_fetch_and_add(&hist->slots[slot], 1);
}

static __always_inline struct hist_keyed *hist__find_key(const struct hist_key *key)
{
	struct hist_keyed *keyed = bpf_map_lookup_elem(&hist_keys, key);

	if (keyed)
		return keyed;
	/* When another CPU was first, the key is there all the same. */
	bpf_map_update_elem(&hist_keys, key, &hist_no_key, BPF_NOEXIST);
	return bpf_map_lookup_elem(&hist_keys, key);
}

static __always_inline struct hist_row *hist__find_row(const struct hist_row_key *key)
{
	struct hist_row *row = bpf_map_lookup_elem(&hist_rows, key);

	if (row)
		return row;
	bpf_map_update_elem(&hist_rows, key, &hist_no_row, BPF_NOEXIST);
	return bpf_map_lookup_elem(&hist_rows, key);
}

/*
 * Adds a value to the histogram of a key. name: of the key's task now, or NULL. False when
 * there is no room for the key or for the row; nothing was added then.
 */
static __always_inline bool hist__add_keyed(const struct hist_key *key, const char *name,
					    __u64 now_ns, __u64 value)
{
	__u32 slot = hist__slot(value);
	struct hist_row_key row_key = { .key = *key, .row = slot / HIST_ROW_SLOTS };
	struct hist_keyed *keyed = hist__find_key(key);
	struct hist_row *row;

	if (!keyed)
		return false;
	row = hist__find_row(&row_key);
	if (!row)
		return false;
	hist_stats__add(&keyed->stats, value);
	if (name) {
		__builtin_memcpy(keyed->name, name, HIST_NAME_SIZE);
		keyed->named_ns = now_ns;
	}
	slot %= HIST_ROW_SLOTS;
	barrier_var(slot);
	__sync_fetch_and_add(&row->slots[slot & (HIST_ROW_SLOTS - 1)], 1);
	return true;
}

#endif
