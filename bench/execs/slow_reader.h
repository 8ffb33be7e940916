/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A tracer whose reader takes 1,000 lines a second, while twice as many commands start. */
#ifndef VANTAGE_BENCH_SLOW_READER_H
#define VANTAGE_BENCH_SLOW_READER_H

#include "tracer.h"

/* Prints a row: execs, execs a second, how many are not in the output, after how many seconds the
 * first of them was started, and lines on stderr or in the output that speak of a loss. */
void slow_reader__measure(const struct tracer *tracer, double seconds);

#endif
