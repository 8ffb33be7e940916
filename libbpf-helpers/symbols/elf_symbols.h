/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The symbols of code in an ELF file: which entries of .symtab and .dynsym name code, and how
 * far each one reaches. Where the file comes from is none of its business.
 *
 * Taken are symbols in executable sections: functions before indirect functions (whose value
 * is the place of their resolver), these before labels without a type, these before objects.
 * Of one kind, local ones come last, and of the others the name with fewer underscores before it
 * is taken: getpid and not __getpid.
 */
#ifndef VANTAGE_SYMBOLS_ELF_SYMBOLS_H
#define VANTAGE_SYMBOLS_ELF_SYMBOLS_H

#include "symbols/elf_file.h"
#include "symbols/symbol_table.h"

/*
 * Adds the symbols of all tables of this type (SHT_SYMTAB, SHT_DYNSYM). max_bytes bounds the
 * memory it takes, names and entries together. nr: how many entries the tables have. 0; -EBADMSG
 * when a table contradicts itself (what came before it was added); -E2BIG above
 * max_bytes; -ENOMEM; or the error of reading.
 */
int elf_symbols__add(struct symbol_table *table, const struct elf_file *file, uint32_t type,
		     size_t max_bytes, size_t *nr);

#endif
