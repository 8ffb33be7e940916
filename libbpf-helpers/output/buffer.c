// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/buffer.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define FIRST_CAPACITY 256

static bool buffer__grow(struct buffer *buffer, size_t needed)
{
	size_t capacity = buffer->capacity ? buffer->capacity : FIRST_CAPACITY;
	char *data;

	/* Doubling: a record of any size is copied less than twice on its way here. */
	while (capacity < needed) {
		if (__builtin_mul_overflow(capacity, 2, &capacity))
			return false;
	}
	data = realloc(buffer->data, capacity);
	if (!data)
		return false;
	buffer->data = data;
	buffer->capacity = capacity;
	return true;
}

char *buffer__reserve(struct buffer *buffer, size_t size)
{
	size_t needed;

	if (buffer->err)
		return NULL;
	if (__builtin_add_overflow(buffer->size, size, &needed) ||
	    ((needed > buffer->capacity || !buffer->data) && !buffer__grow(buffer, needed))) {
		buffer->err = -ENOMEM;
		return NULL;
	}
	return buffer->data + buffer->size;
}

void buffer__append(struct buffer *buffer, const void *data, size_t size)
{
	char *out = buffer__reserve(buffer, size);

	if (!out || !size)
		return;
	memcpy(out, data, size);
	buffer->size += size;
}

void buffer__append_char(struct buffer *buffer, char c)
{
	char *out = buffer__reserve(buffer, 1);

	if (!out)
		return;
	*out = c;
	buffer->size++;
}

void buffer__append_unsigned(struct buffer *buffer, uint64_t number)
{
	char digits[20]; /* of 2^64 - 1 */
	char *first = digits + sizeof(digits);

	do {
		*--first = '0' + number % 10;
		number /= 10;
	} while (number);
	buffer__append(buffer, first, digits + sizeof(digits) - first);
}

void buffer__append_signed(struct buffer *buffer, int64_t number)
{
	if (number < 0)
		buffer__append_char(buffer, '-');
	/* Negated as unsigned: -INT64_MIN is no int64_t. */
	buffer__append_unsigned(buffer, number < 0 ? -(uint64_t)number : (uint64_t)number);
}

void buffer__append_millionths(struct buffer *buffer, uint64_t millionths)
{
	uint64_t fraction = millionths % 1000000;

	buffer__append_unsigned(buffer, millionths / 1000000);
	if (fraction)
		buffer__append_char(buffer, '.');
	for (uint64_t digit = 100000; fraction; digit /= 10) {
		buffer__append_char(buffer, (char)('0' + fraction / digit));
		fraction %= digit;
	}
}

void buffer__printf(struct buffer *buffer, const char *format, ...)
{
	va_list args;
	char *out;
	int size;

	va_start(args, format);
	size = vsnprintf(NULL, 0, format, args);
	va_end(args);
	if (size < 0) {
		buffer->err = -errno;
		return;
	}

	out = buffer__reserve(buffer, (size_t)size + 1);
	if (!out)
		return;
	va_start(args, format);
	vsnprintf(out, (size_t)size + 1, format, args);
	va_end(args);
	buffer->size += size;
}

void buffer__insert_blanks(struct buffer *buffer, size_t offset, size_t nr)
{
	if (!buffer__reserve(buffer, nr))
		return;
	memmove(buffer->data + offset + nr, buffer->data + offset, buffer->size - offset);
	memset(buffer->data + offset, ' ', nr);
	buffer->size += nr;
}

int buffer__write(const struct buffer *buffer, int fd)
{
	size_t done = 0;
	ssize_t written;

	while (done < buffer->size) {
		written = write(fd, buffer->data + done, buffer->size - done);
		if (written > 0) {
			done += written;
		} else if (!written) {
			return -EIO; /* no progress and no reason: not tried for ever */
		} else if (errno == EAGAIN) {
			/* Another process that shares the descriptor made it non-blocking. */
			struct pollfd room = { .fd = fd, .events = POLLOUT };

			if (poll(&room, 1, -1) < 0 && errno != EINTR)
				return -errno;
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

void buffer__free(struct buffer *buffer)
{
	free(buffer->data);
	*buffer = (struct buffer){ 0 };
}
