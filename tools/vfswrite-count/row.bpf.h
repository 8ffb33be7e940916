/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rows of vfswrite-count: their keys, the tables that hold them, and what is added to them.
 */
#ifndef VANTAGE_VFSWRITE_COUNT_ROW_H
#define VANTAGE_VFSWRITE_COUNT_ROW_H

#include "bpf/account.bpf.h"
#include "bpf/hist.bpf.h"
#include "bpf/kernel.bpf.h"
#include "place.bpf.h"
#include "vfswrite-count.h"

#define MAX_ERRNO 4095 /* include/linux/err.h */

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

static const struct vfswrite_row no_row;
static const __u64 no_errors;
static const __u8 present = 1;

/* Whether what it returns says how many bytes were written. */
static __always_inline bool func__has_bytes(__u32 func)
{
	return func < VFSWRITE_NR_WITH_BYTES || func >= VFSWRITE_NR_FUNCTIONS;
}

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

/* All of the key: who calls, what, and what is written to. False when there is no room for it. */
static __always_inline bool key__fill(struct vfswrite_key *key, __u32 func, struct file *file)
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
	if (vfswrite_config.by & VFSWRITE_BY_PLACE)
		key->place = place__of(file);
	return key->place != VFSWRITE_NO_PLACE;
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

/* Adds a value to the histogram of what the key has of distribution_by. in_table: the histogram of
 * all is in the table, too. A subprogram, for its stack is not that of its callers then. */
static __noinline int distribute(const struct vfswrite_key *key, __u64 value, bool in_table)
{
	const __u32 by = vfswrite_config.distribution_by;
	bool named = by & (1U << VFSWRITE_BY_PID | 1U << VFSWRITE_BY_TID);
	struct account_counters *account;
	struct hist_key hist_key = {};

	if (!by && !in_table) {
		hist__add(value);
		return 0;
	}
	if (named)
		hist_key.pid = key->pid;
	if (by & 1U << VFSWRITE_BY_TID)
		hist_key.tid = key->tid;
	if (by & 1U << VFSWRITE_BY_CPU)
		hist_key.cpu = key->cpu;
	if (by & 1U << VFSWRITE_BY_FUNC)
		hist_key.cause = key->func;
	if (by & 1U << VFSWRITE_BY_UID)
		hist_key.uid = key->uid;
	if (by & 1U << VFSWRITE_BY_CGROUP)
		hist_key.cgroup_id = key->cgroup_id;
	if (by & VFSWRITE_BY_PLACE)
		hist_key.place = key->place;
	if (by & 1U << VFSWRITE_BY_COMM)
		__builtin_memcpy(hist_key.comm, key->comm, sizeof(hist_key.comm));
	if (hist__add_keyed(&hist_key, named ? key->comm : NULL, named ? bpf_ktime_get_ns() : 0,
			    value))
		return 0;
	account = account__open(VFSWRITE_CALL);
	if (account)
		account__add(&account->detail_lost[ACCOUNT_DETAIL_DISTRIBUTION]);
	return 0;
}

/* in_table: see distribute(). */
static __always_inline void row__add_result(struct vfswrite_row *row,
					    const struct vfswrite_key *key, __u32 func, long result,
					    bool in_table)
{
	if (result > 0)
		__sync_fetch_and_add(&row->bytes, result);
	else if (result < 0 && result >= -MAX_ERRNO)
		count_error(key, (__u32)-result);
	if (vfswrite_config.distribution == VFSWRITE_SIZES && result >= 0 && func__has_bytes(func))
		distribute(key, result, in_table);
}

#endif
