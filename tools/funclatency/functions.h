/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What can be told of a function of the kernel before anything is attached to it: whether there
 * is one of that name, and whether timing it can be right. The kernel itself answers with an
 * errno at best; it can also attach to another function of that name, or stop for good.
 * Knows no libbpf.
 */
#ifndef VANTAGE_FUNCLATENCY_FUNCTIONS_H
#define VANTAGE_FUNCLATENCY_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "names.h"

enum function_verdict {
	FUNCTION_FINE,
	FUNCTION_UNKNOWN, /* none of that name */
	FUNCTION_ONLY_WITH_SUFFIX, /* the compiler has made others of it, which are in variants */
	FUNCTION_SEVERAL, /* functions of that name */
	FUNCTION_PART, /* the seldom part of another (.cold), which has no entry */
	FUNCTION_UNTRACEABLE, /* the kernel has left out what tracing needs (notrace, noinstr) */
	FUNCTION_NO_RETURN,
	FUNCTION_UNDER_TRACING, /* tracing itself calls it */
};

#define FUNCTION_TEXT_SIZE 256

struct function_facts {
	enum function_verdict verdict;
	size_t nr; /* functions of that name */
	char modules[FUNCTION_TEXT_SIZE]; /* in which modules, with commas; "" for the kernel */
	char variants[FUNCTION_TEXT_SIZE]; /* names with a suffix, with commas */
	char near[FUNCTION_TEXT_SIZE]; /* names that are near to one that is not there */
	bool has_suffix; /* its name has a suffix: the kernel's types have none of it */
};

/*
 * Judges a name. kallsyms: path of it; traceable: path of available_filter_functions, NULL where
 * there is none. What cannot be read is taken as no objection. 0, or -ENOMEM, not reported.
 */
int function__judge(const char *name, const char *kallsyms, const char *traceable,
		    struct function_facts *facts);

/* Says why a function cannot be timed and what to do. -ENOENT, or 0 when it is fine. */
int function__report(const char *name, const struct function_facts *facts);

/* The path of available_filter_functions, or NULL where no tracefs is mounted. */
const char *function__traceable_path(void);

/*
 * Whether calls of the function may well sleep, many at a time. A return probe has room for two
 * calls on each CPU, ten at least, so that such a function is better traced by a trampoline.
 */
bool function__may_sleep(const char *name);

#endif
