/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a thread waited for, by the functions on its kernel stack: a table of rules, whose names
 * hold for all kernels from 5.10 on. Knows no libbpf.
 */
#ifndef VANTAGE_OFFCPUTIME_REASONS_H
#define VANTAGE_OFFCPUTIME_REASONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "frames.h"
#include "stays.h"

enum reason {
	REASON_DISK,
	REASON_FAULT,
	REASON_LOCK,
	REASON_PIPE,
	REASON_SOCKET,
	REASON_POLL,
	REASON_SLEEP,
	REASON_CHILD,
	REASON_TERMINAL,
	REASON_STOPPED,
	REASON_KERNEL,
	REASON_CPU, /* awake, or preempted */
	REASON_OTHER, /* no rule names it, or there is no stack */
	REASON_NR,
};

extern const char *const reason_names[REASON_NR];

/* Why the thread was blocked there. *idle: it had nothing to do: an event loop without events, a
 * server without a caller, a thread of the kernel without work. */
enum reason reason__of(const struct frames *kernel, bool *idle);

/* Times by reason; that of idle waits is apart. All zero: none. */
struct reasons {
	uint64_t ns[REASON_NR];
	uint64_t idle_ns[REASON_NR];
};

/* Adds a row by its parts. True when it is an idle wait as a whole. */
bool reasons__add(struct reasons *reasons, const struct stay_row *row, const struct frames *kernel);

/* One line of the table. */
struct reason_time {
	enum reason reason;
	bool idle;
	uint64_t ns;
};

#define REASON_TIMES_MAX (2 * REASON_NR)

/* Those that there were, the most time last; how many. */
size_t reasons__list(const struct reasons *reasons, struct reason_time times[REASON_TIMES_MAX]);

#endif
