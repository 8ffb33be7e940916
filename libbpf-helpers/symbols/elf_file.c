// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/elf_file.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What the headers may take: the counts in the file header are of 16 bits. */
#define SEGMENTS_MAX 4096
#define SECTIONS_MAX 65535
#define SECTION_NAMES_MAX (1024 * 1024)
#define NOTES_MAX (64 * 1024)

int elf_file__read(const struct elf_file *file, uint64_t offset, void *buffer, size_t size)
{
	char *out = buffer;

	if (offset > file->size || size > file->size - offset)
		return -EBADMSG;
	if (file->fd < 0) {
		memcpy(buffer, file->data + offset, size);
		return 0;
	}
	while (size) {
		ssize_t got = pread(file->fd, out, size, offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got) /* it has become shorter */
			return -EBADMSG;
		out += got;
		offset += got;
		size -= got;
	}
	return 0;
}

bool elf_file__holds(const struct elf_file *file, const struct elf_section *section)
{
	return section->type != SHT_NOBITS && section->offset <= file->size &&
	       section->size <= file->size - section->offset;
}

/* The headers of either class, as one. */
struct headers {
	uint64_t segments_offset;
	uint64_t sections_offset;
	uint32_t nr_segments;
	uint32_t nr_sections;
	uint32_t names_section;
	size_t segment_size;
	size_t section_size;
};

static int read_file_header(struct elf_file *file, struct headers *headers)
{
	union {
		unsigned char ident[EI_NIDENT];
		Elf32_Ehdr small;
		Elf64_Ehdr large;
	} raw = {};
	int err;

	err = elf_file__read(file, 0, raw.ident, sizeof(raw.ident));
	if (err)
		return err == -EBADMSG ? -ENOEXEC : err;
	if (memcmp(raw.ident, ELFMAG, SELFMAG) || raw.ident[EI_DATA] != ELFDATA2LSB ||
	    (raw.ident[EI_CLASS] != ELFCLASS64 && raw.ident[EI_CLASS] != ELFCLASS32))
		return -ENOEXEC;
	file->is_64 = raw.ident[EI_CLASS] == ELFCLASS64;
	err = elf_file__read(file, 0, &raw, file->is_64 ? sizeof(raw.large) : sizeof(raw.small));
	if (err)
		return err;
#define HEADERS(header, phdr, shdr)                                                                \
	(struct headers){                                                                          \
		.segments_offset = (header).e_phoff,                                               \
		.sections_offset = (header).e_shoff,                                               \
		.nr_segments = (header).e_phnum,                                                   \
		.nr_sections = (header).e_shnum,                                                   \
		.names_section = (header).e_shstrndx,                                              \
		.segment_size = (header).e_phentsize == sizeof(phdr) ? sizeof(phdr) : 0,           \
		.section_size = (header).e_shentsize == sizeof(shdr) ? sizeof(shdr) : 0,           \
	}
	*headers = file->is_64 ? HEADERS(raw.large, Elf64_Phdr, Elf64_Shdr) :
				 HEADERS(raw.small, Elf32_Phdr, Elf32_Shdr);
#undef HEADERS
	return 0;
}

static int read_segments(struct elf_file *file, const struct headers *headers)
{
	size_t nr = headers->nr_segments, size = headers->segment_size;
	unsigned char *raw;
	int err;

	if (!nr || !headers->segments_offset)
		return 0;
	if (!size || nr > SEGMENTS_MAX)
		return -EBADMSG;
	raw = malloc(nr * size);
	file->segments = calloc(nr, sizeof(*file->segments));
	err = raw && file->segments ?
		      elf_file__read(file, headers->segments_offset, raw, nr * size) :
		      -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++) {
		Elf32_Phdr small;
		Elf64_Phdr large;

#define SEGMENT(header)                                                                            \
	(struct elf_segment){                                                                      \
		.offset = (header).p_offset,                                                       \
		.file_size = (header).p_filesz,                                                    \
		.address = (header).p_vaddr,                                                       \
		.type = (header).p_type,                                                           \
		.flags = (header).p_flags,                                                         \
	}
		memcpy(file->is_64 ? (void *)&large : (void *)&small, raw + i * size, size);
		file->segments[i] = file->is_64 ? SEGMENT(large) : SEGMENT(small);
#undef SEGMENT
	}
	file->nr_segments = err ? 0 : nr;
	free(raw);
	return err;
}

static struct elf_section section_of(const struct elf_file *file, const void *raw)
{
	Elf32_Shdr small;
	Elf64_Shdr large;

#define SECTION(header)                                                                            \
	(struct elf_section)                                                                       \
	{                                                                                          \
		.flags = (header).sh_flags, .address = (header).sh_addr,                           \
		.offset = (header).sh_offset, .size = (header).sh_size,                            \
		.entry_size = (header).sh_entsize, .name = (header).sh_name,                       \
		.type = (header).sh_type, .link = (header).sh_link,                                \
	}
	if (file->is_64) {
		memcpy(&large, raw, sizeof(large));
		return SECTION(large);
	}
	memcpy(&small, raw, sizeof(small));
	return SECTION(small);
#undef SECTION
}

/* Counts that do not fit into the file header stand in section 0 (gABI, "extended numbering"). */
static int read_extended_counts(struct elf_file *file, struct headers *headers)
{
	unsigned char raw[sizeof(Elf64_Shdr)];
	struct elf_section first;
	int err;

	err = elf_file__read(file, headers->sections_offset, raw, headers->section_size);
	if (err)
		return err;
	first = section_of(file, raw);
	if (!headers->nr_sections)
		headers->nr_sections = first.size < SECTIONS_MAX ? first.size : SECTIONS_MAX + 1;
	if (headers->names_section == SHN_XINDEX)
		headers->names_section = first.link;
	return 0;
}

static int read_section_names(struct elf_file *file, uint32_t index)
{
	const struct elf_section *names = file->sections + index;
	int err;

	if (index >= file->nr_sections || !elf_file__holds(file, names) || !names->size ||
	    names->size > SECTION_NAMES_MAX)
		return 0;
	file->section_names = malloc(names->size);
	if (!file->section_names)
		return -ENOMEM;
	err = elf_file__read(file, names->offset, file->section_names, names->size);
	if (err)
		return err;
	file->section_names[names->size - 1] = '\0';
	file->section_names_size = names->size;
	return 0;
}

static int read_sections(struct elf_file *file, struct headers *headers)
{
	size_t size = headers->section_size, nr;
	unsigned char *raw;
	int err;

	if (!headers->sections_offset)
		return 0;
	if (!size)
		return -EBADMSG;
	err = read_extended_counts(file, headers);
	nr = headers->nr_sections;
	if (err || !nr)
		return err;
	if (nr > SECTIONS_MAX)
		return -EBADMSG;
	raw = malloc(nr * size);
	file->sections = calloc(nr, sizeof(*file->sections));
	err = raw && file->sections ?
		      elf_file__read(file, headers->sections_offset, raw, nr * size) :
		      -ENOMEM;
	for (size_t i = 0; i < nr && !err; i++)
		file->sections[i] = section_of(file, raw + i * size);
	file->nr_sections = err ? 0 : nr;
	free(raw);
	return err ? err : read_section_names(file, headers->names_section);
}

/* Looks for the build id in notes; each part of a note is padded to 4 bytes. */
static bool take_build_id(struct elf_file *file, const unsigned char *notes, size_t size)
{
	Elf64_Nhdr note; /* the same in both classes */

	while (size >= sizeof(note)) {
		size_t name_size, text_size;

		memcpy(&note, notes, sizeof(note));
		notes += sizeof(note);
		size -= sizeof(note);
		name_size = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		text_size = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name_size > size || text_size > size - name_size)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    !memcmp(notes, "GNU", 4) && note.n_descsz &&
		    note.n_descsz <= ELF_FILE_BUILD_ID_MAX) {
			memcpy(file->build_id, notes + name_size, note.n_descsz);
			file->build_id_size = note.n_descsz;
			return true;
		}
		notes += name_size + text_size;
		size -= name_size + text_size;
	}
	return false;
}

static bool read_notes(struct elf_file *file, uint64_t offset, uint64_t size, void *buffer)
{
	if (size > NOTES_MAX || elf_file__read(file, offset, buffer, size))
		return false;
	return take_build_id(file, buffer, size);
}

/* By segments, or (debug files, whose segments hold nothing) by sections. Without one there is
 * none: an error in the notes of a file is no reason not to read its symbols. */
static int read_build_id(struct elf_file *file)
{
	void *buffer = malloc(NOTES_MAX);
	bool found = false;

	if (!buffer)
		return -ENOMEM;
	for (size_t i = 0; i < file->nr_sections && !found; i++)
		if (file->sections[i].type == SHT_NOTE)
			found = read_notes(file, file->sections[i].offset, file->sections[i].size,
					   buffer);
	for (size_t i = 0; i < file->nr_segments && !found; i++)
		if (file->segments[i].type == PT_NOTE)
			found = read_notes(file, file->segments[i].offset,
					   file->segments[i].file_size, buffer);
	free(buffer);
	return 0;
}

int elf_file__open(struct elf_file *file, int fd, const void *data, size_t size)
{
	struct headers headers;
	struct stat info;
	int err;

	*file = (struct elf_file){ .fd = fd, .data = data, .size = size };
	if (fd >= 0) {
		if (fstat(fd, &info))
			return -errno;
		file->size = info.st_size;
	}
	err = read_file_header(file, &headers);
	if (!err)
		err = read_segments(file, &headers);
	if (!err)
		err = read_sections(file, &headers);
	return err ? err : read_build_id(file);
}

void elf_file__close(struct elf_file *file)
{
	free(file->segments);
	free(file->sections);
	free(file->section_names);
	*file = (struct elf_file){ .fd = -1 };
}

const struct elf_section *elf_file__find(const struct elf_file *file, uint32_t type,
					 const char *name)
{
	for (size_t i = 0; i < file->nr_sections; i++) {
		const struct elf_section *section = &file->sections[i];

		if (section->type != type)
			continue;
		if (!name || (section->name < file->section_names_size &&
			      !strcmp(file->section_names + section->name, name)))
			return section;
	}
	return NULL;
}

bool elf_file__address(const struct elf_segment *segments, size_t nr_segments, uint64_t offset,
		       uint64_t *address)
{
	const struct elf_segment *found = NULL;

	for (size_t i = 0; i < nr_segments; i++) {
		const struct elf_segment *segment = &segments[i];

		if (segment->type != PT_LOAD || offset < segment->offset ||
		    offset - segment->offset >= segment->file_size)
			continue;
		if (!found || (segment->flags & PF_X && !(found->flags & PF_X)))
			found = segment;
	}
	if (!found)
		return false;
	*address = found->address + (offset - found->offset);
	return true;
}
