/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A growable byte buffer that the faces format records into. When memory runs out
 * it keeps the error and takes nothing more, so that a caller appends a whole
 * record and looks at err once. It knows nothing of records.
 */
#ifndef VANTAGE_OUTPUT_BUFFER_H
#define VANTAGE_OUTPUT_BUFFER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* All zero: empty, ready for use. */
struct buffer {
	char *data;
	size_t size;
	size_t capacity;
	int err; /* 0 or -errno (-ENOMEM): what was to be appended since is missing */
};

/* Makes room for size more bytes. Where they go, at data + size (the caller then adds
 * what it wrote to size), or NULL when err is set. Moves data. */
char *buffer__reserve(struct buffer *buffer, size_t size);

/* These append, or do nothing when err is set. */
void buffer__append(struct buffer *buffer, const void *data, size_t size);
void buffer__append_char(struct buffer *buffer, char c);
void buffer__append_unsigned(struct buffer *buffer, uint64_t number);
/* A number of millionths as a decimal, without zeros at its end: 99900000 -> 99.9 */
void buffer__append_millionths(struct buffer *buffer, uint64_t millionths);
void buffer__append_signed(struct buffer *buffer, int64_t number);
void buffer__printf(struct buffer *buffer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static inline void buffer__append_string(struct buffer *buffer, const char *string)
{
	buffer__append(buffer, string, strlen(string));
}

/* Inserts nr blanks before the byte at offset, which is at most size. */
void buffer__insert_blanks(struct buffer *buffer, size_t offset, size_t nr);

/*
 * Writes all to a descriptor: goes on after a signal and after a short write, and
 * waits for room where the descriptor does not block. 0 or -errno, not reported.
 */
int buffer__write(const struct buffer *buffer, int fd);

/* Frees the memory; the buffer is then empty and ready for use. */
void buffer__free(struct buffer *buffer);

#endif
