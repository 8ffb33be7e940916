/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of generated code, from the file that a JIT compiler writes for perf: lines of start, size
 * (both hexadecimal) and a name that may hold blanks. A later line goes before an earlier
 * one that starts at the same address: code is moved and replaced.
 */
#ifndef VANTAGE_SYMBOLS_PERF_MAP_H
#define VANTAGE_SYMBOLS_PERF_MAP_H

#include "symbols/lines.h"
#include "symbols/symbol_table.h"

/* Adds the symbols and finishes the table; lines of another format are left out. 0; -E2BIG when it
 * would take more than max_bytes; -ENOMEM; or the error of reading. */
int perf_map__parse(struct lines *lines, struct symbol_table *table, size_t max_bytes);

#endif
