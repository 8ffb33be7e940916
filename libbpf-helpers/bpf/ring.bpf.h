/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring buffer of records for user space. Each record begins with the __u64
 * stamp of its event (CLOCK_MONOTONIC). Whoever reserves counts what finds no room.
 */
#ifndef VANTAGE_BPF_RING_H
#define VANTAGE_BPF_RING_H

#include "bpf/kernel.bpf.h"

/* User space is woken when this much is queued, and drains by a timer besides. */
const volatile __u64 ring_wakeup_bytes = 0;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 << 20);
} event_ring SEC(".maps");

/* size: of the record. Wakes only at the record that crosses the mark: a wake-up for each one
 * above it would cost the producer an interrupt a record. */
static __always_inline void ring__submit(void *record, __u64 size)
{
	__u64 queued = bpf_ringbuf_query(&event_ring, BPF_RB_AVAIL_DATA);
	bool crosses = queued >= ring_wakeup_bytes && queued - size < ring_wakeup_bytes;

	bpf_ringbuf_submit(record, crosses ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

/* A record whose size is known only now, from memory of the program's own. urgent: user space is
 * woken in any case. 0 or -errno. */
static __always_inline long ring__output(void *record, __u64 size, bool urgent)
{
	__u64 queued = bpf_ringbuf_query(&event_ring, BPF_RB_AVAIL_DATA);
	bool crosses = queued < ring_wakeup_bytes && queued + size >= ring_wakeup_bytes;

	return bpf_ringbuf_output(&event_ring, record, size,
				  crosses || urgent ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

#endif
