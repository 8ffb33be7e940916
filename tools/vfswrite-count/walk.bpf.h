/* SPDX-License-Identifier: GPL-2.0-only */
/* What the tables of vfswrite-count hold, entry by entry (see collect/table.h). */
#ifndef VANTAGE_VFSWRITE_COUNT_WALK_H
#define VANTAGE_VFSWRITE_COUNT_WALK_H

#include "bpf/hist.bpf.h"
#include "bpf/kernel.bpf.h"
#include "place.bpf.h"

static __always_inline int walk__entry(struct bpf_iter__bpf_map_elem *ctx, __u32 key_size,
				       __u32 value_size)
{
	struct seq_file *seq = ctx->meta->seq;
	void *key = ctx->key, *value = ctx->value;

	if (!key || !value)
		return 0;
	bpf_seq_write(seq, key, key_size);
	bpf_seq_write(seq, value, value_size);
	return 0;
}

SEC("?iter/bpf_map_elem")
int walk_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	return walk__entry(ctx, vfswrite_config.key_size, vfswrite_config.row_size);
}

SEC("?iter/bpf_map_elem")
int walk_errors(struct bpf_iter__bpf_map_elem *ctx)
{
	return walk__entry(
		ctx, vfswrite_config.key_size + __builtin_offsetof(struct vfswrite_error_key, key),
		sizeof(__u64));
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
int walk_hist_keys(struct bpf_iter__bpf_map_elem *ctx)
{
	return walk__entry(ctx, sizeof(struct hist_key), vfswrite_config.hist_size);
}

SEC("?iter/bpf_map_elem")
int walk_hist_rows(struct bpf_iter__bpf_map_elem *ctx)
{
	return walk__entry(ctx, sizeof(struct hist_row_key), sizeof(struct hist_row));
}

#endif
