/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Folded stacks, as flame graph tools read them: a stack a line, the outermost frame first,
 * semicolons between the frames, a blank and a number at the end. Nothing that a frame is called
 * can make another frame or another line: bytes are escaped as output/escape.h says, and so are
 * the semicolon and a blank at the beginning.
 */
#ifndef VANTAGE_OUTPUT_FOLDED_H
#define VANTAGE_OUTPUT_FOLDED_H

#include <stddef.h>
#include <stdint.h>

#include "output/buffer.h"

/* Appends one more frame to the line, which is empty at first. */
void folded__append_frame(struct buffer *line, const char *name, size_t size);

/* Ends the line. */
void folded__end(struct buffer *line, uint64_t number);

#endif
