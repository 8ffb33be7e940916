/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --stats: what the run itself cost. The kernel counts the run time of programs
 * while asked to (about 70 ns a run, and only CAP_SYS_ADMIN may ask).
 */
#ifndef VANTAGE_RUN_STATS_H
#define VANTAGE_RUN_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "run/attach.h"

struct bpf_object;

struct run_stats {
	int fd; /* keeps the kernel's statistics on; -1: off */
	uint64_t map_bytes; /* kernel memory of the object's maps */
};

/* Switches the statistics on and takes the size of the maps; before privileges are given up.
 * What cannot be had is said and left out. */
void run_stats__start(struct run_stats *stats, const struct bpf_object *object);

/* Prints them on stderr. duration_ns: of the run. */
void run_stats__report(const struct run_stats *stats, const struct attachment *attachment,
		       uint64_t duration_ns);

void run_stats__close(struct run_stats *stats);

#endif
