// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "options.h"

#include <stdarg.h>
#include <stdio.h>

#define FIELD(member) offsetof(struct execsnoop_options, member)

#define FLAG(long_name, short_name, option_group, member, text)                                    \
	{                                                                                          \
		.name = long_name, .letter = short_name, .group = option_group,                    \
		.type = OPTION_FLAG, .offset = FIELD(member), .help = text                         \
	}

#define VALUE(long_name, short_name, option_group, value_type, member, what, text)                 \
	{                                                                                          \
		.name = long_name, .letter = short_name, .group = option_group,                    \
		.type = value_type, .offset = FIELD(member), .argument = what, .help = text        \
	}

static const struct option_row rows[] = {
	FLAG("exits", 'e', OPTION_EVENTS, exits, "Also show how each process ends"),
	FLAG("fails", 'x', OPTION_EVENTS, fails, "Also show calls of exec that failed"),
	VALUE("name", 'n', OPTION_EVENTS, OPTION_REGEX, name, "REGEX",
	      "Only commands whose name matches this extended regular expression"),
	VALUE("line", 'l', OPTION_EVENTS, OPTION_REGEX, line, "REGEX",
	      "Only commands whose arguments, joined by blanks, match it"),
	{ .name = "max-args",
	  .group = OPTION_REPORT,
	  .type = OPTION_COUNT,
	  .offset = FIELD(max_args),
	  .argument = "N",
	  .min = 1,
	  .max = UINT64_MAX,
	  .help = "Show the first N arguments, the program's name among them" },
	{ .name = "max-bytes",
	  .group = OPTION_REPORT,
	  .type = OPTION_COUNT,
	  .offset = FIELD(max_bytes),
	  .argument = "N",
	  .min = 1,
	  .max = UINT64_MAX,
	  .help = "Show the first N bytes of arguments" },
	FLAG("print-uid", 'U', OPTION_SHOW, print_uid, "Show the user id"),
	FLAG("print-cpu", 'C', OPTION_SHOW, print_cpu, "Show the CPU of the event"),
	FLAG("print-pcomm", 'M', OPTION_SHOW, print_pcomm, "Show the parent's command name"),
	FLAG("quote", 'q', OPTION_SHOW, quote,
	     "Quote every argument, also where no shell needs it"),
	FLAG("utc", 0, OPTION_SHOW, common.utc, "Show the time of day of each event, in UTC"),
};

static const struct option_letter letters[] = {
	{ 'p', "pid" },	     { 'u', "uid" },  { 'P', "ppid" },	    { 'c', "cgroup" },
	{ 'd', "duration" }, { 'T', "time" }, { 't', "timestamp" }, {},
};

const struct tool_options execsnoop_tool_options = {
	.tool = "execsnoop",
	.summary = "Show every process that starts, with its whole command line.",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.letters = letters,
};

void execsnoop_options__columns(const struct execsnoop_options *options,
				const char *names[EXECSNOOP_COLUMNS_MAX])
{
	const struct {
		bool shown;
		const char *field;
	} columns[] = {
		{ options->common.time || options->common.utc, "time_ns" },
		{ options->common.timestamp, "since_start_ns" },
		{ options->print_cpu, "cpu" },
		{ options->print_uid, "uid" },
		{ options->exits, "type" },
		{ options->print_pcomm, "pcomm" },
		{ true, "comm" },
		{ true, "pid" },
		{ true, "ppid" },
		{ !options->exits, "result" },
		{ options->exits, "run" },
		{ options->exits, "status" },
		{ options->exits, "cpu_ns" },
		{ options->exits, "max_rss_bytes" },
		{ true, "args" },
	};
	size_t nr = 0;

	_Static_assert(sizeof(columns) / sizeof(columns[0]) < EXECSNOOP_COLUMNS_MAX, "room");
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (columns[i].shown)
			names[nr++] = columns[i].field;
	names[nr] = NULL;
}

/* Parts joined by ", "; what does not fit is cut. */
static size_t __attribute__((format(printf, 4, 5)))
add_limit(char *text, size_t size, size_t used, const char *format, ...)
{
	va_list args;

	if (used && used < size)
		used += snprintf(text + used, size - used, ", ");
	if (used >= size)
		return used;
	va_start(args, format);
	used += vsnprintf(text + used, size - used, format, args);
	va_end(args);
	return used;
}

void execsnoop_options__limits(const struct execsnoop_options *options, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	if (options->name.given)
		used = add_limit(text, size, used, "name like %s", options->name.text);
	if (options->line.given)
		used = add_limit(text, size, used, "arguments like %s", options->line.text);
}

static void optional_regex__free(struct optional_regex *option)
{
	if (option->given)
		regfree(&option->regex);
	option->given = false;
}

void execsnoop_options__free(struct execsnoop_options *options)
{
	optional_regex__free(&options->name);
	optional_regex__free(&options->line);
	common_options__free(&options->common);
}
