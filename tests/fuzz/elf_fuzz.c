// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* ELF files of any bytes: read, searched, demangled. */
#include <elf.h>
#include <stdlib.h>

#include "symbols/debug_files.h"
#include "symbols/demangle.h"
#include "symbols/elf_symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t max_bytes = 16 << 20;
	struct symbol_table table = {};
	struct symbol_table_hit hit;
	struct elf_file file;
	uint64_t address;
	size_t nr;

	if (!elf_file__open(&file, -1, data, size)) {
		elf_symbols__add(&table, &file, SHT_SYMTAB, max_bytes, &nr);
		elf_symbols__add(&table, &file, SHT_DYNSYM, max_bytes, &nr);
		debug_files__add(&table, &file, NULL, NULL, max_bytes);
		elf_file__address(file.segments, file.nr_segments, size / 2, &address);
	}
	if (!symbol_table__finish(&table)) {
		for (size_t i = 0; i < table.nr_ranges; i++) {
			/* What was put in is found, and ranges rise without overlaps. */
			if (!symbol_table__find(&table, table.starts[i], &hit) ||
			    (i && table.starts[i] - table.starts[i - 1] < table.ranges[i - 1].size))
				abort();
			if (i < 16)
				free(demangle(hit.name));
		}
	}
	symbol_table__free(&table);
	elf_file__close(&file);
	return 0;
}
