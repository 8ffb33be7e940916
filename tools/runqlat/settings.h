/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* runqlat's options, and what they mean for its two sides. Knows no libbpf. */
#ifndef VANTAGE_RUNQLAT_SETTINGS_H
#define VANTAGE_RUNQLAT_SETTINGS_H

#include "output/histogram.h"
#include "run/options.h"
#include "runqlat.h"

struct runqlat_options {
	struct common_options common;
	struct optional_time interval;
	struct optional_count count;
	bool milliseconds;
	bool microseconds;
	bool nanoseconds;
	bool per_process;
	bool per_thread;
	bool pidnss;
	bool cpus;
	bool cgroups;
	bool cause;
	uint32_t by; /* bits of enum hist_by and enum runqlat_by */
	struct optional_count max_keys;
	struct optional_count top;
	int sort; /* enum histogram_order */
	uint64_t slower_ns;
	struct optional_count slowest;
	int from; /* 0 wakeup, 1 waking */
	int clock; /* 0 monotonic, 1 schedstat */
	struct number_list percentiles;
	struct optional_count linear;
	bool fine;
	bool all_rows;
	bool log_bars;
	bool one_cache; /* no option: see cpus__share_cache() */
};

extern const struct tool_options runqlat_tool_options;

/* What single options cannot say of themselves. 0 or -EINVAL, reported as a usage error. */
int runqlat_options__check(const struct runqlat_options *options);

/* Bits of enum hist_by and enum runqlat_by; 0: one histogram. */
uint32_t runqlat_options__by(const struct runqlat_options *options);

/* How many of the longest waits are told. */
uint32_t runqlat_options__slowest(const struct runqlat_options *options);

/* Whether sched_waking is attached: for --from waking, and for who woke a thread, where wake-ups
 * can be left to another CPU while that runs somebody else. */
bool runqlat_options__needs_waking(const struct runqlat_options *options);

/* The kernel side's configuration. */
struct runqlat_config runqlat_options__config(const struct runqlat_options *options);

/* Borrows from options. */
struct histogram_style runqlat_options__style(const struct runqlat_options *options);

void runqlat_options__free(struct runqlat_options *options);

#endif
