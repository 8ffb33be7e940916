/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stack of a slow call with names: the function that was timed, then its callers. What the
 * probe itself has put above them is left out. Knows no libbpf.
 */
#ifndef VANTAGE_FUNCLATENCY_CALLERS_H
#define VANTAGE_FUNCLATENCY_CALLERS_H

#include <stddef.h>

#include "funclatency.h"
#include "output/buffer.h"
#include "symbols/symbol.h"
#include "symbols/symbolizer.h"

struct callers {
	struct {
		__u64 address;
		struct symbol symbol;
	} items[FUNCLATENCY_STACK_MAX];
	size_t nr;
};

/* Names what a record has. Symbols are borrowed from the symbolizer. */
void callers__name(struct callers *callers, struct symbolizer *symbolizer, const char *function,
		   const struct funclatency_slow *slow);

/* Whether a frame that stands above the function is the probe's own. */
bool callers__is_probe(const struct symbol *symbol);

/* "vfs_write < ksys_write < do_syscall_64", appended to text. */
void callers__append(const struct callers *callers, const char *function, struct buffer *text);

#endif
