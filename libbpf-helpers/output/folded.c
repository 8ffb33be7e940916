// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/folded.h"

#include <errno.h>
#include <stdlib.h>

#include "output/escape.h"
#include "output/face.h"
#include "run/log.h"

/* The bytes before the next semicolon. */
static size_t length_before(const char *name, size_t size)
{
	const char *semicolon = memchr(name, ';', size);

	return semicolon ? (size_t)(semicolon - name) : size;
}

void folded__append_frame(struct buffer *line, const char *name, size_t size)
{
	if (line->size)
		buffer__append_char(line, ';');
	if (size && *name == ' ') {
		buffer__append_string(line, "\\x20");
		name++;
		size--;
	}
	while (size) {
		size_t length = length_before(name, size);
		char *room = buffer__reserve(line, 4 * length);

		if (room)
			line->size += escape__text(room, name, length);
		if (length < size) {
			buffer__append_string(line, "\\x3b");
			length++;
		}
		name += length;
		size -= length;
	}
}

void folded__end(struct buffer *line, uint64_t number)
{
	buffer__append_char(line, ' ');
	buffer__append_unsigned(line, number);
	buffer__append_char(line, '\n');
}

static void folded__record(struct face *face, struct buffer *out, const struct record *record)
{
	const struct value *lines;

	(void)face;
	if (!record->type->folded)
		return;
	lines = &record->values[record->type->folded - record->type->fields];
	if (lines->kind == VALUE_BYTES)
		buffer__append(out, lines->bytes.data, lines->bytes.size);
}

static void folded__free(struct face *face)
{
	free(face);
}

int folded__open(struct face **face, const struct sink_config *config)
{
	static const struct face_operations operations = {
		.record = folded__record,
		.free = folded__free,
	};

	(void)config;
	*face = calloc(1, sizeof(**face));
	if (!*face)
		return log_error(ENOMEM, NULL, "cannot prepare the folded output");
	(*face)->operations = &operations;
	return 0;
}
