// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Entries read at a time. */
#define CHUNK 2048
/* Longer names are left out: many symbols can share one string. */
#define NAME_MAX_BYTES (16 * 1024)
/* A file has one of each type; a crafted one could name the same bytes 65,535 times. */
#define TABLES_MAX 4

struct reader {
	struct symbol_table *table;
	const struct elf_file *file;
	char *strings;
	size_t strings_size;
	size_t max_bytes;
};

static int reader__read_strings(struct reader *reader, const struct elf_section *section)
{
	const struct elf_file *file = reader->file;
	const struct elf_section *strings;
	int err;

	if (section->link >= file->nr_sections)
		return -EBADMSG;
	strings = &file->sections[section->link];
	if (!elf_file__holds(file, strings) || !strings->size)
		return -EBADMSG;
	if (strings->size > reader->max_bytes)
		return -E2BIG;
	reader->strings = malloc(strings->size);
	if (!reader->strings)
		return -ENOMEM;
	err = elf_file__read(file, strings->offset, reader->strings, strings->size);
	if (err)
		return err;
	reader->strings[strings->size - 1] = '\0';
	reader->strings_size = strings->size;
	return 0;
}

static bool rank_of(unsigned char info, const char *name, uint8_t *rank)
{
	static const uint8_t kinds[16] = {
		[STT_OBJECT] = 1,
		[STT_NOTYPE] = 2,
		[STT_GNU_IFUNC] = 3,
		[STT_FUNC] = 4,
	};
	bool is_local = ELF64_ST_BIND(info) == STB_LOCAL;
	size_t underscores = strspn(name, "_");

	*rank = kinds[ELF64_ST_TYPE(info)] * 8 + !is_local * 4 +
		(underscores < 3 ? 3 - underscores : 0);
	return kinds[ELF64_ST_TYPE(info)] != 0;
}

/* The end of the executable section or segment that holds a symbol; 0: it is not in code. */
static uint64_t reader__limit(const struct reader *reader, const Elf64_Sym *symbol)
{
	const struct elf_file *file = reader->file;

	if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS ||
	    symbol->st_shndx == SHN_COMMON)
		return 0;
	if (symbol->st_shndx < file->nr_sections) {
		const struct elf_section *section = &file->sections[symbol->st_shndx];

		if (!(section->flags & SHF_EXECINSTR) || symbol->st_value < section->address ||
		    symbol->st_value - section->address >= section->size)
			return 0;
		return section->address + section->size;
	}
	/* SHN_XINDEX: more sections than the field can count. */
	for (size_t i = 0; i < file->nr_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (segment->type == PT_LOAD && segment->flags & PF_X &&
		    symbol->st_value >= segment->address &&
		    symbol->st_value - segment->address < segment->file_size)
			return segment->address + segment->file_size;
	}
	return 0;
}

static int reader__take(struct reader *reader, const Elf64_Sym *symbol)
{
	struct symbol_table *table = reader->table;
	struct symbol_table_entry entry = { .start = symbol->st_value };
	const char *name;
	size_t size;

	if (symbol->st_name >= reader->strings_size)
		return 0;
	name = reader->strings + symbol->st_name;
	if (!*name || !rank_of(symbol->st_info, name, &entry.rank))
		return 0;
	entry.end = reader__limit(reader, symbol);
	if (!entry.end)
		return 0;
	size = strnlen(name, NAME_MAX_BYTES);
	if (size == NAME_MAX_BYTES)
		return 0;
	/* One that claims to reach out of its section is cut at the section's end. */
	entry.sized = symbol->st_size != 0;
	if (entry.sized && symbol->st_size < entry.end - entry.start)
		entry.end = entry.start + symbol->st_size;
	if (symbol_table__bytes(table) + size + sizeof(entry) > reader->max_bytes)
		return -E2BIG;
	entry.name = symbol_table__add_name(table, name, size);
	if (entry.name == SYMBOL_TABLE_NO_NAME)
		return -ENOMEM;
	return symbol_table__add(table, &entry);
}

static Elf64_Sym symbol_of(const struct elf_file *file, const unsigned char *raw)
{
	Elf64_Sym large;
	Elf32_Sym small;

	if (file->is_64) {
		memcpy(&large, raw, sizeof(large));
		return large;
	}
	memcpy(&small, raw, sizeof(small));
	return (Elf64_Sym){
		.st_name = small.st_name,
		.st_info = small.st_info,
		.st_shndx = small.st_shndx,
		.st_value = small.st_value,
		.st_size = small.st_size,
	};
}

static int reader__read_table(struct reader *reader, const struct elf_section *section, size_t *nr)
{
	const struct elf_file *file = reader->file;
	size_t size = file->is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
	uint64_t count = section->size / size;
	unsigned char *chunk;
	int err = 0;

	/* A debug file's .dynsym has no bytes. */
	if (section->type == SHT_NOBITS)
		return 0;
	if (!elf_file__holds(file, section) || section->entry_size != size)
		return -EBADMSG;
	err = reader__read_strings(reader, section);
	if (err)
		return err;
	chunk = malloc(CHUNK * size);
	if (!chunk)
		return -ENOMEM;
	for (uint64_t at = 0; at < count && !err; at += CHUNK) {
		size_t wanted = count - at < CHUNK ? count - at : CHUNK;

		err = elf_file__read(file, section->offset + at * size, chunk, wanted * size);
		for (size_t i = 0; i < wanted && !err; i++) {
			Elf64_Sym symbol = symbol_of(file, chunk + i * size);

			err = reader__take(reader, &symbol);
		}
	}
	*nr += count;
	free(chunk);
	return err;
}

int elf_symbols__add(struct symbol_table *table, const struct elf_file *file, uint32_t type,
		     size_t max_bytes, size_t *nr)
{
	size_t tables = 0;
	int err = 0;

	*nr = 0;
	for (size_t i = 0; i < file->nr_sections && !err && tables < TABLES_MAX; i++) {
		struct reader reader = {
			.table = table,
			.file = file,
			.max_bytes = max_bytes,
		};

		if (file->sections[i].type != type)
			continue;
		tables++;
		/* Entries that name no code take no memory, but time. */
		if (file->sections[i].size > max_bytes)
			return -E2BIG;
		err = reader__read_table(&reader, &file->sections[i], nr);
		free(reader.strings);
	}
	return err;
}
