/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frames of a stack with their names, for the faces. Knows no libbpf. */
#ifndef VANTAGE_OFFCPUTIME_FRAMES_H
#define VANTAGE_OFFCPUTIME_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/stacks.h"
#include "output/buffer.h"
#include "output/sink.h"
#include "symbols/symbolizer.h"

struct frame {
	uint64_t address; /* as it stood on the stack */
	uint64_t offset; /* of it in what the symbol names */
	struct symbol symbol;
	/* It was found by way of a function that sets up no frame pointer: frames between can be
	 * missing, and it can be none at all. */
	bool unsure;
};

#define FRAME_NR_FIELDS 6

/* The innermost first. All zero: none. The room is kept from stack to stack. */
struct frames {
	struct frame *items;
	size_t nr;
	size_t capacity;
	/* Of frames__value(). */
	struct record *records;
	struct value (*values)[FRAME_NR_FIELDS];
};

/* Names the frames of a stack; stack may be NULL: none. 0 or -ENOMEM. */
int frames__name(struct frames *frames, struct symbolizer *symbolizer, const struct stack *stack);

/* A value of frame_record_type; borrows from the frames. */
struct value frames__value(struct frames *frames);

extern const struct record_type frame_record_type;

/* One line for each, indented by four blanks, a question mark among them where it is not sure;
 * offsets: with the distance into the function. */
void frames__print(const struct frames *frames, struct buffer *out, bool offsets);

/* Appends them to a line of folded stacks, the outermost first. */
void frames__fold(const struct frames *frames, struct buffer *line);

void frames__free(struct frames *frames);

#endif
