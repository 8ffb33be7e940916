/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * --check: tries what tracing needs for real and prints, for each thing that
 * fails, the cause and the remedy. The same report in every tool.
 */
#ifndef VANTAGE_RUN_CHECK_H
#define VANTAGE_RUN_CHECK_H

#include <stdbool.h>

#include "run/attach.h"

/*
 * Prints the report on stdout, one line an item, and last whether the tool can
 * run by one of its ways. 0 if it can; -ENOTSUP if not (what is missing is in the report);
 * -EPIPE when the reader has gone; another -errno, reported, when stdout cannot be written.
 */
int check__report(const char *tool, const struct attach_way *ways, unsigned long nr_ways);

#endif
