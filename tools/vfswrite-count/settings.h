/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* vfswrite-count's options, and what they mean for its two sides. Knows no libbpf. */
#ifndef VANTAGE_VFSWRITE_COUNT_SETTINGS_H
#define VANTAGE_VFSWRITE_COUNT_SETTINGS_H

#include "run/options.h"
#include "vfswrite-count.h"

struct vfswrite_options {
	struct common_options common;
	struct optional_time interval;
	struct optional_count count;
	bool per_process;
	bool per_thread;
	uint32_t by; /* bits of enum vfswrite_by */
	bool errors;
	bool sizes;
	bool latency;
	bool live;
	struct optional_count top;
	int sort; /* enum rows_order */
	struct optional_count max_keys;
	int paths; /* 0 vfs_write alone, 1 all */
	uint32_t also; /* bit 0: reads */
};

extern const struct tool_options vfswrite_tool_options;

/* Whether the options go together, once they are read; gives --live its interval. 0 or -EINVAL,
 * reported. */
int vfswrite_options__check(struct vfswrite_options *options);

/* Bits of enum vfswrite_by; by command name when nothing else is asked for. */
uint32_t vfswrite_options__by(const struct vfswrite_options *options);

/* What histograms are of, and by which keys (bits of enum vfswrite_by; 0: one of all). */
enum vfswrite_distribution vfswrite_options__distribution(const struct vfswrite_options *options);
uint32_t vfswrite_options__distribution_by(const struct vfswrite_options *options);

/* Bits of enum vfswrite_func that have rows. */
uint32_t vfswrite_options__counted(const struct vfswrite_options *options);

/* All of the kernel side's configuration but the sizes of what it has for all CPUs. */
struct vfswrite_config vfswrite_options__config(const struct vfswrite_options *options);

/* Bytes of a row's key that this run fills. */
size_t vfswrite_options__key_size(const struct vfswrite_options *options);

#endif
