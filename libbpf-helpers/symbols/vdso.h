/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The shared object that the kernel maps into every process: the same bytes for all processes of
 * one ABI, so this process's own one is read, from memory.
 */
#ifndef VANTAGE_SYMBOLS_VDSO_H
#define VANTAGE_SYMBOLS_VDSO_H

#include "symbols/mapped_file.h"

/* data stays NULL when this process has none. */
void vdso__init(struct mapped_file *vdso);

#endif
