/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that processes have mapped, and its symbols: its own, those in .gnu_debugdata, and
 * those of its debug file (by build id, then by .gnu_debuglink with its CRC), which the opener
 * finds. The descriptor is kept: as long as it is open, no other file has its inode.
 */
#ifndef VANTAGE_SYMBOLS_MAPPED_FILE_H
#define VANTAGE_SYMBOLS_MAPPED_FILE_H

#include "symbols/elf_file.h"
#include "symbols/opener.h"
#include "symbols/proc_maps.h"
#include "symbols/symbol.h"
#include "symbols/symbol_table.h"

struct mapped_file {
	char *path; /* as the maps show it */
	uint32_t major;
	uint32_t minor;
	uint64_t inode;
	int fd; /* -1: not open; memory (the vDSO) or an error */
	uint64_t tried; /* by the user: when it was opened last */
	const void *data;
	size_t size;
	enum symbol_reason reason; /* why nothing in it has a name; SYMBOL_NAMED */
	bool is_loaded;
	struct elf_segment *segments;
	size_t nr_segments;
	struct symbol_table table;
};

/* What an error of opener__open() for a mapping means. */
enum symbol_reason mapped_file__reason(int err);

/*
 * Reads the symbols once. request: the mapping by which it was found last, for the debug
 * files in the view of its process; opener may be NULL. What fails is in reason.
 */
void mapped_file__load(struct mapped_file *file, struct opener *opener,
		       const struct opener_request *request, size_t max_bytes);

/* Fills all but the name's demangling for the place at a file offset; after the load. */
void mapped_file__find(const struct mapped_file *file, uint64_t offset, struct symbol *symbol);

/* Closes and frees what it has, not itself. */
void mapped_file__free(struct mapped_file *file);

#endif
