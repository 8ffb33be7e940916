// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/debug_files.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lzma.h>
#include <zlib.h>

#include "symbols/elf_symbols.h"

/* What .gnu_debugdata may take: compressed, decompressed, and while it is decompressed. */
#define COMPRESSED_MAX (16 << 20)
#define DECOMPRESSED_MAX (64 << 20)
#define DECODER_MAX (128 << 20)
/* Larger debug files are not read through for their CRC. */
#define CRC_FILE_MAX (2ULL << 30)
#define CHUNK (256 * 1024)

/* Decompresses into memory to be freed; NULL when it is damaged or too large. */
static unsigned char *decompress(const unsigned char *data, size_t size, size_t *out_size)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	size_t capacity = 1 << 20;
	unsigned char *out = NULL;
	lzma_ret result;

	if (lzma_stream_decoder(&stream, DECODER_MAX, 0) != LZMA_OK)
		return NULL;
	stream.next_in = data;
	stream.avail_in = size;
	do {
		unsigned char *moved = realloc(out, capacity);

		if (!moved) {
			result = LZMA_MEM_ERROR;
			break;
		}
		out = moved;
		stream.next_out = out + stream.total_out;
		stream.avail_out = capacity - stream.total_out;
		result = lzma_code(&stream, LZMA_FINISH);
		capacity *= 2;
	} while (result == LZMA_OK && !stream.avail_out && capacity <= DECOMPRESSED_MAX);
	*out_size = stream.total_out;
	lzma_end(&stream);
	if (result != LZMA_STREAM_END) {
		free(out);
		return NULL;
	}
	return out;
}

/* Only running out of memory ends the search for names; other errors leave a file out. */
static int only_limits(int err)
{
	return err == -ENOMEM || err == -E2BIG ? err : 0;
}

static int add_debugdata(struct symbol_table *table, const struct elf_file *file, size_t max_bytes)
{
	const struct elf_section *section = elf_file__find(file, SHT_PROGBITS, ".gnu_debugdata");
	unsigned char *compressed, *data = NULL;
	struct elf_file inner;
	size_t size, nr;
	int err;

	if (!section || !elf_file__holds(file, section) || !section->size ||
	    section->size > COMPRESSED_MAX)
		return 0;
	compressed = malloc(section->size);
	if (!compressed)
		return -ENOMEM;
	err = elf_file__read(file, section->offset, compressed, section->size);
	if (!err)
		data = decompress(compressed, section->size, &size);
	free(compressed);
	if (!data)
		return 0;
	err = elf_file__open(&inner, -1, data, size);
	if (!err)
		err = elf_symbols__add(table, &inner, SHT_SYMTAB, max_bytes, &nr);
	elf_file__close(&inner);
	free(data);
	return only_limits(err);
}

static bool has_crc(const struct elf_file *file, uint32_t expected)
{
	unsigned char *chunk;
	uint32_t crc = 0;
	int err = 0;

	if (file->size > CRC_FILE_MAX)
		return false;
	chunk = malloc(CHUNK);
	if (!chunk)
		return false;
	for (uint64_t at = 0; at < file->size && !err; at += CHUNK) {
		size_t size = file->size - at < CHUNK ? file->size - at : CHUNK;

		err = elf_file__read(file, at, chunk, size);
		crc = crc32(crc, chunk, size);
	}
	free(chunk);
	return !err && crc == expected;
}

/* Whether a debug file is that of the file; crc: NULL when there is none to compare. */
static bool belongs(const struct elf_file *debug, const struct elf_file *file, const uint32_t *crc)
{
	if (debug->build_id_size && file->build_id_size)
		return debug->build_id_size == file->build_id_size &&
		       !memcmp(debug->build_id, file->build_id, file->build_id_size);
	return crc && has_crc(debug, *crc);
}

/* Takes the descriptor. Whether it had symbols for the file, or -errno. */
static int add_debug_file(struct symbol_table *table, const struct elf_file *file, int fd,
			  const uint32_t *crc, size_t max_bytes)
{
	struct elf_file debug;
	size_t nr = 0;
	int err;

	err = elf_file__open(&debug, fd, NULL, 0);
	if (!err && belongs(&debug, file, crc))
		err = elf_symbols__add(table, &debug, SHT_SYMTAB, max_bytes, &nr);
	elf_file__close(&debug);
	close(fd);
	err = only_limits(err);
	return err ? err : nr > 0;
}

/* Asks the opener for one place after another. Whether one had symbols, or -errno. */
static int try_places(struct symbol_table *table, const struct elf_file *file,
		      struct opener *opener, struct opener_request *request, const uint32_t *crc,
		      size_t max_bytes)
{
	uint32_t places = request->what == OPENER_DEBUG_LINK ? 4 : 2;
	int found = 0;

	for (request->place = 0; request->place < places && !found; request->place++) {
		int fd = opener__open(opener, request);

		if (fd >= 0)
			found = add_debug_file(table, file, fd, crc, max_bytes);
	}
	return found;
}

/* The section holds the name, NUL, padding to 4 bytes, and the CRC. */
static bool read_link(const struct elf_file *file, char *name, uint32_t *crc)
{
	const struct elf_section *section = elf_file__find(file, SHT_PROGBITS, ".gnu_debuglink");
	char text[OPENER_NAME_MAX + 1 + 8] = "";
	size_t size;

	if (!section || section->size > sizeof(text) || section->size < 8 ||
	    elf_file__read(file, section->offset, text, section->size))
		return false;
	size = strnlen(text, section->size);
	if (size > OPENER_NAME_MAX || ((size + 4) & ~(size_t)3) + 4 > section->size)
		return false;
	memcpy(name, text, size + 1);
	memcpy(crc, text + ((size + 4) & ~(size_t)3), sizeof(*crc));
	return true;
}

int debug_files__add(struct symbol_table *table, const struct elf_file *file, struct opener *opener,
		     const struct opener_request *request, size_t max_bytes)
{
	struct opener_request wanted;
	uint32_t crc;
	int found;

	found = add_debugdata(table, file, max_bytes);
	if (found < 0 || !opener)
		return found;
	wanted = *request;
	if (file->build_id_size) {
		wanted.what = OPENER_DEBUG_BUILD_ID;
		wanted.build_id_size = file->build_id_size;
		memcpy(wanted.build_id, file->build_id, file->build_id_size);
		found = try_places(table, file, opener, &wanted, NULL, max_bytes);
	}
	if (!found && read_link(file, wanted.name, &crc)) {
		wanted.what = OPENER_DEBUG_LINK;
		found = try_places(table, file, opener, &wanted, &crc, max_bytes);
	}
	return found < 0 ? found : 0;
}
