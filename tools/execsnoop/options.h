/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a user can ask execsnoop for, and which columns of text that means. Knows no libbpf. */
#ifndef VANTAGE_EXECSNOOP_OPTIONS_H
#define VANTAGE_EXECSNOOP_OPTIONS_H

#include "run/options.h"

struct execsnoop_options {
	struct common_options common;
	bool exits;
	bool fails;
	bool forks;
	struct optional_time min_duration;
	struct optional_time max_duration;
	struct optional_regex name;
	struct optional_regex line;
	struct optional_count ancestors;
	struct word_list env;
	bool cwd;
	bool cgroup_name;
	struct optional_count max_args;
	struct optional_count max_bytes;
	bool summary;
	bool summary_only;
	struct optional_count top;
	int sort; /* enum summary_sort */
	struct optional_count max_keys;
	bool quote;
	bool print_uid;
	bool print_cpu;
	bool print_pcomm;
};

extern const struct tool_options execsnoop_tool_options;

#define EXECSNOOP_COLUMNS_MAX 24

/* What single options cannot say of themselves. 0 or -EINVAL, reported as a usage error. */
int execsnoop_options__check(const struct execsnoop_options *options);

/* Whether commands are held back until their end, since a lifetime is asked for. */
bool execsnoop_options__hold_back(const struct execsnoop_options *options);

/* Whether ends of processes are events of the run: shown, or in the summary. */
bool execsnoop_options__count_exits(const struct execsnoop_options *options);

/* Whether ends of processes have to be traced, for whatever reason. */
bool execsnoop_options__need_ends(const struct execsnoop_options *options);

/* The kinds of events asked for: bits by enum execsnoop_kind. */
uint32_t execsnoop_options__kinds(const struct execsnoop_options *options);

/* Fills columns with the names of the fields to show, in their order, and NULL. */
void execsnoop_options__columns(const struct execsnoop_options *options,
				const char *columns[EXECSNOOP_COLUMNS_MAX]);

/* The same for the table of the summary. */
void execsnoop_options__summary_columns(const struct execsnoop_options *options,
					const char *columns[EXECSNOOP_COLUMNS_MAX]);

/* The limits that are not in the common filter, for the line that says what is traced; "" when
 * there are none. */
void execsnoop_options__limits(const struct execsnoop_options *options, char *text, size_t size);

void execsnoop_options__free(struct execsnoop_options *options);

#endif
