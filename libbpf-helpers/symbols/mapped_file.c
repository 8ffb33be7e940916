// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/mapped_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "symbols/debug_files.h"
#include "symbols/elf_symbols.h"

enum symbol_reason mapped_file__reason(int err)
{
	switch (err < 0 ? -err : err) {
	case 0:
		return SYMBOL_NAMED;
	case EACCES:
	case EPERM:
		return SYMBOL_FILE_NO_PERMISSION;
	case EXDEV:
		return SYMBOL_FILE_REPLACED;
	case ENODEV:
		return SYMBOL_FILE_NOT_REGULAR;
	case EREMOTE:
	case ETIMEDOUT:
		return SYMBOL_FILE_WAITS;
	case ENOEXEC:
		return SYMBOL_FILE_NOT_ELF;
	case EBADMSG:
	case EIO:
		return SYMBOL_FILE_BROKEN;
	case E2BIG:
	case EMFILE:
		return SYMBOL_LIMIT;
	case ENOMEM:
		return SYMBOL_NO_MEMORY;
	case EPIPE:
		return SYMBOL_NO_OPENER;
	default:
		return SYMBOL_FILE_GONE;
	}
}

/* Its own symbols, and where it has no full table, those from elsewhere. */
static int mapped_file__read(struct mapped_file *file, const struct elf_file *elf,
			     struct opener *opener, const struct opener_request *request,
			     size_t max_bytes)
{
	size_t nr_full = 0, nr_dynamic = 0;
	int err;

	err = elf_symbols__add(&file->table, elf, SHT_SYMTAB, max_bytes, &nr_full);
	if (!err)
		err = elf_symbols__add(&file->table, elf, SHT_DYNSYM, max_bytes, &nr_dynamic);
	if (!err && !nr_full)
		err = debug_files__add(&file->table, elf, opener, request, max_bytes);
	return err;
}

void mapped_file__load(struct mapped_file *file, struct opener *opener,
		       const struct opener_request *request, size_t max_bytes)
{
	struct elf_file elf;
	int err;

	if (file->is_loaded || file->reason != SYMBOL_NAMED)
		return;
	file->is_loaded = true;
	err = elf_file__open(&elf, file->fd, file->data, file->size);
	if (!err) {
		file->segments = elf.segments;
		file->nr_segments = elf.nr_segments;
		err = mapped_file__read(file, &elf, opener, request, max_bytes);
		elf.segments = NULL;
	}
	elf_file__close(&elf);
	if (!err)
		err = symbol_table__finish(&file->table);
	if (err)
		symbol_table__free(&file->table);
	file->reason = mapped_file__reason(err);
	if (!err && !file->table.nr_ranges)
		file->reason = SYMBOL_NO_SYMBOLS;
}

/* Bytes at the start of a function in which it sets up its frame pointer. */
#define PROLOGUE_BYTES 48

/*
 * Whether the function that begins at this file offset, so long, has "mov %rsp,%rbp" near its start, in one of
 * the two encodings: x86-64 code that keeps a frame pointer does that before it calls anybody.
 */
static bool mapped_file__has_frame(const struct mapped_file *file, uint64_t offset, uint64_t length)
{
	static const unsigned char forms[][3] = { { 0x48, 0x89, 0xe5 }, { 0x48, 0x8b, 0xec } };
	unsigned char code[PROLOGUE_BYTES];
	ssize_t size = 0;

	if (file->fd >= 0)
		size = pread(file->fd, code, length < sizeof(code) ? length : sizeof(code),
			     (off_t)offset);
	for (ssize_t i = 0; i + 3 <= size; i++)
		for (size_t form = 0; form < 2; form++)
			if (!memcmp(code + i, forms[form], 3))
				return true;
	return false;
}

void mapped_file__find(const struct mapped_file *file, uint64_t offset, struct symbol *symbol)
{
	struct symbol_table_hit hit;
	uint64_t address;

	symbol->module = file->path;
	symbol->module_address = offset;
	symbol->reason = file->reason;
	if (!elf_file__address(file->segments, file->nr_segments, offset, &address)) {
		if (file->reason == SYMBOL_NAMED)
			symbol->reason = SYMBOL_OUTSIDE_SEGMENTS;
		return;
	}
	symbol->module_address = address;
	if (file->reason != SYMBOL_NAMED)
		return;
	if (!symbol_table__find(&file->table, address, &hit)) {
		symbol->reason = SYMBOL_NOT_IN_SYMBOLS;
		return;
	}
	symbol->name = hit.name;
	symbol->offset = hit.offset;
	symbol->size = hit.size;
	symbol->has_frame = hit.offset <= offset &&
			    mapped_file__has_frame(file, offset - hit.offset, hit.size);
}

void mapped_file__free(struct mapped_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file->segments);
	symbol_table__free(&file->table);
}
