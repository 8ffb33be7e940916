// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test.h"

static void *must(void *memory)
{
	if (!memory)
		test__fatal("memory", "out of memory");
	return memory;
}

/* The next line as a document of its own; NULL at the end. */
static struct json *parse_line(struct record_reader *reader)
{
	const char *line = reader->data + reader->at, *end;
	struct json *json;
	char error[256];

	if (reader->at >= reader->size)
		return NULL;
	reader->nr_lines++;
	end = memchr(line, '\n', reader->size - reader->at);
	if (!end)
		test__fatal("every line ends", "line %zu does not", reader->nr_lines);
	json = json__parse(line, (size_t)(end - line), error, sizeof(error));
	if (!json)
		test__fatal("every line is JSON", "line %zu: %s: %.200s", reader->nr_lines, error,
			    line);
	if (!json__string(json__get(json__root(json), "type")))
		test__fatal("every line has a type", "line %zu: %.200s", reader->nr_lines, line);
	reader->at = (size_t)(end - reader->data) + 1;
	return json;
}

const struct json_value *record_reader__next(struct record_reader *reader)
{
	json__free(reader->current);
	reader->current = parse_line(reader);
	return reader->current ? json__root(reader->current) : NULL;
}

void records__load(struct records *records, const struct tool_run *run)
{
	struct record_reader reader = { .data = run->out, .size = run->out_size };
	struct json *json;
	size_t room = 0;

	*records = (struct records){ 0 };
	while ((json = parse_line(&reader))) {
		if (records->nr == room) {
			room = room ? 2 * room : 64;
			records->items = must(
				realloc(records->items, room * sizeof(*records->items)));
		}
		records->items[records->nr++] = json;
	}
}

void records__free(struct records *records)
{
	for (size_t i = 0; i < records->nr; i++)
		json__free(records->items[i]);
	free(records->items);
	*records = (struct records){ 0 };
}

const struct json_value *records__at(const struct records *records, size_t index)
{
	return json__root(records->items[index]);
}

const struct json_value *records__next(const struct records *records, const char *type, pid_t pid,
				       size_t *index)
{
	while (*index < records->nr) {
		const struct json_value *record = records__at(records, (*index)++);

		if (json__is(json__get(record, "type"), type) &&
		    (!pid || record__number(record, "pid") == pid))
			return record;
	}
	return NULL;
}

const struct json_value *records__only(const struct records *records, const char *type, pid_t pid,
				       const char *check)
{
	const struct json_value *first, *other;
	size_t index = 0;

	first = records__next(records, type, pid, &index);
	other = records__next(records, type, pid, &index);
	if (first && !other)
		return first;
	test__check(false, check, "expected one %s record of pid %d, saw %s", type, pid,
		    first ? "several" : "none");
	return NULL;
}

size_t records__count(const struct records *records, const char *type, const char *comm)
{
	size_t nr = 0;

	for (size_t i = 0; i < records->nr; i++) {
		const struct json_value *record = records__at(records, i);

		nr += (!type || json__is(json__get(record, "type"), type)) &&
		      (!comm || json__is(json__get(record, "comm"), comm));
	}
	return nr;
}

int64_t record__number(const struct json_value *record, const char *name)
{
	int64_t number;

	return json__i64(json__get(record, name), &number) ? number : -1;
}

static int hex_digit(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	if (digit >= 'a' && digit <= 'f')
		return digit - 'a' + 10;
	return -1;
}

size_t unescape(char *data, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; i < size;) {
		if (size - i >= 4 && data[i] == '\\' && data[i + 1] == 'x' &&
		    hex_digit(data[i + 2]) >= 0 && hex_digit(data[i + 3]) >= 0) {
			data[used++] = (char)(hex_digit(data[i + 2]) << 4 | hex_digit(data[i + 3]));
			i += 4;
		} else {
			data[used++] = data[i++];
		}
	}
	return used;
}

char *string__bytes(const struct json_value *string, size_t *size)
{
	char *data;

	if (!string || string->kind != JSON_STRING)
		return NULL;
	data = must(malloc(string->string.size + 1));
	memcpy(data, string->string.data, string->string.size);
	*size = unescape(data, string->string.size);
	data[*size] = '\0';
	return data;
}

char *array__words(const struct json_value *array, size_t *size)
{
	size_t room = 1;
	char *words;

	if (!array || array->kind != JSON_ARRAY)
		return NULL;
	for (size_t i = 0; i < array->array.nr; i++) {
		if (array->array.items[i].kind != JSON_STRING)
			return NULL;
		room += array->array.items[i].string.size + 1;
	}
	words = must(malloc(room));
	*size = 0;
	for (size_t i = 0; i < array->array.nr; i++) {
		const struct json_value *word = &array->array.items[i];

		memcpy(words + *size, word->string.data, word->string.size);
		*size += unescape(words + *size, word->string.size);
		words[(*size)++] = '\0';
	}
	return words;
}

void check_args(const struct json_value *record, const char *const *argv, const char *check)
{
	size_t expected_size = 0, seen_size = 0, nr = 0;
	const struct json_value *args = json__get(record, "args");
	char *expected, *seen = array__words(args, &seen_size);

	for (; argv[nr]; nr++)
		expected_size += strlen(argv[nr]) + 1;
	expected = must(malloc(expected_size + 1));
	expected_size = 0;
	for (size_t i = 0; i < nr; i++) {
		size_t size = strlen(argv[i]) + 1;

		memcpy(expected + expected_size, argv[i], size);
		expected_size += size;
	}
	if (!seen)
		test__check(false, check, "there is no array of strings");
	else if (args->array.nr != nr)
		test__check(false, check, "expected %zu arguments, saw %zu", nr, args->array.nr);
	else if (record__number(record, "args_cut"))
		test__check(false, check, "args_cut is %" PRId64 ", not 0",
			    record__number(record, "args_cut"));
	else
		test__same_bytes(check, seen, seen_size, expected, expected_size);
	free(expected);
	free(seen);
}
