/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A strict reader of JSON (RFC 8259) that judges what the tools write: it refuses
 * invalid UTF-8, bare control characters, lone surrogates, members with the same
 * name, and anything after the value. It takes time in proportion to the text. It
 * does not write JSON.
 */
#ifndef VANTAGE_TESTS_JSON_H
#define VANTAGE_TESTS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json_member;

struct json_value {
	enum json_kind kind;
	union {
		bool truth;
		struct {
			uint64_t magnitude; /* exact, when is_integer */
			bool negative;
			bool is_integer; /* without fraction or exponent, and at most 64 bits */
		} number;
		struct {
			const char *data; /* without escapes; a NUL follows */
			size_t size;
		} string;
		struct {
			const struct json_value *items;
			size_t nr;
		} array;
		struct {
			const struct json_member *members; /* in the order of their names */
			size_t nr;
		} object;
	};
};

struct json_member {
	const char *name; /* a NUL follows; may also hold one */
	size_t name_size;
	struct json_value value;
};

struct json;

/* The one value of text, or NULL and why not in error ("byte 12: ..."). The text need not stay.
 * Ends the process when out of memory. */
struct json *json__parse(const char *text, size_t size, char *error, size_t error_size);

const struct json_value *json__root(const struct json *json);

/* json may be NULL. Every value of it is gone then. */
void json__free(struct json *json);

/* The member of an object; NULL when there is none, or value is no object or NULL. */
const struct json_value *json__get(const struct json_value *value, const char *name);

/* Whether value is such an integer (value may be NULL), and the integer. */
bool json__u64(const struct json_value *value, uint64_t *number);
bool json__i64(const struct json_value *value, int64_t *number);

/* The string, or NULL when value is none, is NULL, or holds a NUL. */
const char *json__string(const struct json_value *value);

/* Whether value is the string text; value may be NULL. */
bool json__is(const struct json_value *value, const char *text);

/* The order of an object's members, for qsort() and bsearch(). */
int json_member__compare(const void *left, const void *right);

#endif
