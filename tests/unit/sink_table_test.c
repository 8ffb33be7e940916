// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows of text and of CSV. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "sink_output.h"

static const struct field item_fields[] = {
	{ .name = "p", .kind = VALUE_UNSIGNED },
};

static const struct record_type item_type = {
	.name = "item",
	.fields = item_fields,
	.nr_fields = NR_OF(item_fields),
};

static const struct field exec_fields[] = {
	{ .name = "time_ns",
	  .kind = VALUE_UNSIGNED,
	  .unit = UNIT_WALL_NS,
	  .column = "TIME",
	  .width = -15 },
	{ .name = "comm", .kind = VALUE_BYTES, .column = "COMM", .width = -6 },
	{ .name = "pid", .kind = VALUE_UNSIGNED, .column = "PID", .width = 5 },
	{ .name = "ret", .kind = VALUE_SIGNED, .column = "RESULT", .width = 2 },
	{ .name = "args", .kind = VALUE_WORDS, .column = "ARGS", .width = -4 },
	{ .name = "shown", .kind = VALUE_BYTES, .column = "SHOWN", .width = -5, .text_only = true },
	{ .name = "hidden", .kind = VALUE_UNSIGNED },
};

static const struct record_type exec_type = {
	.name = "exec",
	.fields = exec_fields,
	.nr_fields = NR_OF(exec_fields),
};

static const struct field exit_fields[] = {
	{ .name = "comm", .kind = VALUE_BYTES, .column = "NOT-THIS", .width = 20 },
	{ .name = "run_ns",
	  .kind = VALUE_UNSIGNED,
	  .unit = UNIT_SECONDS,
	  .column = "RUN(s)",
	  .width = 8 },
	{ .name = "cpu_ns",
	  .kind = VALUE_SIGNED,
	  .unit = UNIT_MILLISECONDS,
	  .column = "CPU(ms)",
	  .width = 8 },
	{ .name = "rss_bytes",
	  .kind = VALUE_UNSIGNED,
	  .unit = UNIT_KIBIBYTES,
	  .column = "KiB",
	  .width = 3 },
	{ .name = "execed", .kind = VALUE_BOOL, .column = "EXECED", .width = -6 },
	{ .name = "lost", .kind = VALUE_COUNTS, .column = "LOST", .width = -4 },
	{ .name = "items", .kind = VALUE_RECORDS, .of = &item_type },
	{ .name = "numbers", .kind = VALUE_NUMBERS },
};

static const struct record_type exit_type = {
	.name = "exit",
	.fields = exit_fields,
	.nr_fields = NR_OF(exit_fields),
};

static const struct record_type other_type = { .name = "other" };

static const struct record_type *const rows[] = { &exec_type, &exit_type, NULL };

/* The text of the records with these columns. */
static char *text_of(const char *const *columns, const struct record *records, size_t nr)
{
	const struct sink_config config = { .face = FACE_TEXT, .rows = rows, .columns = columns };

	return written(config, records, nr);
}

static void check_alignment(void)
{
	static const char *const columns[] = { "type", "comm", "pid", "ret", "args", NULL };
	const struct value values[][NR_OF(exec_fields)] = {
		{ absent, value__string("ls"), value__unsigned(7), value__signed(-2),
		  value__words("ls\0a b\0", 7) },
		{ absent, value__string("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"),
		  value__unsigned(123456), value__signed(0), value__words("x\0", 2) },
		{ absent, value__string("longer than it"), value__unsigned(1), value__signed(1),
		  value__words("", 0) },
		{ absent, value__string("a\n\x1b"), absent, absent, absent },
		{ absent, value__string(""), value__unsigned(1), value__signed(1), absent },
	};
	const struct value exit_values[NR_OF(exit_fields)] = { value__string("sh") };
	const struct record records[] = {
		{ &exec_type, values[0] },   { &exec_type, values[1] }, { &exec_type, values[2] },
		{ &other_type, NULL },	     { &exec_type, values[3] }, { &exec_type, values[4] },
		{ &exit_type, exit_values },
	};
	char *text = text_of(columns, records, NR_OF(records));

	test__same("columns are aligned by the columns of their characters", text,
		   "EVENT COMM     PID RESULT ARGS\n"
		   "exec  ls         7     -2 ls 'a b'\n"
		   "exec  ä€😀   123456      0 x\n"
		   "exec  longer than it     1      1\n"
		   "exec  a\\x0a\\x1b     -      - -\n"
		   "exec             1      1 -\n"
		   "exit  sh         -      - -\n");
	free(text);
	text = text_of(columns, NULL, 0);
	test__same("the heading comes without a row too", text, "EVENT COMM     PID RESULT ARGS\n");
	free(text);
}

static void check_last_column_right(void)
{
	static const char *const columns[] = { "comm", "shown", "pid", NULL };
	const struct value values[NR_OF(exec_fields)] = { absent, value__string("a "),
							  value__unsigned(1) };
	const struct record record = { &exec_type, values };
	char *text = text_of(columns, &record, 1);

	test__same("a column to the right at the end", text,
		   "COMM   SHOWN   PID\n"
		   "a      -         1\n");
	free(text);
}

static void check_units(void)
{
	static const char *const columns[] = { "time_ns", "run_ns", "cpu_ns", "rss_bytes",
					       "execed",  "lost",   NULL };
	static const struct named_count counts[] = { { "ring_full", 1, true }, { "b", 0, false } };
	const struct value times[][NR_OF(exec_fields)] = {
		{ value__unsigned(86399999999999ULL) },
		{ value__unsigned(0) },
		{ value__unsigned(1000) },
		{ value__unsigned(UINT64_MAX) },
	};
	const struct value ends[][NR_OF(exit_fields)] = {
		{ absent, value__unsigned(1500000), value__signed(-1500), value__unsigned(1024),
		  value__bool(true), value__counts(counts, 2) },
		{ absent, value__unsigned(1999999999), value__signed(499), value__unsigned(1025),
		  value__bool(false) },
		{ absent, value__unsigned(UINT64_MAX), value__signed(INT64_MIN),
		  value__unsigned(UINT64_MAX) },
		{ absent, value__unsigned(0), value__signed(500), value__unsigned(0) },
	};
	const struct record records[] = {
		{ &exec_type, times[0] }, { &exec_type, times[1] }, { &exec_type, times[2] },
		{ &exec_type, times[3] }, { &exit_type, ends[0] },  { &exit_type, ends[1] },
		{ &exit_type, ends[2] },  { &exit_type, ends[3] },
	};
	char *text;

	/* East of Greenwich by five and a half hours. */
	setenv("TZ", "TEST-5:30", 1);
	tzset();
	text = text_of(columns, records, NR_OF(records));
	test__same("numbers in their units", text,
		   "TIME              RUN(s)  CPU(ms) KiB EXECED LOST\n"
		   "05:29:59.999999        -        -   - -      -\n"
		   "05:30:00.000000        -        -   - -      -\n"
		   "05:30:00.000001        -        -   - -      -\n"
		   "05:04:33.709551        -        -   - -      -\n"
		   "-                  0.002   -0.002   1 true   {\"ring_full\":1,\"b\":null}\n"
		   "-                  2.000    0.000   2 false  -\n"
		   "-               18446744073.710 -9223372036854.776 18014398509481984 -      -\n"
		   "-                  0.000    0.001   0 -      -\n");
	free(text);
}

static void check_shell_line(void)
{
	static const char *const columns[] = { "args", NULL };
	struct sink_config config = { .face = FACE_TEXT, .rows = rows, .columns = columns };
	const struct value lines[][NR_OF(exec_fields)] = {
		{ absent, absent, absent, absent, value__words("dd\0if=/dev/zero\0", 16) },
		{ absent, absent, absent, absent, value__words("A=b\0A=b\0", 8) },
		{ absent, absent, absent, absent, value__words("time\0time\0", 10) },
		{ absent, absent, absent, absent, value__words("[\0-f\0it's\0]\0", 12) },
		{ absent, absent, absent, absent, value__words("\0\0", 2) },
		{ absent, absent, absent, absent, value__words("no\0end", 6) },
	};
	const struct record records[] = {
		{ &exec_type, lines[0] }, { &exec_type, lines[1] }, { &exec_type, lines[2] },
		{ &exec_type, lines[3] }, { &exec_type, lines[4] }, { &exec_type, lines[5] },
	};
	char *text = written(config, records, NR_OF(records));

	test__same("words are a shell line", text,
		   "ARGS\n"
		   "dd if=/dev/zero\n"
		   "'A=b' A=b\n"
		   "'time' time\n"
		   "'[' -f $'it\\x27s' ']'\n"
		   "'' ''\n"
		   "no end\n");
	free(text);
	config.quote_words = true;
	text = written(config, records, 1);
	test__same("every word quoted", text, "ARGS\n'dd' 'if=/dev/zero'\n");
	free(text);
}

static void check_nothing_cut(void)
{
	enum { SIZE = 3000000 };
	static const char *const columns[] = { "pid", "args", NULL };
	char *words = malloc(SIZE), *text;
	struct value values[NR_OF(exec_fields)] = { 0 };
	const struct record record = { &exec_type, values };

	memset(words, 'w', SIZE);
	values[4] = value__words(words, SIZE);
	text = text_of(columns, &record, 1);
	test__equal("a file has the whole line", strlen(text),
		    strlen("  PID ARGS\n    - \n") + SIZE);
	free(text);
	free(words);
}

static void check_csv(void)
{
	static const struct named_count counts[] = { { "ring_full", 1, true } };
	static const uint64_t numbers[] = { 1, 2 };
	static const struct value item[] = { { .kind = VALUE_UNSIGNED, .number = 9 } };
	static const struct record items[] = { { &item_type, item } };
	const struct sink_config config = { .face = FACE_CSV, .rows = rows };
	const struct value exec[][NR_OF(exec_fields)] = {
		{ value__unsigned(UINT64_MAX), value__string("a,\"b\"\n"), value__unsigned(1),
		  value__signed(-2), value__words("ls\0a, \"b\"\0", 10), value__string("not this"),
		  value__unsigned(3) },
		{ absent, value__string("=1+1,2"), absent, absent, value__words("", 0) },
	};
	const struct value end[NR_OF(exit_fields)] = {
		value__string("\""),	  value__unsigned(5),
		value__signed(-5),	  value__unsigned(6),
		value__bool(true),	  value__counts(counts, 1),
		value__records(items, 1), { .kind = VALUE_NUMBERS, .numbers = { numbers, 2 } },
	};
	const struct value empty[NR_OF(exit_fields)] = {
		[5] = value__counts(NULL, 0),
		[6] = value__records(NULL, 0),
		[7] = { .kind = VALUE_NUMBERS, .numbers = { numbers, 1 } },
	};
	const struct record records[] = {
		{ &exec_type, exec[0] }, { &other_type, NULL }, { &exec_type, exec[1] },
		{ &exit_type, end },	 { &exit_type, empty },
	};
	char *text = written(config, records, NR_OF(records));

	test__same(
		"CSV", text,
		"type,time_ns,comm,pid,ret,args,hidden,run_ns,cpu_ns,rss_bytes,execed,lost,"
		"items,numbers\n"
		"exec,18446744073709551615,\"a,\"\"b\"\"\\x0a\",1,-2,\"ls 'a, \"\"b\"\"'\",3,,,,,"
		",,\n"
		"exec,,\"=1+1,2\",,,,,,,,,,,\n"
		"exit,,\"\"\"\",,,,,5,-5,6,true,\"{\"\"ring_full\"\":1}\","
		"\"[{\"\"p\"\":9}]\",\"[1,2]\"\n"
		"exit,,,,,,,,,,,\"{}\",\"[]\",\"[1]\"\n");
	free(text);
	text = written(config, NULL, 0);
	test__check(!strncmp(text, "type,time_ns,", 13) && strchr(text, '\n')[1] == '\0',
		    "the heading of CSV comes without a row too", "it is \"%s\"", text);
	free(text);
}

static void check_bad_columns(void)
{
	static const char *const unknown[] = { "nosuch", NULL };
	static const char *const no_column[] = { "hidden", NULL };
	struct sink_config config = {
		.face = FACE_TEXT, .rows = rows, .columns = unknown, .path = scratch__path("kept")
	};
	struct sink *sink;
	char *text;

	scratch__write("kept", "old\n", 4, 0644);
	nr_errors = 0;
	test__equal("a column that no row has", -sink__open(&sink, &config), ENOENT);
	test__equal("is reported", nr_errors, 1);
	config.columns = no_column;
	test__equal("a field that is no column", -sink__open(&sink, &config), EINVAL);
	test__equal("is reported too", nr_errors, 2);
	text = file__read(config.path, NULL);
	test__same("and the file is left as it was", text, "old\n");
	free(text);
}

int main(void)
{
	log__set_writer(keep_error);
	check_alignment();
	check_last_column_right();
	check_units();
	check_shell_line();
	check_nothing_cut();
	check_csv();
	check_bad_columns();
	return test__done();
}
