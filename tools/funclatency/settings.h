/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* funclatency's options, and what they mean for its two sides. Knows no libbpf. */
#ifndef VANTAGE_FUNCLATENCY_SETTINGS_H
#define VANTAGE_FUNCLATENCY_SETTINGS_H

#include "funclatency.h"
#include "output/histogram.h"
#include "run/options.h"

struct funclatency_options {
	struct common_options common;
	const char *target;
	uint64_t min_ns; /* 0: no limit; so for max_ns */
	uint64_t max_ns;
	uint64_t slower_ns;
	struct optional_count slowest;
	struct optional_time interval;
	struct optional_count count;
	bool milliseconds;
	bool microseconds;
	bool nanoseconds;
	bool per_process;
	bool per_thread;
	bool per_function;
	bool errors;
	uint32_t by; /* bits of enum hist_by and enum funclatency_by */
	struct optional_count max_keys;
	struct optional_count top;
	int sort; /* enum histogram_order */
	struct number_list percentiles;
};

extern const struct tool_options funclatency_tool_options;

/* What single options cannot say of themselves. 0 or -EINVAL, reported as a usage error. */
int funclatency_options__check(const struct funclatency_options *options);

/* Whether the run is about no target: it tells of the tool or of the machine. */
bool funclatency_options__need_no_target(const struct funclatency_options *options);

/* Bits of enum hist_by and enum funclatency_by; 0: one histogram. */
uint32_t funclatency_options__by(const struct funclatency_options *options);

/* How many of the slowest calls are told. */
uint32_t funclatency_options__slowest(const struct funclatency_options *options);

/* Whether histograms are kept by what calls return. */
bool funclatency_options__by_result(const struct funclatency_options *options);

/* Whether it is told in any way what a call returns. */
bool funclatency_options__tell_results(const struct funclatency_options *options);

/* "calls of at least 10ms", or NULL. size: at least 128. */
const char *funclatency_options__limits(const struct funclatency_options *options, char *text,
					size_t size);

/* Borrows from options. */
struct histogram_style funclatency_options__style(const struct funclatency_options *options);

void funclatency_options__free(struct funclatency_options *options);

#endif
