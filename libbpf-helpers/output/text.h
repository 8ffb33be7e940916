/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How values look in the faces that people read; CSV has bytes, words and lists in
 * the same form as text. Escapes as output/escape.h says.
 */
#ifndef VANTAGE_OUTPUT_TEXT_H
#define VANTAGE_OUTPUT_TEXT_H

#include <stdbool.h>

#include "output/buffer.h"
#include "output/sink.h"

/*
 * Appends a value that is not VALUE_ABSENT: numbers as integers, bytes escaped for
 * text, words as a shell line (quote_words: each quoted), lists as their JSON.
 * field: what it is of.
 */
void text__append_value(struct buffer *out, const struct field *field, const struct value *value,
			bool quote_words);

#endif
