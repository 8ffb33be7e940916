// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/escape.h"

#include <stdint.h>
#include <string.h>

/* Printable ASCII without the backslash. */
static const bool is_plain_ascii[256] = {
	[0x20 ... 0x5b] = true,
	[0x5d ... 0x7e] = true,
};

/* No shell gives these a meaning inside a word: letters, digits, %+,-./:=@_ */
static const bool is_safe_in_shell[256] = {
	['%'] = true,	      ['+' ... ':'] = true, ['='] = true,
	['@' ... 'Z'] = true, ['_'] = true,	    ['a' ... 'z'] = true,
};

/* RFC 3629, section 4: the first byte decides the length, and four of them narrow the range of
 * the second byte, which shuts out overlong forms, surrogates and what lies beyond U+10FFFF. */
size_t utf8__length(const char *data, size_t size)
{
	const unsigned char *bytes = (const unsigned char *)data;
	unsigned char lowest = 0x80, highest = 0xbf;
	size_t length, i;

	if (bytes[0] < 0x80)
		return 1;
	if (bytes[0] < 0xc2 || bytes[0] > 0xf4)
		return 0;
	length = bytes[0] < 0xe0 ? 2 : bytes[0] < 0xf0 ? 3 : 4;
	if (size < length)
		return 0;

	if (bytes[0] == 0xe0)
		lowest = 0xa0;
	else if (bytes[0] == 0xed)
		highest = 0x9f;
	else if (bytes[0] == 0xf0)
		lowest = 0x90;
	else if (bytes[0] == 0xf4)
		highest = 0x8f;
	if (bytes[1] < lowest || bytes[1] > highest)
		return 0;
	for (i = 2; i < length; i++)
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

/* length is what utf8__length() said. */
static uint32_t utf8__decode(const char *data, size_t length)
{
	static const unsigned char first_bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t character = (unsigned char)data[0] & first_bits[length];
	size_t i;

	for (i = 1; i < length; i++)
		character = character << 6 | ((unsigned char)data[i] & 0x3f);
	return character;
}

/* Controls, line separators, direction marks and overrides. */
static bool moves_text(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character <= 0x9f) ||
	       character == 0x061c || character == 0x200e || character == 0x200f ||
	       (character >= 0x2028 && character <= 0x202e) ||
	       (character >= 0x2066 && character <= 0x2069);
}

/* How many bytes at the start of data may reach a terminal as they are; stop is an ASCII
 * character that ends them too. */
static size_t plain_length(const char *data, size_t size, char stop)
{
	size_t length, i = 0;

	while (i < size) {
		if (is_plain_ascii[(unsigned char)data[i]] && data[i] != stop) {
			i++;
			continue;
		}
		if (!(data[i] & 0x80))
			break;
		length = utf8__length(data + i, size - i);
		if (!length || moves_text(utf8__decode(data + i, length)))
			break;
		i += length;
	}
	return i;
}

bool escape__is_plain(const char *data, size_t size)
{
	return plain_length(data, size, '\\') == size;
}

static char *put_hex(char *out, uint32_t number, int digits)
{
	while (digits--)
		*out++ = "0123456789abcdef"[number >> (4 * digits) & 0xf];
	return out;
}

static char *put_byte(char *out, char byte)
{
	*out++ = '\\';
	*out++ = 'x';
	return put_hex(out, (unsigned char)byte, 2);
}

static char *put_plain(char *out, const char *data, size_t size)
{
	if (size)
		memcpy(out, data, size);
	return out + size;
}

/* Writes what is not plain: one character, or one invalid byte; *used is how many bytes of data it
 * was. */
typedef char *(*put_fn)(char *out, const char *data, size_t size, size_t *used);

/* stop: the ASCII character that is not plain here; the end of what was written. */
static char *put_all(char *out, const char *data, size_t size, char stop, put_fn put)
{
	size_t length;

	while (size) {
		length = plain_length(data, size, stop);
		out = put_plain(out, data, length);
		data += length;
		size -= length;
		if (size) {
			out = put(out, data, size, &length);
			data += length;
			size -= length;
		}
	}
	return out;
}

static char *put_text(char *out, const char *data, size_t size, size_t *used)
{
	(void)size;
	*used = 1;
	return put_byte(out, *data);
}

size_t escape__text(char *out, const char *data, size_t size)
{
	return put_all(out, data, size, '\\', put_text) - out;
}

static bool is_lower_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* What JSON writes with a backslash and one letter; 0 for other characters. */
static char json_letter(char c)
{
	switch (c) {
	case '"':
	case '\\':
		return c;
	case '\b':
		return 'b';
	case '\f':
		return 'f';
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\t':
		return 't';
	default:
		return 0;
	}
}

/* A character that moves text is written as JSON's \uXXXX: all of them are below U+10000. */
static char *put_json(char *out, const char *data, size_t size, size_t *used)
{
	size_t length = utf8__length(data, size);
	bool looks_escaped = size >= 4 && *data == '\\' && data[1] == 'x' &&
			     is_lower_hex(data[2]) && is_lower_hex(data[3]);

	*used = length ? length : 1;
	*out++ = '\\';
	if (!length || looks_escaped)
		return put_byte(out, *data);
	if (length == 1 && json_letter(*data)) {
		*out++ = json_letter(*data);
		return out;
	}
	*out++ = 'u';
	return put_hex(out, utf8__decode(data, length), 4);
}

size_t escape__json(char *out, const char *data, size_t size)
{
	const char *start = out;

	*out++ = '"';
	out = put_all(out, data, size, '"', put_json);
	*out++ = '"';
	return out - start;
}

static bool is_bare_word(const char *data, size_t size)
{
	size_t i;

	/* zsh expands =NAME to a path; %NAME as a command is a job. */
	if (!size || *data == '=' || *data == '%')
		return false;
	for (i = 0; i < size; i++)
		if (!is_safe_in_shell[(unsigned char)data[i]])
			return false;
	return true;
}

static bool is_hex(char c)
{
	return is_lower_hex(c) || (c >= 'A' && c <= 'F');
}

/* How many digits follow \x is left open by POSIX (2024, XCU 2.2.4), and ksh93 takes all there
 * are: so a digit after an escape stands in a new $'...'. */
static char *put_dollar_quoted(char *out, const char *data, size_t size)
{
	bool after_escape = false;
	size_t length;

	out = put_plain(out, "$'", 2);
	while (size) {
		length = plain_length(data, size, '\'');
		if (length && after_escape && is_hex(*data))
			out = put_plain(out, "'$'", 3);
		out = put_plain(out, data, length);
		data += length;
		size -= length;
		if (size) {
			out = put_byte(out, *data++);
			size--;
			after_escape = true;
		}
	}
	*out++ = '\'';
	return out;
}

size_t escape__shell(char *out, const char *data, size_t size, bool always_quote)
{
	const char *start = out;

	if (!always_quote && is_bare_word(data, size))
		return put_plain(out, data, size) - start;
	if (plain_length(data, size, '\'') < size)
		return put_dollar_quoted(out, data, size) - start;
	*out++ = '\'';
	out = put_plain(out, data, size);
	*out++ = '\'';
	return out - start;
}
