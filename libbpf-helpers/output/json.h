/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JSON for any bytes: values for the faces and the schema, and the log's messages.
 * Escapes as output/escape.h says. Records of a run go through the sink.
 */
#ifndef VANTAGE_OUTPUT_JSON_H
#define VANTAGE_OUTPUT_JSON_H

#include <stddef.h>

#include "output/buffer.h"
#include "output/sink.h"

struct log_message;

/* Appends bytes as a string with its quotes. */
void json__append_string(struct buffer *out, const char *data, size_t size);

/* Appends a value that is not VALUE_ABSENT. field: what it is of (named, of). */
void json__append_value(struct buffer *out, const struct field *field, const struct value *value);

/*
 * For log__set_writer(): one line on stderr by one write,
 * {"type":"error"|"warning"|"info","message":…,"cause":…,"hint":…}.
 */
void json__log_writer(const struct log_message *message);

#endif
