// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "execsnoop.h"
#include "run/log.h"
#include "run/number.h"
#include "run/option_rows.h"
#include "summary.h"

#define FIELD(member) offsetof(struct execsnoop_options, member)

#define VALUE(long_name, short_name, option_group, value_type, member, what, text)                 \
	{                                                                                          \
		.name = long_name, .letter = short_name, .group = option_group,                    \
		.type = value_type, .offset = FIELD(member), .argument = what, .help = text        \
	}

static const struct option_row rows[] = {
	OPTION_ROW_FLAG("exits", 'e', OPTION_EVENTS, FIELD(exits),
			"Also show how each process ends"),
	OPTION_ROW_FLAG("fails", 'x', OPTION_EVENTS, FIELD(fails),
			"Also show calls of exec that failed"),
	OPTION_ROW_FLAG("forks", 0, OPTION_EVENTS, FIELD(forks),
			"Also show the end of processes that were forked and never exec'ed"),
	VALUE("min-duration", 0, OPTION_EVENTS, OPTION_DURATION, min_duration, "TIME",
	      "Only commands that ran at least so long; each is shown at its end"),
	VALUE("max-duration", 0, OPTION_EVENTS, OPTION_DURATION, max_duration, "TIME",
	      "Only commands that ran at most so long; each is shown at its end"),
	VALUE("name", 'n', OPTION_EVENTS, OPTION_REGEX, name, "REGEX",
	      "Only commands whose name matches this extended regular expression"),
	VALUE("line", 'l', OPTION_EVENTS, OPTION_REGEX, line, "REGEX",
	      "Only commands whose arguments, joined by blanks, match it"),
	OPTION_ROW_FLAG("summary", 's', OPTION_REPORT, FIELD(summary),
			"After the records, one row for each command and parent"),
	{ .name = "summary-only",
	  .letter = 'S',
	  .group = OPTION_REPORT,
	  .type = OPTION_FLAG,
	  .offset = FIELD(summary_only),
	  .excludes = "summary",
	  .help = "The summary and no records" },
	OPTION_ROW_TOP(FIELD(top), "The first N rows of the summary"),
	OPTION_ROW_SORT(
		FIELD(sort), summary_sort_names,
		"First in the summary is what has most of: count, failed, p50, p99 (lifetimes), "
		"cpu"),
	OPTION_ROW_MAX_KEYS(
		FIELD(max_keys), 1000000,
		"Rows the summary may have (the default is 1024); what has none is added up in "
		"one more"),
	{ .name = "ancestors",
	  .group = OPTION_REPORT,
	  .type = OPTION_COUNT,
	  .offset = FIELD(ancestors),
	  .argument = "N",
	  .min = 1,
	  .max = EXECSNOOP_ANCESTORS_MAX,
	  .help = "Show the N processes above each command, as they were at its exec" },
	VALUE("env", 0, OPTION_REPORT, OPTION_WORDS, env, "NAME",
	      "Show this variable of each command's environment; may be given again"),
	OPTION_ROW_FLAG("cwd", 0, OPTION_REPORT, FIELD(cwd),
			"Show the working directory of each command at its exec"),
	OPTION_ROW_FLAG("cgroup-name", 0, OPTION_REPORT, FIELD(cgroup_name),
			"Show the control group of each command by its path"),
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
	OPTION_ROW_FLAG("print-uid", 'U', OPTION_SHOW, FIELD(print_uid), "Show the user id"),
	OPTION_ROW_FLAG("print-cpu", 'C', OPTION_SHOW, FIELD(print_cpu),
			"Show the CPU of the event"),
	OPTION_ROW_FLAG("print-pcomm", 'M', OPTION_SHOW, FIELD(print_pcomm),
			"Show the parent's command name"),
	OPTION_ROW_FLAG("quote", 'q', OPTION_SHOW, FIELD(quote),
			"Quote every argument, needed or not"),
	OPTION_ROW_FLAG("utc", 0, OPTION_SHOW, FIELD(common.utc),
			"Show the time of day of each event, in UTC"),
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

int execsnoop_options__check(const struct execsnoop_options *options)
{
	const char *without = options->top.given      ? "top" :
			      options->sort	      ? "sort" :
			      options->max_keys.given ? "max-keys" :
							NULL;

	if (without && !options->summary && !options->summary_only)
		return log_error_because(EINVAL, "it is about the summary", "Give --summary, too.",
					 "option --%s has no sense here", without);
	for (size_t i = 0; i < options->env.nr; i++)
		if (strchr(options->env.items[i], '='))
			return log_error_because(EINVAL, "a name has no =", NULL,
						 "bad value for --env: '%s'",
						 options->env.items[i]);
	if (options->min_duration.given && options->max_duration.given &&
	    options->min_duration.ns > options->max_duration.ns)
		return log_error_because(EINVAL, "the least is more than the most", NULL,
					 "no command can be inside --min-duration and "
					 "--max-duration");
	return 0;
}

bool execsnoop_options__hold_back(const struct execsnoop_options *options)
{
	return options->min_duration.given || options->max_duration.given;
}

bool execsnoop_options__count_exits(const struct execsnoop_options *options)
{
	return options->exits || options->forks || options->summary || options->summary_only;
}

bool execsnoop_options__need_ends(const struct execsnoop_options *options)
{
	return execsnoop_options__count_exits(options) || execsnoop_options__hold_back(options);
}

uint32_t execsnoop_options__kinds(const struct execsnoop_options *options)
{
	bool exits = execsnoop_options__count_exits(options);

	return 1U << EXECSNOOP_EXEC | (uint32_t)options->fails << EXECSNOOP_FAILED |
	       (uint32_t)exits << EXECSNOOP_EXIT;
}

void execsnoop_options__summary_columns(const struct execsnoop_options *options,
					const char *names[EXECSNOOP_COLUMNS_MAX])
{
	size_t nr = 0;

	for (; summary_columns[nr]; nr++)
		names[nr] = summary_columns[nr];
	if (options->ancestors.given)
		names[nr++] = "chain";
	names[nr] = NULL;
}

void execsnoop_options__columns(const struct execsnoop_options *options,
				const char *names[EXECSNOOP_COLUMNS_MAX])
{
	bool ends = options->exits || options->forks || execsnoop_options__hold_back(options);
	const struct {
		bool shown;
		const char *field;
	} columns[] = {
		{ options->common.time || options->common.utc, "time_ns" },
		{ options->common.timestamp, "since_start_ns" },
		{ options->print_cpu, "cpu" },
		{ options->print_uid, "uid" },
		{ ends, "type" },
		{ options->print_pcomm || options->forks, "pcomm" },
		{ true, "comm" },
		{ true, "pid" },
		{ true, "ppid" },
		{ !ends, "result" },
		{ ends, "run" },
		{ ends, "status" },
		{ ends, "cpu_ns" },
		{ ends, "max_rss_bytes" },
		{ options->ancestors.given, "chain" },
		{ options->cgroup_name, "cgroup" },
		{ options->cwd, "cwd" },
		{ options->env.nr > 0, "env" },
		{ true, "args" },
	};
	size_t nr = 0;

	if (options->summary_only) {
		execsnoop_options__summary_columns(options, names);
		return;
	}
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
	char time[32];

	text[0] = '\0';
	if (options->name.given)
		used = add_limit(text, size, used, "name like %s", options->name.text);
	if (options->line.given)
		used = add_limit(text, size, used, "arguments like %s", options->line.text);
	if (options->min_duration.given)
		used = add_limit(text, size, used, "running at least %s",
				 number__format_time(options->min_duration.ns, time));
	if (options->max_duration.given)
		add_limit(text, size, used, "running at most %s",
			  number__format_time(options->max_duration.ns, time));
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
	word_list__free(&options->env);
	common_options__free(&options->common);
}
