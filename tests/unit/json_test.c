// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The reader and the schema validator that judge every tool's JSON are judged here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/json.h"
#include "support/schema.h"
#include "support/test.h"

struct text {
	const char *name;
	const char *text;
	size_t size;
};

#define TEXT(name, text)                                                                           \
	{                                                                                          \
		name, text, sizeof(text "") - 1,                                                   \
	}

static const struct text valid[] = {
	TEXT("null", "null"),
	TEXT("true with space around", " \t\r\n true \n"),
	TEXT("zero", "0"),
	TEXT("minus zero", "-0"),
	TEXT("a fraction with an exponent", "-12.50e+07"),
	TEXT("the empty string", "\"\""),
	TEXT("every short escape", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
	TEXT("0x7f and C1 as they are", "\"\x7f\xc2\x85\""),
	TEXT("the last code point", "\"\xf4\x8f\xbf\xbf\""),
	TEXT("a surrogate pair", "\"\\ud83d\\ude00\""),
	TEXT("empty lists", "[{},[]]"),
	TEXT("nested lists", "{\"a\":[1,{\"b\":null}],\"c\":false}"),
};

static const struct text invalid[] = {
	TEXT("nothing", ""),
	TEXT("space alone", " "),
	TEXT("trailing data", "{} {}"),
	TEXT("a trailing NUL", "1\0"),
	TEXT("a capital literal", "True"),
	TEXT("half a literal", "nul"),
	TEXT("a leading zero", "01"),
	TEXT("a leading plus", "+1"),
	TEXT("a bare minus", "-"),
	TEXT("a fraction without digits", "1."),
	TEXT("an exponent without digits", "1e"),
	TEXT("hexadecimal", "0x10"),
	TEXT("NaN", "NaN"),
	TEXT("an open string", "\"abc"),
	TEXT("a string that ends in a backslash", "\"abc\\"),
	TEXT("a bare newline in a string", "\"a\nb\""),
	TEXT("a bare escape byte in a string", "\"\x1b[31m\""),
	TEXT("a bare NUL in a string", "\"a\0b\""),
	TEXT("the escape \\x", "\"\\x41\""),
	TEXT("a short \\u", "\"\\u12\""),
	TEXT("a high surrogate alone", "\"\\ud800\""),
	TEXT("a high surrogate before a letter", "\"\\ud800\\u0041\""),
	TEXT("a low surrogate alone", "\"\\udc00\""),
	TEXT("a lone continuation byte", "\"\x80\""),
	TEXT("0xff", "\"\xff\""),
	TEXT("an overlong slash", "\"\xc0\xaf\""),
	TEXT("an overlong three-byte form", "\"\xe0\x80\xaf\""),
	TEXT("an overlong four-byte form", "\"\xf0\x80\x80\xaf\""),
	TEXT("an encoded surrogate", "\"\xed\xa0\x80\""),
	TEXT("beyond U+10FFFF", "\"\xf4\x90\x80\x80\""),
	TEXT("a character cut by the end of the string", "\"\xe2\x82\""),
	TEXT("a character cut by the end of the text", "\"\xe2\x82"),
	TEXT("an open array", "[1"),
	TEXT("a trailing comma in an array", "[1,]"),
	TEXT("two commas", "[1,,2]"),
	TEXT("no comma", "[1 2]"),
	TEXT("a trailing comma in an object", "{\"a\":1,}"),
	TEXT("a name that is no string", "{a:1}"),
	TEXT("no colon", "{\"a\" 1}"),
	TEXT("brackets that do not match", "[1}"),
	TEXT("a member twice", "{\"a\":1,\"b\":2,\"a\":3}"),
	TEXT("a member twice, once as an escape", "{\"a\":1,\"\\u0061\":2}"),
	TEXT("a comment", "/**/1"),
};

static struct json *parse(const char *text, size_t size)
{
	char error[256];
	struct json *json = json__parse(text, size, error, sizeof(error));

	if (!json)
		test__fatal("json: parses", "%s", error);
	return json;
}

static void test_grammar(void)
{
	char name[128], error[256];

	for (size_t i = 0; i < sizeof(valid) / sizeof(*valid); i++) {
		struct json *json = json__parse(valid[i].text, valid[i].size, error, sizeof(error));

		snprintf(name, sizeof(name), "json: %s is accepted", valid[i].name);
		test__check(json, name, "%s", error);
		json__free(json);
	}
	for (size_t i = 0; i < sizeof(invalid) / sizeof(*invalid); i++) {
		/* In a block of its own size, so that a read past the end is seen. */
		char *copy = malloc(invalid[i].size ? invalid[i].size : 1);
		struct json *json;

		if (!copy)
			test__fatal("json: memory", "malloc failed");
		memcpy(copy, invalid[i].text, invalid[i].size);
		json = json__parse(copy, invalid[i].size, error, sizeof(error));
		snprintf(name, sizeof(name), "json: %s is refused", invalid[i].name);
		test__check(!json, name, "it was accepted");
		json__free(json);
		free(copy);
	}
}

static void test_depth(void)
{
	char error[256], *deep = malloc(1000000);
	struct json *json;

	if (!deep)
		test__fatal("json: memory", "malloc failed");
	memset(deep, '[', 1000000);
	json = json__parse(deep, 1000000, error, sizeof(error));
	test__check(!json, "json: a million open brackets are refused", "they were accepted");
	json__free(json);
	free(deep);
}

static void check_number(const char *word, bool is_u64, uint64_t u64, bool is_i64, int64_t i64)
{
	struct json *json = parse(word, strlen(word));
	uint64_t as_u64 = 0;
	int64_t as_i64 = 0;
	char name[128];
	bool right;

	right = json__u64(json__root(json), &as_u64) == is_u64 && (!is_u64 || as_u64 == u64);
	snprintf(name, sizeof(name), "json: %s as an unsigned integer", word);
	test__check(right, name, "saw %" PRIu64, as_u64);
	right = json__i64(json__root(json), &as_i64) == is_i64 && (!is_i64 || as_i64 == i64);
	snprintf(name, sizeof(name), "json: %s as a signed integer", word);
	test__check(right, name, "saw %" PRId64, as_i64);
	json__free(json);
}

static void test_numbers(void)
{
	check_number("0", true, 0, true, 0);
	check_number("-0", true, 0, true, 0);
	check_number("-1", false, 0, true, -1);
	check_number("9007199254740993", true, 9007199254740993, true, 9007199254740993);
	check_number("9223372036854775808", true, 9223372036854775808u, false, 0);
	check_number("-9223372036854775808", false, 0, true, INT64_MIN);
	check_number("-9223372036854775809", false, 0, false, 0);
	check_number("18446744073709551615", true, UINT64_MAX, false, 0);
	check_number("18446744073709551616", false, 0, false, 0);
	check_number("1.0", false, 0, false, 0);
	check_number("1e3", false, 0, false, 0);
}

static void test_values(void)
{
	static const char text[] = "{\"b\":\"\\u0000x\",\"a\":\"\\u20ac\\ud83d\\ude00\\u00e9\","
				   "\"\":[null,true,\"\"],\"c\":{\"d\":7}}";
	struct json *json = parse(text, sizeof(text) - 1);
	const struct json_value *root = json__root(json), *list = json__get(root, "");
	const struct json_value *with_nul = json__get(root, "b");
	uint64_t number = 0;

	test__same("json: \\u escapes become UTF-8", json__string(json__get(root, "a")),
		   "\xe2\x82\xac\xf0\x9f\x98\x80\xc3\xa9");
	test__check(!json__string(with_nul), "json: a string with NUL is no C string",
		    "it was given out");
	test__same_bytes("json: a string keeps its NUL", with_nul->string.data,
			 with_nul->string.size, "\0x", 2);
	test__check(list && list->kind == JSON_ARRAY && list->array.nr == 3 &&
			    list->array.items[0].kind == JSON_NULL && list->array.items[1].truth,
		    "json: items in their order", "they are not");
	test__check(json__u64(json__get(json__get(root, "c"), "d"), &number) && number == 7,
		    "json: a member of a member", "saw %" PRIu64, number);
	test__check(!json__get(root, "e") && !json__get(json__get(root, "e"), "f") &&
			    !json__get(list, "a"),
		    "json: what is not there is NULL", "it is not");
	test__check(json__is(&list->array.items[2], "") && !json__is(NULL, "") &&
			    !json__is(&list->array.items[0], "null"),
		    "json: a string is compared as a string", "it is not");
	json__free(json);
}

static void test_big_string(void)
{
	const size_t size = 6u << 20;
	char *text = malloc(size + 2);
	const struct json_value *root;
	struct json *json;

	if (!text)
		test__fatal("json: memory", "malloc failed");
	memset(text, 'x', size + 2);
	for (size_t i = 1; i + 1 < size; i += 1000)
		memcpy(text + i, "\\n", 2);
	text[0] = text[size + 1] = '"';
	json = parse(text, size + 2);
	root = json__root(json);
	test__equal("json: a string of 6 MB", root->string.size, size - (size - 3) / 1000 - 1);
	json__free(json);
	free(text);
}

static void test_long_array(void)
{
	const size_t nr = 300000;
	char *text = malloc(nr * 8 + 2);
	const struct json_value *root;
	struct json *json;
	size_t used = 1, nr_right = 0;

	if (!text)
		test__fatal("json: memory", "malloc failed");
	text[0] = '[';
	for (size_t i = 0; i < nr; i++)
		used += (size_t)sprintf(text + used, "%s%zu", i ? "," : "", i);
	text[used++] = ']';
	json = parse(text, used);
	root = json__root(json);
	for (size_t i = 0; i < root->array.nr; i++) {
		uint64_t number;

		nr_right += json__u64(&root->array.items[i], &number) && number == i;
	}
	test__equal("json: an array of 300,000 items", nr_right, nr);
	json__free(json);
	free(text);
}

static const char schema_text[] =
	"{\"$schema\":\"s\",\"title\":\"t\",\"oneOf\":["
	"{\"type\":\"object\",\"description\":\"d\",\"required\":[\"type\",\"n\"],"
	"\"additionalProperties\":false,\"properties\":{\"type\":{\"const\":\"a\"},"
	"\"n\":{\"type\":\"integer\",\"minimum\":0,\"maximum\":10},"
	"\"f\":{\"type\":\"number\",\"minimum\":0},"
	"\"s\":{\"type\":[\"string\",\"null\"]},"
	"\"l\":{\"type\":\"array\",\"items\":{\"type\":\"boolean\"}},"
	"\"m\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"integer\"}}}},"
	"{\"type\":\"object\",\"required\":[\"type\"],"
	"\"properties\":{\"type\":{\"const\":\"b\"}}}]}";

static void check_schema(const char *name, const char *value, bool expected)
{
	struct json *schema = parse(schema_text, sizeof(schema_text) - 1);
	struct json *json = parse(value, strlen(value));
	char full[128], why[512] = "";

	snprintf(full, sizeof(full), "schema: %s", name);
	test__check(schema__accepts(json__root(schema), json__root(json), why, sizeof(why)) ==
			    expected,
		    full, "expected to be %s: %s", expected ? "valid" : "invalid", why);
	json__free(json);
	json__free(schema);
}

static void check_keyword(const char *name, const char *text, bool expected)
{
	struct json *schema = parse(text, strlen(text));
	char full[128], why[512] = "";

	snprintf(full, sizeof(full), "schema: %s", name);
	test__check(schema__is_known(json__root(schema), why, sizeof(why)) == expected, full,
		    "expected to be %s: %s", expected ? "known" : "unknown", why);
	json__free(schema);
}

static void test_schema(void)
{
	check_keyword("its keywords are known", schema_text, true);
	check_keyword("an unknown keyword is told", "{\"pattern\":\"x\"}", false);
	check_keyword("an unknown keyword deep inside is told",
		      "{\"oneOf\":[{\"properties\":{\"a\":{\"items\":{\"not\":{}}}}}]}", false);
	check_schema("a fraction above the least", "{\"type\":\"a\",\"n\":1,\"f\":99.9}", true);
	check_schema("a fraction below it", "{\"type\":\"a\",\"n\":1,\"f\":-0.5}", false);
	check_schema("all members", "{\"type\":\"a\",\"n\":10,\"s\":null,\"l\":[true],\"m\":{}}",
		     true);
	check_schema("the second branch", "{\"type\":\"b\",\"other\":1}", true);
	check_schema("no branch of that type", "{\"type\":\"c\"}", false);
	check_schema("a required member is missing", "{\"type\":\"a\"}", false);
	check_schema("a member that is not listed", "{\"type\":\"a\",\"n\":1,\"x\":1}", false);
	check_schema("below the minimum", "{\"type\":\"a\",\"n\":-1}", false);
	check_schema("above the maximum", "{\"type\":\"a\",\"n\":11}", false);
	check_schema("a fraction for an integer", "{\"type\":\"a\",\"n\":1.5}", false);
	check_schema("a string for an integer", "{\"type\":\"a\",\"n\":\"1\"}", false);
	check_schema("none of two types", "{\"type\":\"a\",\"n\":1,\"s\":1}", false);
	check_schema("an item of another type", "{\"type\":\"a\",\"n\":1,\"l\":[true,0]}", false);
	check_schema("any member of another type", "{\"type\":\"a\",\"n\":1,\"m\":{\"k\":[]}}",
		     false);
	check_schema("no object at all", "[]", false);
}

int main(void)
{
	test_grammar();
	test_depth();
	test_numbers();
	test_values();
	test_big_string();
	test_long_array();
	test_schema();
	return test__done();
}
