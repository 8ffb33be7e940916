/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a user can ask execsnoop for, and which columns of text that means. Knows no libbpf. */
#ifndef VANTAGE_EXECSNOOP_OPTIONS_H
#define VANTAGE_EXECSNOOP_OPTIONS_H

#include "run/options.h"

struct execsnoop_options {
	struct common_options common;
	bool exits;
	bool fails;
	struct optional_regex name;
	struct optional_regex line;
	struct optional_count max_args;
	struct optional_count max_bytes;
	bool quote;
	bool print_uid;
	bool print_cpu;
	bool print_pcomm;
};

extern const struct tool_options execsnoop_tool_options;

#define EXECSNOOP_COLUMNS_MAX 24

/* Fills columns with the names of the fields to show, in their order, and NULL. */
void execsnoop_options__columns(const struct execsnoop_options *options,
				const char *columns[EXECSNOOP_COLUMNS_MAX]);

/* The limits that are not in the common filter, for the line that says what is traced; "" when
 * there are none. */
void execsnoop_options__limits(const struct execsnoop_options *options, char *text, size_t size);

void execsnoop_options__free(struct execsnoop_options *options);

#endif
