/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * C++ and Rust names as their authors wrote them, by libiberty. Names are the choice of whoever
 * made the file, and a short one can stand for gigabytes: the result is bounded.
 */
#ifndef VANTAGE_SYMBOLS_DEMANGLE_H
#define VANTAGE_SYMBOLS_DEMANGLE_H

/* A string to be freed, or NULL when the name is no mangled one, the result would be longer than
 * 64 KiB, or there is no memory: then the name itself is what to show. */
char *demangle(const char *name);

#endif
