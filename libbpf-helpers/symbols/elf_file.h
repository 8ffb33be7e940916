/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A reader of ELF files that somebody else has chosen: little-endian, of 32 or 64 bits, from a
 * descriptor or from memory. Every offset and size is checked against the file before it is
 * used, headers are copied, and a part that is asked for is read into memory of this
 * process. libelf is not used: it maps files, and a mapped file that its owner truncates ends
 * the reader with SIGBUS; and what it accepts and keeps is not bounded by its callers.
 */
#ifndef VANTAGE_SYMBOLS_ELF_FILE_H
#define VANTAGE_SYMBOLS_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_FILE_BUILD_ID_MAX 64

struct elf_segment {
	uint64_t offset;
	uint64_t file_size;
	uint64_t address;
	uint32_t type;
	uint32_t flags;
};

struct elf_section {
	uint64_t flags;
	uint64_t address;
	uint64_t offset;
	uint64_t size;
	uint64_t entry_size;
	uint32_t name; /* offset in section_names */
	uint32_t type;
	uint32_t link;
};

struct elf_file {
	int fd; /* borrowed; -1: data */
	const unsigned char *data; /* borrowed */
	uint64_t size;
	bool is_64;
	struct elf_segment *segments;
	size_t nr_segments;
	struct elf_section *sections;
	size_t nr_sections;
	char *section_names;
	size_t section_names_size;
	unsigned char build_id[ELF_FILE_BUILD_ID_MAX];
	size_t build_id_size; /* 0: it has none */
};

/* Reads the headers of a descriptor, or of size bytes of memory when fd is negative. 0; -ENOEXEC
 * when it is no such ELF file; -EBADMSG when it contradicts itself or is too short; -ENOMEM;
 * or the error of reading. elf_file__close() is to be called in any case. */
int elf_file__open(struct elf_file *file, int fd, const void *data, size_t size);

/* Frees what the file has allocated; the descriptor or memory stays the caller's. */
void elf_file__close(struct elf_file *file);

/* Copies a part. 0; -EBADMSG when it does not lie in the file; or the error of reading. */
int elf_file__read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size);

/* The first section with this type and name (NULL: any), or NULL. */
const struct elf_section *elf_file__find(const struct elf_file *file, uint32_t type,
					 const char *name);

/* Whether the bytes of a section lie in the file; those of SHT_NOBITS do not. */
bool elf_file__holds(const struct elf_file *file, const struct elf_section *section);

/* The address of a file offset by the loadable segment that holds it, an executable one first
 * (p_offset and p_filesz decide: the memory size of a segment says nothing about the file). */
bool elf_file__address(const struct elf_segment *segments, size_t nr_segments, uint64_t offset,
		       uint64_t *address);

#endif
