/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * When the maps of a process are read: at first sight, at each exec, and again when it shows new
 * stacks, at growing distances, since a young process still maps its libraries. Knows no libbpf.
 */
#ifndef VANTAGE_OFFCPUTIME_KNOWN_H
#define VANTAGE_OFFCPUTIME_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known {
	uint64_t start_ns; /* start_boottime of the process */
	uint32_t pid; /* 0: a free place */
	uint64_t read_ns; /* CLOCK_MONOTONIC */
	uint64_t wait_ns; /* until it is read again */
};

/* All zero: none. */
struct knowns {
	struct known *places; /* open addressing; a power of two of places, or NULL */
	size_t capacity;
	size_t nr;
};

/* Whether the maps are to be read now; executed: it has a new image. Without memory: always. */
bool knowns__is_due(struct knowns *knowns, uint32_t pid, uint64_t start_ns, bool executed,
		    uint64_t now_ns);

void knowns__free(struct knowns *knowns);

#endif
