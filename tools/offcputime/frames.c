// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/escape.h"

static int frames__reserve(struct frames *frames, size_t nr)
{
	struct frame *items;
	struct record *records;
	struct value(*values)[FRAME_NR_FIELDS];

	if (nr <= frames->capacity)
		return 0;
	items = reallocarray(frames->items, nr, sizeof(*items));
	if (!items)
		return -ENOMEM;
	frames->items = items;
	records = reallocarray(frames->records, nr, sizeof(*records));
	if (!records)
		return -ENOMEM;
	frames->records = records;
	values = reallocarray(frames->values, nr, sizeof(*values));
	if (!values)
		return -ENOMEM;
	frames->values = values;
	frames->capacity = nr;
	return 0;
}

int frames__name(struct frames *frames, struct symbolizer *symbolizer, const struct stack *stack)
{
	frames->nr = 0;
	if (!stack)
		return 0;
	if (frames__reserve(frames, stack->nr))
		return -ENOMEM;
	for (; frames->nr < stack->nr; frames->nr++) {
		struct frame *frame = &frames->items[frames->nr];

		/* Where a call returns to can be the function behind the caller. */
		frame->address = stack->frames[frames->nr];
		symbolizer__kernel(symbolizer, frame->address - 1, &frame->symbol);
		frame->offset = frame->symbol.offset + 1;
	}
	return 0;
}

static const struct field frame_fields[FRAME_NR_FIELDS] = {
	FIELD_OPTIONAL("symbol", VALUE_BYTES, "Name of the function."),
	FIELD_OPTIONAL("offset", VALUE_UNSIGNED, "How far into the function."),
	FIELD_OPTIONAL("module", VALUE_BYTES,
		       "Module of the kernel, bpf for a BPF program; absent: the kernel itself."),
	FIELD_REQUIRED("address", VALUE_UNSIGNED, "The address."),
	FIELD_OPTIONAL("reason", VALUE_BYTES, "Why it has no name."),
};

const struct record_type frame_record_type = {
	.name = "frame",
	.meaning = "One frame of a stack.",
	.fields = frame_fields,
	.nr_fields = FRAME_NR_FIELDS,
};

static struct value value__text(const char *text)
{
	return text ? value__bytes(text, strlen(text)) : (struct value){};
}

struct value frames__value(struct frames *frames)
{
	for (size_t i = 0; i < frames->nr; i++) {
		const struct frame *frame = &frames->items[i];
		const struct symbol *symbol = &frame->symbol;
		struct value *value = frames->values[i];

		frames->records[i] = (struct record){ &frame_record_type, value };
		*value++ = value__text(symbol->name);
		*value++ = symbol->name ? value__unsigned(frame->offset) : (struct value){};
		*value++ = value__text(symbol->module);
		*value++ = value__unsigned(frame->address);
		*value++ = symbol->name ? (struct value){} :
					  value__text(symbol_reason__name(symbol->reason));
	}
	return value__records(frames->records, frames->nr);
}

static void append_escaped(struct buffer *out, const char *text)
{
	size_t size = strlen(text);
	char *room = buffer__reserve(out, 4 * size);

	if (room)
		out->size += escape__text(room, text, size);
}

void frames__print(const struct frames *frames, struct buffer *out, bool offsets)
{
	for (size_t i = 0; i < frames->nr; i++) {
		const struct frame *frame = &frames->items[i];
		const struct symbol *symbol = &frame->symbol;

		buffer__append_string(out, "    ");
		if (symbol->name)
			append_escaped(out, symbol->name);
		else
			buffer__printf(out, "0x%" PRIx64 " (%s)", frame->address,
				       symbol_reason__sentence(symbol->reason));
		if (symbol->name && offsets)
			buffer__printf(out, "+0x%" PRIx64, frame->offset);
		if (symbol->module) {
			buffer__append_string(out, " [");
			append_escaped(out, symbol->module);
			buffer__append_char(out, ']');
		}
		buffer__append_char(out, '\n');
	}
}

void frames__free(struct frames *frames)
{
	free(frames->items);
	free(frames->records);
	free(frames->values);
	*frames = (struct frames){};
}
