/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Functions of an ELF file by name, and where each one lies in the file: what a probe is put on.
 * The way back from addresses to names is that of elf_symbols.h.
 */
#ifndef VANTAGE_SYMBOLS_ELF_FUNCTION_H
#define VANTAGE_SYMBOLS_ELF_FUNCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/elf_file.h"

#define ELF_FUNCTION_NAME_SIZE 160
#define ELF_MATCHES_MAX 4

struct elf_function {
	char name[ELF_FUNCTION_NAME_SIZE]; /* as the file has it; cut if it is longer */
	uint64_t offset; /* of its first instruction in the file */
	bool is_resolver; /* an indirect function: what lies there chooses the one that is run */
};

/* Places that match; several names of one place are one match. */
struct elf_matches {
	struct elf_function items[ELF_MATCHES_MAX];
	size_t nr; /* can be more than there is room for */
	size_t nr_symbols; /* that were looked at */
};

/*
 * Adds the functions whose name is this; demangled: whose C++ or Rust name, as its author wrote it,
 * matches this glob. symbols: the file with the tables, the file itself or its debug file.
 * 0; -EBADMSG when a table contradicts itself; -ENOMEM; or the error of reading.
 */
int elf_matches__add(struct elf_matches *matches, const struct elf_file *file,
		     const struct elf_file *symbols, const char *name, bool demangled);

/* Whether the file is a Go program, whose stacks a return probe would destroy. */
bool elf_file__is_go(const struct elf_file *file);

#endif
