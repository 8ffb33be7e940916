// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "frames.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/escape.h"
#include "output/folded.h"

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

/* Where a call returns to can be the function behind the caller. */
static void frame__name_kernel(struct frame *frame, struct symbolizer *symbolizer)
{
	symbolizer__kernel(symbolizer, frame->address - 1, &frame->symbol);
	frame->offset = frame->symbol.offset + 1;
}

/* The last one. The innermost frame is where the thread entered the kernel, and no return. */
static void frames__name_user(struct frames *frames, struct symbolizer *symbolizer,
			      const struct stack *stack)
{
	const struct symbolizer_process process = { stack->pid, stack->start_ns };
	struct frame *frame = &frames->items[frames->nr];
	const struct frame *called = frames->nr ? frame - 1 : NULL;

	symbolizer__user(symbolizer, &process, frame->address - !!called, &frame->symbol);
	frame->offset = frame->symbol.offset + !!called;
	frame->unsure = called && (called->unsure || !called->symbol.has_frame);
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

		frame->address = stack->frames[frames->nr];
		frame->unsure = false;
		if (stack->pid)
			frames__name_user(frames, symbolizer, stack);
		else
			frame__name_kernel(frame, symbolizer);
	}
	return 0;
}

static const struct field frame_fields[FRAME_NR_FIELDS] = {
	FIELD_OPTIONAL("symbol", VALUE_BYTES, "Name of the function."),
	FIELD_OPTIONAL("offset", VALUE_UNSIGNED, "How far into the function."),
	FIELD_OPTIONAL("module", VALUE_BYTES,
		       "Module of the kernel (absent: the kernel itself; bpf: a BPF program), or "
		       "the mapped file of a process."),
	FIELD_REQUIRED("address", VALUE_UNSIGNED, "The address."),
	FIELD_OPTIONAL("reason", VALUE_BYTES, "Why it has no name."),
	FIELD_OPTIONAL("unsure", VALUE_BOOL,
		       "True: a frame before it is of a function without frame pointer."),
};

const struct record_type frame_record_type = {
	.name = "frame",
	.meaning = "One frame of a stack.",
	.fields = frame_fields,
	.nr_fields = FRAME_NR_FIELDS,
};

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
		*value++ = frame->unsure ? value__bool(true) : (struct value){};
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

/* A path without its folders; what is none stays as it is. */
static const char *file_name(const char *module)
{
	const char *slash = *module == '/' ? strrchr(module, '/') : NULL;

	return slash ? slash + 1 : module;
}

void frames__print(const struct frames *frames, struct buffer *out, bool offsets)
{
	for (size_t i = 0; i < frames->nr; i++) {
		const struct frame *frame = &frames->items[i];
		const struct symbol *symbol = &frame->symbol;

		buffer__append_string(out, frame->unsure ? "  ? " : "    ");
		if (symbol->name)
			append_escaped(out, symbol->name);
		else
			buffer__printf(out, "0x%" PRIx64 " (%s)", frame->address,
				       symbol_reason__sentence(symbol->reason));
		if (symbol->name && offsets)
			buffer__printf(out, "+0x%" PRIx64, frame->offset);
		if (symbol->module) {
			buffer__append_string(out, " [");
			append_escaped(out, file_name(symbol->module));
			buffer__append_char(out, ']');
		}
		buffer__append_char(out, '\n');
	}
}

void frames__fold(const struct frames *frames, struct buffer *line)
{
	for (size_t i = frames->nr; i-- > 0;) {
		const struct frame *frame = &frames->items[i];
		const struct symbol *symbol = &frame->symbol;
		struct buffer name = {};

		if (symbol->name)
			buffer__printf(&name, "%s%s", symbol->name, frame->unsure ? "?" : "");
		else
			buffer__printf(&name, "[%s]",
				       symbol->module ? file_name(symbol->module) : "unknown");
		if (name.err)
			line->err = name.err;
		folded__append_frame(line, name.data ? name.data : "", name.size);
		buffer__free(&name);
	}
}

void frames__free(struct frames *frames)
{
	free(frames->items);
	free(frames->records);
	free(frames->values);
	*frames = (struct frames){};
}
