// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "json.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nesting than any tool writes; a bound on the parser's own recursion. */
#define DEPTH_MAX 200

struct chunk {
	struct chunk *next;
	size_t used;
	size_t size;
	_Alignas(16) char data[];
};

struct json {
	struct chunk *chunks;
	struct json_value root;
};

/* Items and members wait here, innermost list last, until their list ends and its length is
 * known: each is moved once. */
struct pile {
	struct json_member *items;
	size_t nr;
	size_t room;
};

struct parser {
	const char *text;
	size_t size;
	size_t at;
	unsigned int depth;
	struct json *json;
	struct pile pile;
	char *error;
	size_t error_size;
};

static bool parse_value(struct parser *parser, struct json_value *value);

static void *must(void *memory)
{
	if (!memory) {
		fputs("json: out of memory\n", stderr);
		abort();
	}
	return memory;
}

static void *keep(struct json *json, size_t size)
{
	struct chunk *chunk = json->chunks;
	void *memory;

	size = (size + 15) & ~(size_t)15;
	if (!chunk || chunk->size - chunk->used < size) {
		size_t room = size > 4096 ? size : 4096;

		chunk = must(malloc(sizeof(*chunk) + room));
		chunk->next = json->chunks;
		chunk->used = 0;
		chunk->size = room;
		json->chunks = chunk;
	}
	memory = chunk->data + chunk->used;
	chunk->used += size;
	return memory;
}

__attribute__((format(printf, 2, 3))) static bool refuse(struct parser *parser, const char *format,
							 ...)
{
	int used = snprintf(parser->error, parser->error_size, "byte %zu: ", parser->at);
	va_list args;

	if (used >= 0 && (size_t)used < parser->error_size) {
		va_start(args, format);
		vsnprintf(parser->error + used, parser->error_size - (size_t)used, format, args);
		va_end(args);
	}
	return false;
}

static int peek(const struct parser *parser)
{
	return parser->at < parser->size ? (unsigned char)parser->text[parser->at] : -1;
}

static void skip_space(struct parser *parser)
{
	int byte = peek(parser);

	while (byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r') {
		parser->at++;
		byte = peek(parser);
	}
}

static bool parse_word(struct parser *parser, const char *word)
{
	size_t length = strlen(word);

	if (parser->size - parser->at < length || memcmp(parser->text + parser->at, word, length))
		return refuse(parser, "no JSON value");
	parser->at += length;
	return true;
}

static bool is_digit(int byte)
{
	return byte >= '0' && byte <= '9';
}

static bool skip_digits(struct parser *parser)
{
	if (!is_digit(peek(parser)))
		return refuse(parser, "a digit is missing");
	while (is_digit(peek(parser)))
		parser->at++;
	return true;
}

static bool parse_number(struct parser *parser, struct json_value *value)
{
	size_t first;

	value->kind = JSON_NUMBER;
	value->number.negative = peek(parser) == '-';
	value->number.is_integer = true;
	value->number.magnitude = 0;
	if (value->number.negative)
		parser->at++;
	first = parser->at;
	if (!skip_digits(parser))
		return false;
	if (parser->text[first] == '0' && parser->at - first > 1)
		return refuse(parser, "a number with a leading zero");
	for (size_t i = first; i < parser->at; i++) {
		uint64_t digit = (uint64_t)(parser->text[i] - '0');

		if (__builtin_mul_overflow(value->number.magnitude, 10ull,
					   &value->number.magnitude) ||
		    __builtin_add_overflow(value->number.magnitude, digit,
					   &value->number.magnitude))
			value->number.is_integer = false;
	}
	if (peek(parser) == '.') {
		value->number.is_integer = false;
		parser->at++;
		if (!skip_digits(parser))
			return false;
	}
	if (peek(parser) == 'e' || peek(parser) == 'E') {
		value->number.is_integer = false;
		parser->at++;
		if (peek(parser) == '+' || peek(parser) == '-')
			parser->at++;
		if (!skip_digits(parser))
			return false;
	}
	return true;
}

/* Bytes of the UTF-8 character at data by the table of RFC 3629, section 4; 0 if there is none. */
static size_t utf8_size(const unsigned char *data, size_t size)
{
	unsigned char lead = data[0], low = 0x80, high = 0xbf;
	size_t length;

	if (lead < 0x80)
		return 1;
	if (lead >= 0xc2 && lead <= 0xdf)
		length = 2;
	else if (lead >= 0xe0 && lead <= 0xef)
		length = 3;
	else if (lead >= 0xf0 && lead <= 0xf4)
		length = 4;
	else
		return 0;
	if (lead == 0xe0)
		low = 0xa0;
	else if (lead == 0xed)
		high = 0x9f;
	else if (lead == 0xf0)
		low = 0x90;
	else if (lead == 0xf4)
		high = 0x8f;
	if (size < length || data[1] < low || data[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++)
		if ((data[i] & 0xc0) != 0x80)
			return 0;
	return length;
}

static bool parse_hex4(struct parser *parser, uint32_t *code)
{
	*code = 0;
	for (int i = 0; i < 4; i++, parser->at++) {
		int byte = peek(parser);

		if (is_digit(byte))
			byte -= '0';
		else if ((byte >= 'a' && byte <= 'f') || (byte >= 'A' && byte <= 'F'))
			byte = (byte | 0x20) - 'a' + 10;
		else
			return refuse(parser, "four hex digits are due after \\u");
		*code = *code << 4 | (uint32_t)byte;
	}
	return true;
}

static char *write_utf8(char *out, uint32_t code)
{
	if (code < 0x80) {
		*out++ = (char)code;
	} else if (code < 0x800) {
		*out++ = (char)(0xc0 | code >> 6);
		*out++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*out++ = (char)(0xe0 | code >> 12);
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	} else {
		*out++ = (char)(0xf0 | code >> 18);
		*out++ = (char)(0x80 | (code >> 12 & 0x3f));
		*out++ = (char)(0x80 | (code >> 6 & 0x3f));
		*out++ = (char)(0x80 | (code & 0x3f));
	}
	return out;
}

static bool parse_code(struct parser *parser, char **out)
{
	uint32_t code, low;

	if (!parse_hex4(parser, &code))
		return false;
	if (code >= 0xdc00 && code <= 0xdfff)
		return refuse(parser, "a low surrogate without a high one");
	if (code >= 0xd800 && code <= 0xdbff) {
		if (parser->size - parser->at < 2 || memcmp(parser->text + parser->at, "\\u", 2))
			return refuse(parser, "a high surrogate without a low one");
		parser->at += 2;
		if (!parse_hex4(parser, &low))
			return false;
		if (low < 0xdc00 || low > 0xdfff)
			return refuse(parser, "a high surrogate without a low one");
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	*out = write_utf8(*out, code);
	return true;
}

static bool parse_escape(struct parser *parser, char **out)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	int byte = peek(parser);
	const char *found;

	if (byte == 'u') {
		parser->at++;
		return parse_code(parser, out);
	}
	found = byte > 0 ? strchr(from, byte) : NULL;
	if (!found)
		return refuse(parser, "an escape JSON does not have");
	*(*out)++ = to[found - from];
	parser->at++;
	return true;
}

/* The most bytes the string at the parser's place can decode to: its length up to the quote that
 * ends it, or that is not there. */
static size_t string_bound(const struct parser *parser)
{
	size_t at = parser->at;

	while (at < parser->size && parser->text[at] != '"')
		at += parser->text[at] == '\\' ? 2 : 1;
	return (at < parser->size ? at : parser->size) - parser->at;
}

static bool parse_string(struct parser *parser, const char **data, size_t *size)
{
	char *start, *out;

	if (peek(parser) != '"')
		return refuse(parser, "a string is due");
	parser->at++;
	start = out = keep(parser->json, string_bound(parser) + 1);
	while (peek(parser) != '"') {
		int byte = peek(parser);
		size_t length;

		if (byte < 0)
			return refuse(parser, "the string does not end");
		if (byte < 0x20)
			return refuse(parser, "a bare control character (0x%02x)", byte);
		if (byte == '\\') {
			parser->at++;
			if (!parse_escape(parser, &out))
				return false;
			continue;
		}
		length = utf8_size((const unsigned char *)parser->text + parser->at,
				   parser->size - parser->at);
		if (!length)
			return refuse(parser, "invalid UTF-8 (0x%02x)", byte);
		memcpy(out, parser->text + parser->at, length);
		out += length;
		parser->at += length;
	}
	parser->at++;
	*out = '\0';
	*data = start;
	*size = (size_t)(out - start);
	return true;
}

static void pile__push(struct pile *pile, const struct json_member *item)
{
	if (pile->nr == pile->room) {
		pile->room = pile->room ? 2 * pile->room : 64;
		pile->items = must(realloc(pile->items, pile->room * sizeof(*pile->items)));
	}
	pile->items[pile->nr++] = *item;
}

static bool take_members(struct parser *parser, size_t base, struct json_value *value)
{
	size_t nr = parser->pile.nr - base;
	struct json_member *members = keep(parser->json, nr * sizeof(*members));

	if (nr)
		memcpy(members, parser->pile.items + base, nr * sizeof(*members));
	parser->pile.nr = base;
	qsort(members, nr, sizeof(*members), json_member__compare);
	for (size_t i = 1; i < nr; i++)
		if (!json_member__compare(&members[i - 1], &members[i]))
			return refuse(parser, "the object has \"%s\" twice", members[i].name);
	value->kind = JSON_OBJECT;
	value->object.members = members;
	value->object.nr = nr;
	return true;
}

static void take_items(struct parser *parser, size_t base, struct json_value *value)
{
	size_t nr = parser->pile.nr - base;
	struct json_value *items = keep(parser->json, nr * sizeof(*items));

	for (size_t i = 0; i < nr; i++)
		items[i] = parser->pile.items[base + i].value;
	parser->pile.nr = base;
	value->kind = JSON_ARRAY;
	value->array.items = items;
	value->array.nr = nr;
}

static bool parse_member(struct parser *parser, struct json_member *member)
{
	if (!parse_string(parser, &member->name, &member->name_size))
		return false;
	skip_space(parser);
	if (peek(parser) != ':')
		return refuse(parser, "a colon is due");
	parser->at++;
	return parse_value(parser, &member->value);
}

/* An array or an object, from its opening bracket on. */
static bool parse_list(struct parser *parser, struct json_value *value)
{
	bool is_object = peek(parser) == '{';
	int end = is_object ? '}' : ']';
	size_t base = parser->pile.nr;

	parser->at++;
	skip_space(parser);
	while (peek(parser) != end) {
		struct json_member member = { 0 };

		if (parser->pile.nr > base) {
			if (peek(parser) != ',')
				return refuse(parser, "a comma or '%c' is due", end);
			parser->at++;
			skip_space(parser);
		}
		if (is_object ? !parse_member(parser, &member) :
				!parse_value(parser, &member.value))
			return false;
		pile__push(&parser->pile, &member);
		skip_space(parser);
	}
	parser->at++;
	if (is_object)
		return take_members(parser, base, value);
	take_items(parser, base, value);
	return true;
}

static bool parse_value(struct parser *parser, struct json_value *value)
{
	bool parsed;

	skip_space(parser);
	switch (peek(parser)) {
	case '{':
	case '[':
		if (parser->depth == DEPTH_MAX)
			return refuse(parser, "nested deeper than %d", DEPTH_MAX);
		parser->depth++;
		parsed = parse_list(parser, value);
		parser->depth--;
		return parsed;
	case '"':
		value->kind = JSON_STRING;
		return parse_string(parser, &value->string.data, &value->string.size);
	case 't':
	case 'f':
		value->kind = JSON_BOOL;
		value->truth = peek(parser) == 't';
		return parse_word(parser, value->truth ? "true" : "false");
	case 'n':
		value->kind = JSON_NULL;
		return parse_word(parser, "null");
	default:
		if (peek(parser) != '-' && !is_digit(peek(parser)))
			return refuse(parser, "no JSON value");
		return parse_number(parser, value);
	}
}

struct json *json__parse(const char *text, size_t size, char *error, size_t error_size)
{
	struct json *json = must(calloc(1, sizeof(*json)));
	struct parser parser = {
		.text = text,
		.size = size,
		.json = json,
		.error = error,
		.error_size = error_size,
	};
	bool parsed = parse_value(&parser, &json->root);

	if (parsed) {
		skip_space(&parser);
		if (parser.at != size)
			parsed = refuse(&parser, "something follows the value");
	}
	free(parser.pile.items);
	if (parsed)
		return json;
	json__free(json);
	return NULL;
}

const struct json_value *json__root(const struct json *json)
{
	return &json->root;
}

void json__free(struct json *json)
{
	if (!json)
		return;
	while (json->chunks) {
		struct chunk *next = json->chunks->next;

		free(json->chunks);
		json->chunks = next;
	}
	free(json);
}
