/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Symbols that a stripped file has left elsewhere: compressed inside it (.gnu_debugdata), in
 * /usr/lib/debug by its build id, or in the file that .gnu_debuglink names. A debug file
 * belongs to it when the build ids are the same, or, where one of them has none, when the CRC
 * of .gnu_debuglink is that of the debug file.
 */
#ifndef VANTAGE_SYMBOLS_DEBUG_FILES_H
#define VANTAGE_SYMBOLS_DEBUG_FILES_H

#include "symbols/elf_file.h"
#include "symbols/opener.h"
#include "symbols/symbol_table.h"

/*
 * Adds what it finds; not to find any is no error, nor is a debug file that is damaged or another
 * file's. opener: NULL for none. request: the mapping. 0, -E2BIG above max_bytes, -ENOMEM.
 */
int debug_files__add(struct symbol_table *table, const struct elf_file *file, struct opener *opener,
		     const struct opener_request *request, size_t max_bytes);

#endif
