// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/options_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/buffer.h"
#include "run/number.h"

#define NS_PER_SECOND 1000000000ULL
#define NS_PER_MICROSECOND 1000ULL

/* Longest text of a limit: a 20-digit number and a unit. */
#define LIMIT_BYTES 32

/* Sets *cause. Returns -EINVAL, or -ENOMEM. */
static int __attribute__((format(printf, 2, 3))) because(char **cause, const char *format, ...)
{
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(cause, format, args);
	va_end(args);
	if (length >= 0)
		return -EINVAL;
	*cause = NULL;
	return -ENOMEM;
}

static uint64_t row__max(const struct option_row *row, uint64_t type_max)
{
	return row->min || row->max ? row->max : type_max;
}

/* The value is read before the field is touched, so that a refused one changes nothing. */
static int set_count(const struct option_row *row, void *field, const char *word, char **cause)
{
	struct optional_count *count = field;
	uint64_t max = row__max(row, UINT64_MAX);

	if (number__parse(word, row->min, max, &count->count))
		return because(cause, "'%s' is not a whole number from %" PRIu64 " to %" PRIu64,
			       word, row->min, max);
	count->given = true;
	return 0;
}

static int read_time(const struct option_row *row, const char *word, uint64_t bare_unit_ns,
		     uint64_t type_max, uint64_t *ns, char **cause)
{
	uint64_t max = row__max(row, type_max);
	char low[LIMIT_BYTES], high[LIMIT_BYTES];
	int err;

	err = number__parse_time(word, bare_unit_ns, row->min, max, ns);
	if (err == -ERANGE)
		return because(cause, "'%s' is not between %s and %s", word,
			       number__format_time(row->min, low), number__format_time(max, high));
	if (err)
		return because(cause,
			       "'%s' is not a time (a number of %s, or with one of the units "
			       "ns, us, ms, s, m, h)",
			       word, bare_unit_ns == NS_PER_SECOND ? "seconds" : "microseconds");
	return 0;
}

static int set_duration(const struct option_row *row, void *field, const char *word, char **cause)
{
	struct optional_time *duration = field;
	/* A timer counts in signed nanoseconds. */
	int err = read_time(row, word, NS_PER_SECOND, INT64_MAX, &duration->ns, cause);

	duration->given = !err;
	return err;
}

static int set_threshold(const struct option_row *row, void *field, const char *word, char **cause)
{
	return read_time(row, word, NS_PER_MICROSECOND, UINT64_MAX, field, cause);
}

static const char *format_size(uint64_t bytes, char text[LIMIT_BYTES])
{
	static const char suffixes[] = "KMG";
	size_t suffix = 0;

	while (suffix < strlen(suffixes) && bytes && !(bytes % 1024)) {
		bytes /= 1024;
		suffix++;
	}
	snprintf(text, LIMIT_BYTES, "%" PRIu64 "%.*s", bytes, suffix ? 1 : 0,
		 suffix ? &suffixes[suffix - 1] : "");
	return text;
}

static int set_size(const struct option_row *row, void *field, const char *word, char **cause)
{
	uint64_t max = row__max(row, UINT64_MAX);
	char low[LIMIT_BYTES], high[LIMIT_BYTES];

	if (!number__parse_size(word, row->min, max, field))
		return 0;
	return because(cause, "'%s' is not a size from %s to %s (bytes, or with K, M or G)", word,
		       format_size(row->min, low), format_size(max, high));
}

static int set_text(const struct option_row *row, void *field, const char *word, char **cause)
{
	if (!*word)
		return because(cause, "'' is no %s", row->argument);
	*(const char **)field = word;
	return 0;
}

static int refuse_choice(const struct option_row *row, const char *word, char **cause)
{
	struct buffer names = {};
	int err;

	for (int i = 0; row->choices[i]; i++)
		buffer__printf(&names, "%s%s", i ? ", " : "", row->choices[i]);
	err = names.err;
	if (!err)
		err = because(cause, "'%s' is none of %.*s", word, (int)names.size, names.data);
	buffer__free(&names);
	return err;
}

static int set_choice(const struct option_row *row, void *field, const char *word, char **cause)
{
	for (int i = 0; row->choices[i]; i++) {
		if (!strcmp(word, row->choices[i])) {
			*(int *)field = row->values ? row->values[i] : i;
			return 0;
		}
	}
	return refuse_choice(row, word, cause);
}

static int add_pid(const struct option_row *row, const char *word, struct number_list *list,
		   char **cause)
{
	uint64_t max = row__max(row, UINT64_MAX), id;

	if (number__parse(word, row->min, max, &id))
		return because(cause, "'%s' is not a whole number from %" PRIu64 " to %" PRIu64,
			       word, row->min, max);
	return number_list__add(list, id);
}

static int add_user(const struct option_row *row, const char *word, struct number_list *list,
		    char **cause)
{
	uint32_t uid;
	int err = user__find(word, &uid);

	(void)row;
	if (err == -ENOENT)
		return because(cause,
			       "no user '%s' in /etc/passwd, where names are looked up (a user "
			       "from elsewhere can be given by number)",
			       word);
	if (err == -ERANGE)
		return because(cause, "'%s' is no user id", word);
	if (err)
		return because(cause, "cannot look up user '%s' in /etc/passwd: %s", word,
			       strerror(-err));
	return number_list__add(list, uid);
}

typedef int (*add_fn)(const struct option_row *row, const char *word, struct number_list *list,
		      char **cause);

/* Adds each of the words with commas between them. */
static int add_each(const struct option_row *row, struct number_list *list, const char *words,
		    add_fn add, char **cause)
{
	char *copy, *rest, *word;
	int err = 0;

	if (!*words)
		return because(cause, "'' is an empty list");
	copy = rest = strdup(words);
	if (!copy)
		return -ENOMEM;
	while (!err && (word = strsep(&rest, ",")))
		err = *word ? add(row, word, list, cause) :
			      because(cause, "'%s' has nothing between two commas or at an end",
				      words);
	free(copy);
	return err;
}

static int set_pids(const struct option_row *row, void *field, const char *word, char **cause)
{
	return add_each(row, field, word, add_pid, cause);
}

static int set_users(const struct option_row *row, void *field, const char *word, char **cause)
{
	return add_each(row, field, word, add_user, cause);
}

/* The list's numbers are bits here: a list of one item. */
static int add_choice(const struct option_row *row, const char *word, struct number_list *list,
		      char **cause)
{
	for (int i = 0; row->choices[i]; i++)
		if (!strcmp(word, row->choices[i]))
			return number_list__add(list, (uint64_t)i);
	return refuse_choice(row, word, cause);
}

static int set_choices(const struct option_row *row, void *field, const char *word, char **cause)
{
	struct number_list list = {};
	int err = add_each(row, &list, word, add_choice, cause);

	for (size_t i = 0; i < list.nr && !err; i++)
		*(uint32_t *)field |= UINT32_C(1) << list.items[i];
	number_list__free(&list);
	return err;
}

static int add_percentile(const struct option_row *row, const char *word, struct number_list *list,
			  char **cause)
{
	uint64_t millionths;

	if (number__parse_decimal(word, 6, 0, 100000000, &millionths))
		return because(cause, "'%s' is not a percentile from 0 to 100", word);
	if (row->max && list->nr >= row->max)
		return because(cause, "there are more than %" PRIu64 " percentiles", row->max);
	return number_list__add(list, millionths);
}

static int set_percentiles(const struct option_row *row, void *field, const char *word,
			   char **cause)
{
	return add_each(row, field, word, add_percentile, cause);
}

static int add_glob(const struct option_row *row, void *field, const char *word, char **cause)
{
	int err = task_filter__add_comm(field, word);

	(void)row;
	switch (err) {
	case -EINVAL:
		return because(cause,
			       "'%s' is no pattern (* ? [a-z] [!a-z], \\ before a "
			       "character that is meant as it is)",
			       word);
	case -ENAMETOOLONG:
		return because(cause,
			       "'%s' can match nothing, since the kernel cuts a command "
			       "name after 15 bytes",
			       word);
	case -E2BIG:
		return because(cause,
			       "with '%s' the patterns are more than the filter holds (%d "
			       "characters, each pattern counting one more)",
			       word, FILTER_GLOB_POSITIONS);
	default:
		return err;
	}
}

static int add_cgroup(const struct option_row *row, void *field, const char *word, char **cause)
{
	struct task_filter *filter = field;

	if (!*word)
		return because(cause, "'' is no %s", row->argument);
	return word_list__add(&filter->cgroups, word);
}

static int add_word(const struct option_row *row, void *field, const char *word, char **cause)
{
	if (!*word)
		return because(cause, "'' is no %s", row->argument);
	return word_list__add(field, word);
}

static int set_flag(const struct option_row *row, void *field, const char *word, char **cause)
{
	(void)row;
	(void)word;
	(void)cause;
	*(bool *)field = true;
	return 0;
}

static int set_regex(const struct option_row *row, void *field, const char *word, char **cause)
{
	struct optional_regex *option = field;
	char text[128];
	int err;

	(void)row;
	err = regcomp(&option->regex, word, REG_EXTENDED | REG_NOSUB);
	if (err == REG_ESPACE)
		return -ENOMEM;
	if (err) {
		regerror(err, &option->regex, text, sizeof(text));
		return because(cause, "'%s' is no extended regular expression: %s", word, text);
	}
	option->text = word;
	option->given = true;
	return 0;
}

static const struct {
	int (*set)(const struct option_row *row, void *field, const char *word, char **cause);
	bool is_list;
} types[] = {
	[OPTION_FLAG] = { set_flag, false },
	[OPTION_COUNT] = { set_count, false },
	[OPTION_DURATION] = { set_duration, false },
	[OPTION_THRESHOLD] = { set_threshold, false },
	[OPTION_SIZE] = { set_size, false },
	[OPTION_TEXT] = { set_text, false },
	[OPTION_CHOICE] = { set_choice, false },
	[OPTION_PIDS] = { set_pids, true },
	[OPTION_USERS] = { set_users, true },
	[OPTION_GLOBS] = { add_glob, true },
	[OPTION_CGROUPS] = { add_cgroup, true },
	[OPTION_CHOICES] = { set_choices, true },
	[OPTION_PERCENTILES] = { set_percentiles, true },
	[OPTION_WORDS] = { add_word, true },
	[OPTION_REGEX] = { set_regex, false },
};

bool option_type__is_list(enum option_type type)
{
	return type < sizeof(types) / sizeof(types[0]) && types[type].is_list;
}

int option__set(const struct option_row *row, void *options, const char *word, char **cause)
{
	*cause = NULL;
	return types[row->type].set(row, (char *)options + row->offset, word, cause);
}
