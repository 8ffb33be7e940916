/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The calls whose frames are left at the end of a run: which of them are still inside. Knows no
 * libbpf. */
#ifndef VANTAGE_FUNCLATENCY_INFLIGHT_H
#define VANTAGE_FUNCLATENCY_INFLIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "funclatency.h"

/* A call that had not returned. */
struct open_call {
	uint64_t age_ns;
	uint32_t pid;
	uint32_t tid;
	char comm[16]; /* NUL-ended if shorter; "" when it is not known */
};

/*
 * Whether the thread of a frame is still there, and then its call: a thread that began after the
 * call is another one with the same id. A call on an idle CPU has no thread that could have ended.
 * proc: the path of /proc. ended_ns: the end of the run, CLOCK_MONOTONIC.
 */
bool frame__is_open(const struct funclatency_frame *frame, const char *proc, uint64_t ended_ns,
		    struct open_call *call);

#endif
