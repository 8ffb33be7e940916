// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/escape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "test.h"

/* The rules as RFC 3629 and escape.h state them, decided on code points, not on bytes. */
static bool is_character(uint32_t code, size_t length)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	return code >= least[length] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
}

static size_t reference_length(const unsigned char *bytes, size_t size)
{
	size_t length = bytes[0] < 0x80		  ? 1 :
			(bytes[0] & 0xe0) == 0xc0 ? 2 :
			(bytes[0] & 0xf0) == 0xe0 ? 3 :
			(bytes[0] & 0xf8) == 0xf0 ? 4 :
						    0;
	uint32_t code = length == 1 ? bytes[0] : bytes[0] & (0x7f >> length);

	if (!length || size < length)
		return 0;
	for (size_t i = 1; i < length; i++) {
		if ((bytes[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (bytes[i] & 0x3f);
	}
	return is_character(code, length) ? length : 0;
}

static size_t encode(uint32_t code, char *out)
{
	if (code < 0x80) {
		out[0] = code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = 0xc0 | code >> 6;
		out[1] = 0x80 | (code & 0x3f);
		return 2;
	}
	if (code < 0x10000) {
		out[0] = 0xe0 | code >> 12;
		out[1] = 0x80 | (code >> 6 & 0x3f);
		out[2] = 0x80 | (code & 0x3f);
		return 3;
	}
	out[0] = 0xf0 | code >> 18;
	out[1] = 0x80 | (code >> 12 & 0x3f);
	out[2] = 0x80 | (code >> 6 & 0x3f);
	out[3] = 0x80 | (code & 0x3f);
	return 4;
}

static const struct {
	const char *name;
	const char *data;
	size_t size, length;
} borders[] = {
	{ "U+0000", "\0", 1, 1 },
	{ "U+007F", "\x7f", 1, 1 },
	{ "a continuation byte alone", "\x80", 1, 0 },
	{ "the last continuation byte alone", "\xbf", 1, 0 },
	{ "0xc0, overlong", "\xc0\x80", 2, 0 },
	{ "0xc1, overlong", "\xc1\xbf", 2, 0 },
	{ "U+0080", "\xc2\x80", 2, 2 },
	{ "U+07FF", "\xdf\xbf", 2, 2 },
	{ "a letter for a continuation", "\xc3x", 2, 0 },
	{ "three bytes, overlong", "\xe0\x9f\xbf", 3, 0 },
	{ "U+0800", "\xe0\xa0\x80", 3, 3 },
	{ "U+D7FF", "\xed\x9f\xbf", 3, 3 },
	{ "U+D800, a surrogate", "\xed\xa0\x80", 3, 0 },
	{ "U+DFFF, a surrogate", "\xed\xbf\xbf", 3, 0 },
	{ "U+E000", "\xee\x80\x80", 3, 3 },
	{ "U+FFFF", "\xef\xbf\xbf", 3, 3 },
	{ "a bad third byte", "\xe2\x82\x2c", 3, 0 },
	{ "four bytes, overlong", "\xf0\x8f\xbf\xbf", 4, 0 },
	{ "U+10000", "\xf0\x90\x80\x80", 4, 4 },
	{ "U+10FFFF", "\xf4\x8f\xbf\xbf", 4, 4 },
	{ "U+110000", "\xf4\x90\x80\x80", 4, 0 },
	{ "0xf5", "\xf5\x80\x80\x80", 4, 0 },
	{ "0xff", "\xff\xff\xff\xff", 4, 0 },
	{ "two bytes, cut", "\xc3", 1, 0 },
	{ "three bytes, cut", "\xe2\x82", 2, 0 },
	{ "three bytes, cut to one", "\xe2", 1, 0 },
	{ "four bytes, cut", "\xf0\x9f\x98", 3, 0 },
	{ "only the first character counts", "\xc3\xa4\xff", 3, 2 },
};

/* Each in memory of its own size, so that a byte too far is found. */
static void check_borders(void)
{
	for (size_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++) {
		char *data = malloc(borders[i].size);

		memcpy(data, borders[i].data, borders[i].size);
		test__equal(borders[i].name, utf8__length(data, borders[i].size),
			    borders[i].length);
		free(data);
	}
}

/* Every sequence of up to three bytes, and of four with the values at the borders of a range. */
static void check_all_sequences(void)
{
	static const unsigned char ends[] = { 0x00, 0x7f, 0x80, 0x8f, 0x90,
					      0x9f, 0xa0, 0xbf, 0xc0, 0xff };
	unsigned long nr = 0, wrong = 0;

	for (uint32_t i = 0; i < 1 << 24; i++) {
		unsigned char bytes[4] = { i >> 16, i >> 8, i };

		if (bytes[0] < 0xf0) {
			nr++;
			wrong += utf8__length((char *)bytes, 3) != reference_length(bytes, 3);
			continue;
		}
		if (bytes[1] & 0x0f && (bytes[1] & 0x0f) != 0x0f)
			continue;
		for (size_t j = 0; j < sizeof(ends); j++) {
			bytes[3] = ends[j];
			nr++;
			wrong += utf8__length((char *)bytes, 4) != reference_length(bytes, 4);
		}
	}
	test__check(!wrong && nr > 16000000, "every sequence has the length of the reference",
		    "%lu of %lu have not", wrong, nr);
}

static bool is_moving(uint32_t code)
{
	static const uint32_t ranges[][2] = { { 0, 0x1f },	  { 0x7f, 0x9f },
					      { 0x61c, 0x61c },	  { 0x200e, 0x200f },
					      { 0x2028, 0x202e }, { 0x2066, 0x2069 } };

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (code >= ranges[i][0] && code <= ranges[i][1])
			return true;
	return false;
}

static void check_all_characters(void)
{
	uint32_t wrong_plain = 0, wrong_text = 0, wrong_json = 0, nr = 0;

	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		char data[4], text[16], json[26], expected[17];
		size_t size = encode(code, data), text_size, json_size, expected_size = 0;
		bool plain = !is_moving(code) && code != '\\';

		if (code >= 0xd800 && code <= 0xdfff)
			continue;
		nr++;
		for (size_t i = 0; i < size && !plain; i++)
			expected_size += sprintf(expected + expected_size, "\\x%02x",
						 (unsigned char)data[i]);
		if (plain)
			memcpy(expected, data, expected_size = size);
		wrong_plain += escape__is_plain(data, size) != plain;
		text_size = escape__text(text, data, size);
		wrong_text += text_size != expected_size || memcmp(text, expected, text_size);
		json_size = escape__json(json, data, size);
		/* No such character is left to a terminal; others are left alone. */
		wrong_json += escape__is_plain(json, json_size) != (plain && code != '"');
	}
	test__equal("all characters were tried", nr, 0x110000 - 0x800);
	test__equal("escape__is_plain() for every character", wrong_plain, 0);
	test__equal("escape__text() for every character", wrong_text, 0);
	test__equal("escape__json() leaves every plain character alone, and no other", wrong_json,
		    0);
}

static const char *text_of(const char *data, size_t size)
{
	static char out[256];

	out[escape__text(out, data, size)] = '\0';
	return out;
}

static const char *json_of(const char *data, size_t size)
{
	static char out[256];

	out[escape__json(out, data, size)] = '\0';
	return out;
}

#define BYTES(literal) (literal), sizeof(literal) - 1

static void check_examples(void)
{
	uint32_t wrong = 0;

	for (unsigned int i = 0; i < 256; i++) {
		char byte = i, expected[5];

		snprintf(expected, sizeof(expected),
			 i < 0x20 || i == '\\' || i >= 0x7f ? "\\x%02x" : "%c", i);
		wrong += strcmp(text_of(&byte, 1), expected) != 0;
	}
	test__equal("escape__text() for every byte", wrong, 0);
	test__same("text: a colour and a new line", text_of(BYTES("a\x1b[31mb\n")),
		   "a\\x1b[31mb\\x0a");
	test__same("text: a cut character", text_of(BYTES("\xc3\xa4\xe2\x82")), "ä\\xe2\\x82");
	test__same("text: what looks like an escape", text_of(BYTES("\\x41")), "\\x5cx41");
	test__same("text: nothing", text_of(NULL, 0), "");
	test__same("JSON: short forms", json_of(BYTES("\"\\/\b\f\n\r\t")),
		   "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
	test__same("JSON: controls", json_of(BYTES("\0\x1f\x7f\xc2\x9b")),
		   "\"\\u0000\\u001f\\u007f\\u009b\"");
	test__same("JSON: an override", json_of(BYTES("\xe2\x80\xae")), "\"\\u202e\"");
	test__same("JSON: invalid bytes", json_of(BYTES("\xff\xc0\xaf")),
		   "\"\\\\xff\\\\xc0\\\\xaf\"");
	test__same("JSON: what looks like an escape", json_of(BYTES("\\x4a")), "\"\\\\x5cx4a\"");
	test__same("JSON: what does not", json_of(BYTES("\\x4A\\x4")), "\"\\\\x4A\\\\x4\"");
	test__same("JSON: nothing", json_of(NULL, 0), "\"\"");
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Replaces each \xHH by its byte; in place. Returns the new size. */
static size_t decode(char *data, size_t size)
{
	size_t from = 0, to = 0;

	while (from < size) {
		if (size - from >= 4 && data[from] == '\\' && data[from + 1] == 'x' &&
		    hex_value(data[from + 2]) >= 0 && hex_value(data[from + 3]) >= 0) {
			data[to++] = hex_value(data[from + 2]) << 4 | hex_value(data[from + 3]);
			from += 4;
		} else {
			data[to++] = data[from++];
		}
	}
	return to;
}

/* Bytes among which escapes, quotes and broken characters are frequent. */
static void fill(char *data, size_t size)
{
	static const char frequent[] =
		"\\\\\\xxx0123456789abcdefABCDEF\"'\n\x1b\xc2\x9b\xe2\x80\xae";

	for (size_t i = 0; i < size; i++)
		data[i] = random() % 4 ? frequent[random() % (sizeof(frequent) - 1)] : random();
}

static bool text_comes_back(const char *data, size_t size)
{
	char *out = malloc(4 * size + 1);
	size_t out_size = escape__text(out, data, size);
	bool same = escape__is_plain(data, size) == (out_size == size);

	for (size_t i = 0; i < out_size; i++)
		same = same && (unsigned char)out[i] >= 0x20 && out[i] != 0x7f;
	out_size = decode(out, out_size);
	same = same && out_size == size && !memcmp(out, data, size);
	free(out);
	return same;
}

static bool json_comes_back(const char *data, size_t size)
{
	char *out = malloc(6 * size + 2), error[100], *copy;
	struct json *json = json__parse(out, escape__json(out, data, size), error, sizeof(error));
	const struct json_value *root = json ? json__root(json) : NULL;
	bool same = false;

	if (root && root->kind == JSON_STRING) {
		copy = malloc(root->string.size + 1);
		memcpy(copy, root->string.data, root->string.size);
		same = decode(copy, root->string.size) == size && !memcmp(copy, data, size);
		free(copy);
	}
	json__free(json);
	free(out);
	return same;
}

static void check_random(void)
{
	uint32_t wrong_text = 0, wrong_json = 0;

	srandom(20240229);
	for (unsigned int i = 0; i < 30000; i++) {
		size_t size = random() % 48;
		char *data = malloc(size + !size);

		fill(data, size);
		wrong_text += !text_comes_back(data, size);
		wrong_json += !json_comes_back(data, size);
		free(data);
	}
	test__equal("text gives random bytes back", wrong_text, 0);
	test__equal("JSON gives random bytes back", wrong_json, 0);
}

int main(void)
{
	check_borders();
	check_all_sequences();
	check_all_characters();
	check_examples();
	check_random();
	return test__done();
}
