// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/json.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "output/escape.h"
#include "output/face.h"
#include "run/log.h"

void json__append_string(struct buffer *out, const char *data, size_t size)
{
	char *room = buffer__reserve(out, 6 * size + 2);

	if (room)
		out->size += escape__json(room, data, size);
}

static void append_words(struct buffer *out, const struct value *value)
{
	const char *data = value->words.data;
	size_t size = value->words.size, nr_unreadable = 0, length, i;

	buffer__append_char(out, '[');
	for (i = 0; size; i++) {
		length = strnlen(data, size);
		if (nr_unreadable < value->words.nr_unreadable &&
		    value->words.unreadable[nr_unreadable] == i) {
			buffer__append_string(out, "null");
			nr_unreadable++;
		} else {
			json__append_string(out, data, length);
		}
		if (length < size)
			length++;
		data += length;
		size -= length;
		if (size)
			buffer__append_char(out, ',');
	}
	buffer__append_char(out, ']');
}

static void append_numbers(struct buffer *out, const uint64_t *items, size_t nr)
{
	size_t i;

	buffer__append_char(out, '[');
	for (i = 0; i < nr; i++) {
		if (i)
			buffer__append_char(out, ',');
		buffer__append_unsigned(out, items[i]);
	}
	buffer__append_char(out, ']');
}

static void append_counts(struct buffer *out, const struct named_count *items, size_t nr)
{
	size_t i;

	buffer__append_char(out, '{');
	for (i = 0; i < nr; i++) {
		if (i)
			buffer__append_char(out, ',');
		json__append_string(out, items[i].name, strlen(items[i].name));
		buffer__append_char(out, ':');
		if (items[i].known)
			buffer__append_unsigned(out, items[i].count);
		else
			buffer__append_string(out, "null");
	}
	buffer__append_char(out, '}');
}

/* The members of a record from its field number `from` on; comma: one stands before them. */
static void append_members(struct buffer *out, const struct record *record, size_t from, bool comma)
{
	const struct record_type *type = record->type;
	size_t i;

	for (i = from; i < type->nr_fields; i++) {
		const struct field *field = &type->fields[i];

		if (field->text_only || record->values[i].kind == VALUE_ABSENT)
			continue;
		if (comma)
			buffer__append_char(out, ',');
		comma = true;
		/* Names of fields are ours: nothing in them needs an escape. */
		buffer__append_char(out, '"');
		buffer__append_string(out, field->name);
		buffer__append(out, "\":", 2);
		json__append_value(out, field, &record->values[i]);
	}
}

static void append_records(struct buffer *out, bool named, const struct record *items, size_t nr)
{
	size_t i;

	buffer__append_char(out, named ? '{' : '[');
	for (i = 0; i < nr; i++) {
		if (i)
			buffer__append_char(out, ',');
		if (named) {
			const struct value *key = &items[i].values[0];

			json__append_string(out, key->bytes.data, key->bytes.size);
			buffer__append_char(out, ':');
		}
		buffer__append_char(out, '{');
		append_members(out, &items[i], named ? 1 : 0, false);
		buffer__append_char(out, '}');
	}
	buffer__append_char(out, named ? '}' : ']');
}

void json__append_value(struct buffer *out, const struct field *field, const struct value *value)
{
	switch (value->kind) {
	case VALUE_ABSENT:
		break;
	case VALUE_UNSIGNED:
		buffer__append_unsigned(out, value->number);
		break;
	case VALUE_SIGNED:
		buffer__append_signed(out, value->integer);
		break;
	case VALUE_DECIMAL:
		buffer__append_millionths(out, value->number);
		break;
	case VALUE_BOOL:
		buffer__append_string(out, value->truth ? "true" : "false");
		break;
	case VALUE_BYTES:
		json__append_string(out, value->bytes.data, value->bytes.size);
		break;
	case VALUE_WORDS:
		append_words(out, value);
		break;
	case VALUE_NUMBERS:
		append_numbers(out, value->numbers.items, value->numbers.nr);
		break;
	case VALUE_COUNTS:
		append_counts(out, value->counts.items, value->counts.nr);
		break;
	case VALUE_OBJECT:
		buffer__append_char(out, '{');
		append_members(out, value->records.items, 0, false);
		buffer__append_char(out, '}');
		break;
	case VALUE_RECORDS:
		append_records(out, field->named, value->records.items, value->records.nr);
		break;
	}
}

static void json__record(struct face *face, struct buffer *out, const struct record *record)
{
	(void)face;
	buffer__append_string(out, "{\"type\":\"");
	buffer__append_string(out, record->type->name);
	buffer__append_char(out, '"');
	append_members(out, record, 0, true);
	buffer__append(out, "}\n", 2);
}

static void json__free(struct face *face)
{
	free(face);
}

int json__open(struct face **face, const struct sink_config *config)
{
	static const struct face_operations operations = {
		.record = json__record,
		.free = json__free,
	};

	(void)config;
	*face = calloc(1, sizeof(**face));
	if (!*face)
		return log_error(ENOMEM, NULL, "cannot prepare the JSON output");
	(*face)->operations = &operations;
	return 0;
}

static void append_text(struct buffer *out, const char *name, const char *text)
{
	if (!text)
		return;
	buffer__append(out, ",\"", 2);
	buffer__append_string(out, name);
	buffer__append(out, "\":", 2);
	json__append_string(out, text, strlen(text));
}

void json__log_writer(const struct log_message *message)
{
	static const char *const types[] = {
		[LOG_ERROR] = "error",
		[LOG_WARNING] = "warning",
		[LOG_INFO] = "info",
		[LOG_DEBUG] = "info",
	};
	struct buffer line = { 0 };

	buffer__append_string(&line, "{\"type\":\"");
	buffer__append_string(&line, types[message->level]);
	buffer__append_char(&line, '"');
	append_text(&line, "message", message->message);
	append_text(&line, "cause", message->cause);
	append_text(&line, "hint", message->hint);
	buffer__append(&line, "}\n", 2);
	/* When stderr cannot be written there is nobody left to tell. */
	if (line.err)
		dprintf(STDERR_FILENO,
			"{\"type\":\"%s\",\"message\":\"no memory to say what happened\"}\n",
			types[message->level]);
	else
		buffer__write(&line, STDERR_FILENO);
	buffer__free(&line);
}
