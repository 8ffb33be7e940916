/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Commands of which everything is known: a small static program, started by posix_spawn, each with
 * a number of its own as its argument, from 0 on. And which of the numbers a tracer's text shows.
 */
#ifndef VANTAGE_BENCH_SPAWN_H
#define VANTAGE_BENCH_SPAWN_H

#include <stdint.h>

struct spawned {
	uint64_t nr; /* how many there were, numbered from 0 on */
	double seconds;
};

/* Path of the program. */
const char *spawn__program(void);

/* nr of them, one after another. */
struct spawned spawn__in_turn(uint64_t nr);

/* From all CPUs at once, as fast as they can, for so long. */
struct spawned spawn__storm(double seconds);

/* At a rate per second, for so long, or as many as the machine can. */
struct spawned spawn__paced(double rate, double seconds);

/* When that of spawn__paced() with this number was started, if it was this process that did. */
uint64_t spawn__started_ns(uint64_t number);

struct seen {
	uint64_t nr; /* different numbers that were shown */
	uint64_t first; /* the least number shown; nr if none was */
	uint64_t missing; /* the least number that was not shown; nr if all were */
};

/* Looks for the numbers below nr in text, in which a command's line holds its path and number. */
struct seen spawn__seen(const char *text, uint64_t nr);

#endif
