// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/elf_function.h"

#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/demangle.h"

/* Tables of a file that are larger are left out: no program comes near. */
#define TABLE_BYTES_MAX (1ULL << 30)

/* Bytes of a table of symbols, each with its own copy of the section. */
struct symbols {
	const struct elf_file *file; /* the one whose functions are wanted */
	const struct elf_file *symbols;
	struct elf_matches *matches;
	const char *name;
	bool demangled;
	char *strings;
	size_t strings_size;
};

static bool is_match(const struct symbols *symbols, const char *name)
{
	bool matches;
	char *text;

	if (!symbols->demangled)
		return !strcmp(name, symbols->name);
	text = demangle(name);
	matches = text && !fnmatch(symbols->name, text, 0);
	free(text);
	return matches;
}

/* The place in the file of an address, by the executable segment that holds it. */
static bool file_offset(const struct elf_file *file, uint64_t address, uint64_t *offset)
{
	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (segment->type != PT_LOAD || !(segment->flags & PF_X) ||
		    address < segment->address || address - segment->address >= segment->file_size)
			continue;
		*offset = segment->offset + (address - segment->address);
		return true;
	}
	return false;
}

static void elf_matches__put(struct elf_matches *matches, const char *name, uint64_t offset,
			     bool is_resolver)
{
	for (size_t i = 0; i < matches->nr && i < ELF_MATCHES_MAX; i++)
		if (matches->items[i].offset == offset)
			return;
	if (matches->nr < ELF_MATCHES_MAX) {
		struct elf_function *function = &matches->items[matches->nr];

		snprintf(function->name, sizeof(function->name), "%s", name);
		function->offset = offset;
		function->is_resolver = is_resolver;
	}
	matches->nr++;
}

static void symbols__look(const struct symbols *symbols, uint32_t name, uint8_t info,
			  uint16_t section, uint64_t value)
{
	uint32_t type = ELF64_ST_TYPE(info);
	uint64_t offset;

	symbols->matches->nr_symbols++;
	if ((type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE) ||
	    section == SHN_UNDEF || section == SHN_ABS || name >= symbols->strings_size ||
	    !is_match(symbols, symbols->strings + name) ||
	    !file_offset(symbols->file, value, &offset))
		return;
	elf_matches__put(symbols->matches, symbols->strings + name, offset, type == STT_GNU_IFUNC);
}

/* A copy of a section's bytes with a NUL behind them; NULL with an error. */
static char *read_section(const struct elf_file *file, const struct elf_section *section, int *err)
{
	char *data;

	*err = -EBADMSG;
	if (!elf_file__holds(file, section) || section->size > TABLE_BYTES_MAX)
		return NULL;
	data = malloc(section->size + 1);
	*err = data ? elf_file__read(file, section->offset, data, section->size) : -ENOMEM;
	if (*err) {
		free(data);
		return NULL;
	}
	data[section->size] = '\0';
	return data;
}

static int symbols__read(struct symbols *symbols, const struct elf_section *section)
{
	const struct elf_file *file = symbols->symbols;
	size_t size = file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	char *table;
	int err;

	if (section->link >= file->nr_sections || section->entry_size != size)
		return -EBADMSG;
	symbols->strings = read_section(file, &file->sections[section->link], &err);
	if (!symbols->strings)
		return err;
	symbols->strings_size = file->sections[section->link].size;
	table = read_section(file, section, &err);
	for (size_t at = 0; table && at + size <= section->size; at += size) {
		Elf64_Sym large;
		Elf32_Sym small;

		if (file->is_64) {
			memcpy(&large, table + at, sizeof(large));
			symbols__look(symbols, large.st_name, large.st_info, large.st_shndx,
				      large.st_value);
		} else {
			memcpy(&small, table + at, sizeof(small));
			symbols__look(symbols, small.st_name, small.st_info, small.st_shndx,
				      small.st_value);
		}
	}
	free(table);
	free(symbols->strings);
	return err;
}

int elf_matches__add(struct elf_matches *matches, const struct elf_file *file,
		     const struct elf_file *symbols, const char *name, bool demangled)
{
	struct symbols reader = {
		.file = file,
		.symbols = symbols,
		.matches = matches,
		.name = name,
		.demangled = demangled,
	};
	int err = 0;

	for (size_t i = 0; i < symbols->nr_sections && !err; i++) {
		const struct elf_section *section = &symbols->sections[i];

		if (section->type == SHT_SYMTAB || section->type == SHT_DYNSYM)
			err = symbols__read(&reader, section);
	}
	return err;
}

bool elf_file__is_go(const struct elf_file *file)
{
	return elf_file__find(file, SHT_NOTE, ".note.go.buildid") ||
	       elf_file__find(file, SHT_PROGBITS, ".gopclntab") ||
	       elf_file__find(file, SHT_PROGBITS, ".go.buildinfo");
}
