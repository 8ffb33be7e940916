/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The longest command lines the kernel takes, and what of them execsnoop's records hold. */
#ifndef VANTAGE_BENCH_LONG_ARGS_H
#define VANTAGE_BENCH_LONG_ARGS_H

/* Prints a row for each. */
void long_args__measure(void);

#endif
