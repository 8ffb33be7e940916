// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "json.h"
#include "output/json.h"
#include "schema.h"
#include "sink_output.h"

static const struct field frame_fields[] = {
	{ .name = "symbol", .kind = VALUE_BYTES, .meaning = "Name.", .required = true },
	{ .name = "offset", .kind = VALUE_UNSIGNED, .meaning = "Bytes into it." },
	{ .name = "shown", .kind = VALUE_BYTES, .meaning = "For text.", .text_only = true },
};

static const struct record_type frame_type = {
	.name = "frame",
	.meaning = "One frame.",
	.fields = frame_fields,
	.nr_fields = NR_OF(frame_fields),
};

static const struct field full_fields[] = {
	{ .name = "time_ns", .kind = VALUE_UNSIGNED, .meaning = "When.", .required = true },
	{ .name = "ret", .kind = VALUE_SIGNED, .meaning = "Result." },
	{ .name = "execed", .kind = VALUE_BOOL, .meaning = "Whether." },
	{ .name = "comm", .kind = VALUE_BYTES, .meaning = "A \"name\"\n." },
	{ .name = "args", .kind = VALUE_WORDS, .meaning = "Words." },
	{ .name = "unreadable", .kind = VALUE_NUMBERS, .meaning = "Indices." },
	{ .name = "lost", .kind = VALUE_COUNTS, .meaning = "By cause." },
	{ .name = "stack", .kind = VALUE_RECORDS, .meaning = "Frames.", .of = &frame_type },
	{ .name = "by_name",
	  .kind = VALUE_RECORDS,
	  .meaning = "Frames by name.",
	  .of = &frame_type,
	  .named = true },
	{ .name = "row",
	  .kind = VALUE_BYTES,
	  .meaning = "For text.",
	  .text_only = true,
	  .required = true },
};

static const struct record_type full_type = {
	.name = "full",
	.meaning = "Every kind of value.",
	.fields = full_fields,
	.nr_fields = NR_OF(full_fields),
};

static const struct field note_fields[] = {
	{ .name = "comm", .kind = VALUE_BYTES, .meaning = "Any bytes." },
};

static const struct record_type note_type = {
	.name = "note",
	.meaning = "A record that is no row.",
	.fields = note_fields,
	.nr_fields = NR_OF(note_fields),
};

static const struct record_type *const types[] = { &full_type, &note_type, NULL };
static const struct record_type *const rows[] = { &full_type, NULL };
static const struct sink_config config = { .face = FACE_JSON, .rows = rows };

static const struct value frame_values[][3] = {
	{ { .kind = VALUE_BYTES, .bytes = { "a\"b", 3 } },
	  { .kind = VALUE_UNSIGNED, .number = 16 },
	  { .kind = VALUE_BYTES, .bytes = { "x", 1 } } },
	{ { .kind = VALUE_BYTES, .bytes = { "c", 1 } },
	  { .kind = VALUE_ABSENT },
	  { .kind = VALUE_ABSENT } },
};

static const struct record frames[] = {
	{ &frame_type, frame_values[0] },
	{ &frame_type, frame_values[1] },
};

static const uint64_t numbers[] = { 0, UINT64_MAX };
static const struct named_count counts[] = { { "ring_full", 7, true }, { "a\tb", 9, false } };

static void check_lines(void)
{
	const struct value full[] = {
		value__unsigned(UINT64_MAX),
		value__signed(INT64_MIN),
		value__bool(true),
		value__bytes("q\"\n\xff\0", 5),
		value__words("ls\0\0a b\0", 8),
		{ .kind = VALUE_NUMBERS, .numbers = { numbers, 2 } },
		value__counts(counts, 2),
		value__records(frames, 2),
		value__records(frames, 2),
		value__string("not shown"),
	};
	const struct value empty[] = {
		value__unsigned(0),	 value__signed(-1),
		value__bool(false),	 value__bytes(NULL, 0),
		value__words(NULL, 0),	 { .kind = VALUE_NUMBERS },
		value__counts(NULL, 0),	 value__records(NULL, 0),
		value__records(NULL, 0), absent,
	};
	const struct value nothing[NR_OF(full_fields)] = { 0 };
	const struct value note[] = { absent };
	const struct record records[] = {
		{ &full_type, full },
		{ &full_type, empty },
		{ &full_type, nothing },
		{ &note_type, note },
	};
	char *text = written(config, records, NR_OF(records));

	test__same("every kind of value, full, empty and absent", text,
		   "{\"type\":\"full\",\"time_ns\":18446744073709551615,"
		   "\"ret\":-9223372036854775808,\"execed\":true,"
		   "\"comm\":\"q\\\"\\n\\\\xff\\u0000\",\"args\":[\"ls\",\"\",\"a b\"],"
		   "\"unreadable\":[0,18446744073709551615],"
		   "\"lost\":{\"ring_full\":7,\"a\\tb\":null},"
		   "\"stack\":[{\"symbol\":\"a\\\"b\",\"offset\":16},{\"symbol\":\"c\"}],"
		   "\"by_name\":{\"a\\\"b\":{\"offset\":16},\"c\":{}}}\n"
		   "{\"type\":\"full\",\"time_ns\":0,\"ret\":-1,\"execed\":false,\"comm\":\"\","
		   "\"args\":[],\"unreadable\":[],\"lost\":{},\"stack\":[],\"by_name\":{}}\n"
		   "{\"type\":\"full\"}\n"
		   "{\"type\":\"note\"}\n");
	free(text);
	text = written(config, NULL, 0);
	test__same("without records there is nothing", text, "");
	free(text);
}

static struct json *parse(const char *text)
{
	char error[200];
	struct json *json = json__parse(text, strlen(text), error, sizeof(error));

	if (!json)
		test__check(false, "it is JSON", "%s", error);
	return json;
}

/* What a record of one field gives when it is read back; json is to be freed. */
static const struct json_value *read_back(int field, struct value value, struct json **json)
{
	struct value values[NR_OF(full_fields)] = { 0 };
	const struct record record = { &full_type, values };
	char *text;

	values[field] = value;
	text = written(config, &record, 1);
	test__check(strchr(text, '\n') == text + strlen(text) - 1, "it is one line",
		    "the first line ends at %td", strchr(text, '\n') - text);
	*json = parse(text);
	free(text);
	return *json ? json__get(json__root(*json), full_fields[field].name) : NULL;
}

static void check_many_words(void)
{
	enum { NR = 300000 };
	char *words = malloc(NR * 8);
	const struct json_value *args;
	uint32_t wrong = 0;
	size_t size = 0;
	struct json *json;
	char word[12];

	for (int i = 0; i < NR; i++)
		size += sprintf(words + size, "%d", i) + 1;
	/* The last one may have lost its end. */
	args = read_back(4, value__words(words, size - 1), &json);
	if (test__check(args && args->kind == JSON_ARRAY && args->array.nr == NR,
			"300,000 words are 300,000 strings", "there are %zu",
			args ? args->array.nr : 0)) {
		for (int i = 0; i < NR; i++) {
			snprintf(word, sizeof(word), "%d", i);
			wrong += !json__is(&args->array.items[i], word);
		}
		test__equal("each is whole", wrong, 0);
	}
	json__free(json);
	free(words);
}

static void check_large_word(void)
{
	enum { SIZE = 6000000 };
	const struct json_value *comm;
	char *word = malloc(SIZE), *expected = malloc(4 * SIZE);
	size_t expected_size = 0;
	struct json *json;

	for (int i = 0; i < SIZE; i++) {
		word[i] = "a\x1b\n\"\xff"[i % 5];
		if (i % 5 < 4)
			expected[expected_size++] = word[i];
		else
			expected_size += sprintf(expected + expected_size, "\\xff");
	}
	comm = read_back(3, value__bytes(word, SIZE), &json);
	test__check(comm && comm->kind == JSON_STRING && comm->string.size == expected_size &&
			    !memcmp(comm->string.data, expected, expected_size),
		    "6 MB of hostile bytes come back whole", "%zu bytes, expected %zu",
		    comm ? comm->string.size : 0, expected_size);
	json__free(json);
	free(word);
	free(expected);
}

/* The schema as text, to be freed. */
static char *print_schema(void)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	test__equal("the schema is printed", sink__print_schema(out, "tool", types), 0);
	fclose(out);
	return text;
}

static void check_schema_accepts(const struct json_value *schema)
{
	static const struct {
		const char *name, *line;
		bool valid;
	} lines[] = {
		{ "only what is required", "{\"type\":\"full\",\"time_ns\":1}", true },
		{ "every field",
		  "{\"type\":\"full\",\"time_ns\":18446744073709551615,\"ret\":-1,"
		  "\"execed\":true,\"comm\":\"\",\"args\":[\"\"],\"unreadable\":[1],"
		  "\"lost\":{\"a\":1,\"b\":null},\"stack\":[{\"symbol\":\"s\",\"offset\":1}],"
		  "\"by_name\":{\"s\":{\"offset\":1}}}",
		  true },
		{ "zero", "{\"type\":\"full\",\"time_ns\":0,\"unreadable\":[0],\"lost\":{\"a\":0}}",
		  true },
		{ "another type", "{\"type\":\"note\"}", true },
		{ "no required field", "{\"type\":\"full\"}", false },
		{ "no type", "{\"time_ns\":1}", false },
		{ "an unknown type", "{\"type\":\"frame\",\"time_ns\":1}", false },
		{ "an unknown field", "{\"type\":\"full\",\"time_ns\":1,\"x\":1}", false },
		{ "a field for text", "{\"type\":\"full\",\"time_ns\":1,\"row\":\"\"}", false },
		{ "a negative time", "{\"type\":\"full\",\"time_ns\":-1}", false },
		{ "a time with a fraction", "{\"type\":\"full\",\"time_ns\":1.5}", false },
		{ "a number for a boolean", "{\"type\":\"full\",\"time_ns\":1,\"execed\":1}",
		  false },
		{ "a number for a word", "{\"type\":\"full\",\"time_ns\":1,\"args\":[1]}", false },
		{ "a negative index", "{\"type\":\"full\",\"time_ns\":1,\"unreadable\":[-1]}",
		  false },
		{ "a string for a count", "{\"type\":\"full\",\"time_ns\":1,\"lost\":{\"a\":\"\"}}",
		  false },
		{ "an item without what is required",
		  "{\"type\":\"full\",\"time_ns\":1,\"stack\":[{}]}", false },
		{ "a type in an item",
		  "{\"type\":\"full\",\"time_ns\":1,\"stack\":[{\"symbol\":\"\",\"type\":\"\"}]}",
		  false },
		{ "a key inside its item",
		  "{\"type\":\"full\",\"time_ns\":1,\"by_name\":{\"s\":{\"symbol\":\"s\"}}}",
		  false },
	};
	char why[200] = "";

	for (size_t i = 0; i < NR_OF(lines); i++) {
		struct json *line = parse(lines[i].line);
		bool valid = schema__accepts(schema, json__root(line), why, sizeof(why));

		test__check(valid == lines[i].valid, lines[i].name, "the schema %s: %s",
			    valid ? "accepts it" : "refuses it", why);
		json__free(line);
	}
}

static void check_schema(void)
{
	char *text = print_schema(), why[200] = "";
	struct json *json = parse(text);
	const struct json_value *schema = json__root(json), *field, *full;
	FILE *full_disk = fopen("/dev/full", "w");

	test__check(json__is(json__get(schema, "$schema"),
			     "https://json-schema.org/draft/2020-12/schema"),
		    "the schema names its draft", "it does not");
	test__check(schema__is_known(schema, why, sizeof(why)), "the schema is a schema", "%s",
		    why);
	full = json__get(schema, "oneOf");
	field = full ? json__get(json__get(&full->array.items[0], "properties"), "comm") : NULL;
	test__check(json__is(json__get(field, "description"), full_fields[3].meaning),
		    "a field's meaning is its description", "it is not");
	check_schema_accepts(schema);
	json__free(json);
	free(text);

	nr_errors = 0;
	test__equal("a schema to a full disk fails", -sink__print_schema(full_disk, "tool", types),
		    ENOSPC);
	test__equal("and is reported", nr_errors, 1);
	fclose(full_disk);
}

static int packets[2];

/* What json__log_writer() wrote for a message, as a string; one write is one packet. */
static const char *logged(const struct log_message *message)
{
	static char text[1000];
	int saved = dup(STDERR_FILENO);
	ssize_t size;

	dup2(packets[1], STDERR_FILENO);
	json__log_writer(message);
	dup2(saved, STDERR_FILENO);
	close(saved);
	size = recv(packets[0], text, sizeof(text) - 1, MSG_DONTWAIT);
	text[size < 0 ? 0 : size] = '\0';
	if (recv(packets[0], text, 1, MSG_DONTWAIT) >= 0)
		return "(more than one write)";
	return text;
}

static void check_log(void)
{
	struct log_message message = {
		.level = LOG_ERROR,
		.program = "tool",
		.message = "cannot open 'a\n\x1b[31m\xff\"'",
		.cause = "No \\x41",
		.hint = "Look\telsewhere.",
	};

	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, packets)) {
		test__check(false, "messages are JSON", "no socket: %m");
		return;
	}
	test__same("an error with hostile bytes is one JSON line", logged(&message),
		   "{\"type\":\"error\",\"message\":\"cannot open 'a\\n\\u001b[31m\\\\xff\\\"'\","
		   "\"cause\":\"No \\\\x5cx41\",\"hint\":\"Look\\telsewhere.\"}\n");
	message = (struct log_message){ .level = LOG_WARNING, .program = "t", .message = "m" };
	test__same("what is not known is left out", logged(&message),
		   "{\"type\":\"warning\",\"message\":\"m\"}\n");
	message.level = LOG_INFO;
	test__same("information", logged(&message), "{\"type\":\"info\",\"message\":\"m\"}\n");
	message.level = LOG_DEBUG;
	test__same("details", logged(&message), "{\"type\":\"info\",\"message\":\"m\"}\n");
	close(packets[0]);
	close(packets[1]);
}

int main(void)
{
	log__set_writer(keep_error);
	check_lines();
	check_many_words();
	check_large_word();
	check_schema();
	check_log();
	return test__done();
}
