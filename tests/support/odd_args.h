/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Argument lists that every face must carry byte for byte: empty words, bytes that
 * move a terminal, break a quoting, or are no text at all.
 */
#ifndef VANTAGE_TESTS_ODD_ARGS_H
#define VANTAGE_TESTS_ODD_ARGS_H

#include <stddef.h>

struct odd_args {
	const char *name;
	const char *const *argv;
};

extern const struct odd_args odd_args[];
extern const size_t nr_odd_args;

#endif
