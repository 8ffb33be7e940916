// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Words that are not whole: marks for those that could not be read and for what is left out. */
#include "sink_output.h"

static const struct field fields[] = {
	{ .name = "args", .kind = VALUE_WORDS, .column = "ARGS", .width = -4 },
	{ .name = "time_ns", .kind = VALUE_UNSIGNED, .unit = UNIT_WALL_NS, .column = "TIME" },
};

static const struct record_type type = {
	.name = "exec",
	.meaning = "Words.",
	.fields = fields,
	.nr_fields = NR_OF(fields),
};

static const struct record_type *const rows[] = { &type, NULL };
static const char *const args_column[] = { "args", NULL };
static const char *const time_column[] = { "time_ns", NULL };

static void check(const char *name, enum face_kind face, struct value words, const char *expected)
{
	const struct value values[] = { words, absent };
	char *text = written(
		(struct sink_config){ .face = face, .rows = rows, .columns = args_column },
		&(struct record){ &type, values }, 1);

	test__same(name, text, expected);
	free(text);
}

int main(void)
{
	static const uint64_t unreadable[] = { 1, 3 };
	struct value some = value__words("a\0\0<unreadable>\0\0b\0", 19);
	struct value cut = value__words("a\0b", 3), none = value__words("", 0);
	const struct value morning[] = { absent, value__unsigned(3600000001000) };
	char *text;

	some.words.unreadable = unreadable;
	some.words.nr_unreadable = 2;
	check("text: an unreadable word is marked, a word like the mark is quoted", FACE_TEXT, some,
	      "ARGS\na <unreadable> '<unreadable>' <unreadable> b\n");
	check("json: an unreadable word is null", FACE_JSON, some,
	      "{\"type\":\"exec\",\"args\":[\"a\",null,\"<unreadable>\",null,\"b\"]}\n");
	cut.words.cut = 12;
	check("text: a cut is marked", FACE_TEXT, cut, "ARGS\na b …(+12 bytes)\n");
	check("json: a cut is another field's business", FACE_JSON, cut,
	      "{\"type\":\"exec\",\"args\":[\"a\",\"b\"]}\n");
	none.words.cut = WORDS_CUT_UNKNOWN;
	check("text: nothing is there, and it is not known how much was", FACE_TEXT, none,
	      "ARGS\n…(+? bytes)\n");

	setenv("TZ", "UTC-5", 1);
	text = written((struct sink_config){ .rows = rows, .columns = time_column, .utc = true },
		       &(struct record){ &type, morning }, 1);
	test__same("text: UTC, and the heading says so", text, "TIME(UTC)\n01:00:00.000001\n");
	free(text);
	return test__done();
}
