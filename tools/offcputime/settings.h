/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* offcputime's options, and what they mean for its two sides. Knows no libbpf. */
#ifndef VANTAGE_OFFCPUTIME_SETTINGS_H
#define VANTAGE_OFFCPUTIME_SETTINGS_H

#include "offcputime.h"
#include "run/options.h"

struct offcputime_options {
	struct common_options common;
	bool user_threads;
	bool kernel_threads;
	uint64_t min_ns;
	uint64_t max_ns; /* 0: no limit */
	const char *state; /* as given, or NULL */
	bool split;
	bool offsets;
	bool user_stacks;
	bool user_stacks_only;
	bool kernel_stacks_only;
	bool delimited;
	bool raw_names;
	bool reasons;
	bool hide_idle;
	uint32_t by; /* bits of enum stay_by; 0: all */
	struct optional_count top;
	struct optional_time interval;
	struct optional_count depth;
	struct optional_count stack_storage;
	struct optional_count max_keys;

	/* What state says, by offcputime_options__check(). */
	uint32_t states;
	uint32_t state_mask;
};

/* For struct tool_options. */
#define OFFCPUTIME_NR_OPTION_ROWS 21
extern const struct option_row offcputime_option_rows[OFFCPUTIME_NR_OPTION_ROWS];
extern const struct option_letter offcputime_letters[];
extern const char *const offcputime_operands[];

/* Letters of enum offcputime_state, as ps(1) has them; '?' for the one that has none. */
extern const char offcputime_state_letters[];

/*
 * What single options cannot say of themselves; 0, or -EINVAL, reported as a usage error.
 * stack_limit_path: /proc/sys/kernel/perf_event_max_stack, above which no depth is possible:
 * -ERANGE, reported.
 */
int offcputime_options__check(struct offcputime_options *options, const char *stack_limit_path);

struct offcputime_config offcputime_options__config(const struct offcputime_options *options);

/* Whether the stacks in the programs themselves are taken: when asked for, or when the run is about
 * certain processes. */
bool offcputime_options__user_stacks(const struct offcputime_options *options);

/* How much room there is for rows and for the names of stacks. */
uint32_t offcputime_options__rows(const struct offcputime_options *options);
uint32_t offcputime_options__stacks(const struct offcputime_options *options);
uint32_t offcputime_options__stack_bytes(const struct offcputime_options *options);

/* "stays of at least 10ms, user threads", or NULL. size: at least 160. */
const char *offcputime_options__limits(const struct offcputime_options *options, char *text,
				       size_t size);

#endif
