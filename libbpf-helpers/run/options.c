// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/options.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/buffer.h"
#include "run/log.h"
#include "run/options_table.h"

/* argp's keys of options without a letter start above all letters. */
#define FIRST_KEY 0x100

static const char *const group_headings[] = {
	[OPTION_EVENTS] = "Which events:",
	[OPTION_REPORT] = "What to report:",
	[OPTION_SHOW] = "How to show it:",
	[OPTION_MEASURE] = "How to measure:",
};

struct entry {
	const struct option_row *row;
	int key; /* the letter, or a number from FIRST_KEY on */
	bool given;
};

struct parser {
	const struct tool_options *tool;
	struct common_options *options;
	struct entry *entries; /* the common rows, then the tool's */
	size_t nr_entries;
	struct argp_option *argp_options;
	struct argp argp;
	int next; /* index of the word that is read next, also while argp is inside it */
	size_t nr_operands; /* taken so far */
	char usage[96]; /* what --help says of operands */
	bool reported;
};

static int __attribute__((format(printf, 3, 4)))
usage_error(struct parser *parser, const char *cause, const char *format, ...)
{
	struct buffer hint = {};
	char *message = NULL;
	va_list args;
	int err;

	va_start(args, format);
	if (vasprintf(&message, format, args) < 0)
		message = NULL;
	va_end(args);
	buffer__printf(&hint, "Try '%s --help' for the options.", parser->tool->tool);
	buffer__append_char(&hint, '\0');
	err = log_error_because(EINVAL, cause, hint.err ? NULL : hint.data, "%s",
				message ? message : format);
	buffer__free(&hint);
	free(message);
	parser->reported = true;
	return err;
}

static struct entry *find_key(const struct parser *parser, int key)
{
	for (size_t i = 0; i < parser->nr_entries; i++)
		if (parser->entries[i].key == key)
			return &parser->entries[i];
	return NULL;
}

static struct entry *find_name(const struct parser *parser, const char *name)
{
	for (size_t i = 0; i < parser->nr_entries; i++)
		if (!strcmp(parser->entries[i].row->name, name))
			return &parser->entries[i];
	return NULL;
}

/* Says what is wrong with a word that begins with "--". */
static int report_long(struct parser *parser, const char *word)
{
	size_t length = strcspn(word, "=");
	const struct option_row *row = NULL;
	struct buffer names = {};
	size_t nr = 0;

	for (size_t i = 0; i < parser->nr_entries; i++) {
		const struct option_row *candidate = parser->entries[i].row;

		if (strncmp(candidate->name, word + 2, length - 2))
			continue;
		buffer__printf(&names, "%s--%s", nr++ ? ", " : "it could be ", candidate->name);
		row = candidate;
		if (strlen(candidate->name) == length - 2) {
			nr = 1;
			break;
		}
	}
	buffer__append_char(&names, '\0');
	if (nr == 0)
		usage_error(parser, NULL, "unknown option '%.*s'", (int)length, word);
	else if (nr > 1)
		usage_error(parser, names.data, "option '%.*s' is not clear", (int)length, word);
	else if (row->argument)
		usage_error(parser, NULL, "option --%s needs a value (%s)", row->name,
			    row->argument);
	else
		usage_error(parser, NULL, "option --%s takes no value, but '%s' has one", row->name,
			    word);
	buffer__free(&names);
	return -EINVAL;
}

/* Says what is wrong with a word of letters after one "-". */
static int report_letters(struct parser *parser, const char *word)
{
	for (const char *letter = word + 1; *letter; letter++) {
		const struct entry *entry = find_key(parser, (unsigned char)*letter);

		if (!entry)
			return usage_error(parser, NULL, "unknown option '-%c' in '%s'", *letter,
					   word);
		if (entry->row->argument)
			return usage_error(parser, NULL, "option -%c (--%s) needs a value (%s)",
					   *letter, entry->row->name, entry->row->argument);
	}
	return usage_error(parser, NULL, "cannot read '%s'", word);
}

static int finish_print(void)
{
	if (fflush(stdout) || ferror(stdout)) {
		log_error(errno, NULL, "cannot write to standard output");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}

/* With a state, or argp does not ask filter_help() about its note. */
static void print_help(const struct parser *parser, struct argp_state *state)
{
	state->name = (char *)parser->tool->tool;
	state->flags &= ~(unsigned int)ARGP_NO_ERRS;
	argp_state_help(state, stdout, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC);
}

static int handle_option(struct parser *parser, struct entry *entry, const char *word,
			 struct argp_state *state)
{
	const struct option_row *row = entry->row;
	char *cause;
	int err;

	if (row->type == OPTION_HELP) {
		print_help(parser, state);
		exit(finish_print());
	}
	if (row->type == OPTION_VERSION) {
		printf("%s (vantage) %s\n", parser->tool->tool, VANTAGE_VERSION);
		exit(finish_print());
	}
	if (entry->given && row->type != OPTION_FLAG && !option_type__is_list(row->type))
		return usage_error(parser, NULL,
				   "option --%s is given twice, the second time as '%s'", row->name,
				   word);
	entry->given = true;
	err = option__set(row, parser->options, word, &cause);
	if (err == -EINVAL) {
		usage_error(parser, cause, "bad value for --%s", row->name);
		free(cause);
	} else if (err) {
		log_error(err, NULL, "cannot read the value of --%s", row->name);
		parser->reported = true;
	}
	return err;
}

/*
 * Whether argp stands behind the "--" that ends the options. A "--" that is the value of an
 * option is none, which argp itself does not tell apart.
 */
static bool is_behind_options(const struct parser *parser, const struct argp_state *state)
{
	return state->quoted && state->quoted == parser->next + 1;
}

static int handle_operands(struct parser *parser, struct argp_state *state)
{
	if (!is_behind_options(parser, state))
		return usage_error(parser, "a command to run stands after '--'",
				   "unexpected word '%s'", state->argv[state->next]);
	parser->options->command = &state->argv[state->next];
	state->next = state->argc;
	return 0;
}

/* The option whose value the next operand is; NULL when the tool takes no more. */
static struct entry *next_operand(const struct parser *parser, const struct argp_state *state)
{
	const char *const *operands = parser->tool->operands;

	if (!operands || !operands[parser->nr_operands] || is_behind_options(parser, state))
		return NULL;
	return find_name(parser, operands[parser->nr_operands]);
}

static error_t handle(int key, char *word, struct argp_state *state)
{
	struct parser *parser = state->input;
	struct entry *entry;
	int err;

	switch (key) {
	case ARGP_KEY_ARG:
		entry = next_operand(parser, state);
		if (!entry)
			return ARGP_ERR_UNKNOWN;
		parser->nr_operands++;
		err = handle_option(parser, entry, word, state);
		parser->next = state->next;
		return -err;
	case ARGP_KEY_ARGS:
		return -handle_operands(parser, state);
	case ARGP_KEY_NO_ARGS:
		if (!is_behind_options(parser, state))
			return 0;
		return -usage_error(parser, NULL, "no command after '--'");
	}
	entry = find_key(parser, key);
	if (!entry)
		return ARGP_ERR_UNKNOWN;
	err = handle_option(parser, entry, word, state);
	parser->next = state->next;
	return -err;
}

/* Leaves out argp's note that a letter takes the argument of its long option: it is no row's. */
static char *filter_help(int key, const char *text, void *input)
{
	(void)input;
	return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

static void bind_row(struct parser *parser, const struct option_row *row, bool is_common)
{
	const struct option_letter *letter = parser->tool->letters;
	size_t i = parser->nr_entries++;

	parser->entries[i] = (struct entry){
		.row = row,
		.key = row->letter ? row->letter : FIRST_KEY + (int)i,
	};
	for (; is_common && letter && letter->letter; letter++)
		if (!strcmp(letter->name, row->name))
			parser->entries[i].key = letter->letter;
}

/* A tool's tables must not contradict themselves: argp would quietly take the first of two. */
static int check_tables(const struct parser *parser)
{
	const struct option_letter *letter = parser->tool->letters;

	for (size_t i = 0; i < parser->nr_entries; i++) {
		const struct option_row *row = parser->entries[i].row;

		if (find_key(parser, parser->entries[i].key) != &parser->entries[i] ||
		    find_name(parser, row->name) != &parser->entries[i])
			return log_error_because(EINVAL, "another has its name or its letter", NULL,
						 "cannot have option --%s", row->name);
		if (row->excludes && !find_name(parser, row->excludes))
			return log_error_because(EINVAL, "it excludes one that is not there", NULL,
						 "cannot have option --%s", row->name);
	}
	for (size_t i = 0; parser->tool->operands && parser->tool->operands[i]; i++)
		if (!find_name(parser, parser->tool->operands[i]))
			return log_error_because(EINVAL, "there is no such option", NULL,
						 "cannot take --%s as an operand",
						 parser->tool->operands[i]);
	for (; letter && letter->letter; letter++)
		if (!find_name(parser, letter->name))
			return log_error_because(EINVAL, "there is no such option", NULL,
						 "cannot give --%s a letter", letter->name);
	return 0;
}

/* "[INTERVAL [COUNT]] [-- COMMAND [ARG...]]": the options' names in capitals. */
static void write_usage(struct parser *parser)
{
	struct buffer usage = {};
	size_t nr = 0;

	for (; parser->tool->operands && parser->tool->operands[nr]; nr++) {
		buffer__append_string(&usage, nr ? " [" : "[");
		for (const char *c = parser->tool->operands[nr]; *c; c++)
			buffer__append_char(&usage, (char)toupper((unsigned char)*c));
	}
	for (size_t i = 0; i < nr; i++)
		buffer__append_char(&usage, ']');
	snprintf(parser->usage, sizeof(parser->usage), "%.*s%s[-- COMMAND [ARG...]]",
		 (int)usage.size, usage.size ? usage.data : "", nr ? " " : "");
	buffer__free(&usage);
}

static int parser__init(struct parser *parser)
{
	const struct tool_options *tool = parser->tool;
	size_t nr = nr_common_option_rows + tool->nr_rows;
	size_t nr_headings = sizeof(group_headings) / sizeof(group_headings[0]);
	struct argp_option *option;

	parser->entries = calloc(nr, sizeof(*parser->entries));
	parser->argp_options = calloc(nr + nr_headings + 1, sizeof(*parser->argp_options));
	if (!parser->entries || !parser->argp_options)
		return log_error(ENOMEM, NULL, "cannot read the command line");
	for (size_t i = 0; i < nr_common_option_rows; i++) {
		const struct option_row *row = &common_option_rows[i];

		if (tool->has_metrics && row->with_metrics)
			row = row->with_metrics;
		else if (tool->has_stacks && row->with_stacks)
			row = row->with_stacks;
		bind_row(parser, row, true);
	}
	for (size_t i = 0; i < tool->nr_rows; i++)
		bind_row(parser, &tool->rows[i], false);

	write_usage(parser);
	option = parser->argp_options;
	for (int group = OPTION_EVENTS; group <= OPTION_MEASURE; group++)
		*option++ = (struct argp_option){ .doc = group_headings[group], .group = group };
	for (size_t i = 0; i < nr; i++)
		*option++ = (struct argp_option){
			.name = parser->entries[i].row->name,
			.key = parser->entries[i].key,
			.arg = parser->entries[i].row->argument,
			.doc = parser->entries[i].row->help,
			.group = parser->entries[i].row->group,
		};
	parser->argp = (struct argp){
		.options = parser->argp_options,
		.parser = handle,
		.args_doc = parser->usage,
		.doc = tool->summary,
		.help_filter = filter_help,
	};
	return check_tables(parser);
}

static int check_exclusions(struct parser *parser)
{
	for (size_t i = 0; i < parser->nr_entries; i++) {
		const struct option_row *row = parser->entries[i].row;

		if (parser->entries[i].given && row->excludes &&
		    find_name(parser, row->excludes)->given)
			return usage_error(parser, NULL, "option --%s cannot be given with --%s",
					   row->name, row->excludes);
		if (parser->entries[i].given && row->no_metrics &&
		    options__face(parser->options) == FACE_OPENMETRICS)
			return usage_error(parser, "that has counters and whole histograms",
					   "option --%s cannot be given with --format openmetrics",
					   row->name);
	}
	return 0;
}

static int parse(struct parser *parser, int argc, char **argv)
{
	const char *word;
	int err;

	/* In order, so that the first word that is wrong is the one that is told. argp's own
	 * messages would not go through the log: it is silenced, and says only that it failed. */
	err = argp_parse(&parser->argp, argc, argv,
			 ARGP_IN_ORDER | ARGP_NO_ERRS | ARGP_NO_EXIT | ARGP_NO_HELP, NULL, parser);
	if (!err)
		return check_exclusions(parser);
	if (parser->reported)
		return -err;
	if (err == ENOMEM || parser->next >= argc)
		return log_error(err, NULL, "cannot read the command line");
	word = argv[parser->next];
	return strncmp(word, "--", 2) ? report_letters(parser, word) : report_long(parser, word);
}

int options__parse(const struct tool_options *tool, void *options, int argc, char **argv)
{
	struct parser parser = { .tool = tool, .options = options, .next = 1 };
	int err;

	log__init(tool->tool);
	err = parser__init(&parser);
	if (!err)
		err = parse(&parser, argc, argv);
	if (!err) {
		parser.options->argc = argc;
		parser.options->argv = argv;
	}
	free(parser.entries);
	free(parser.argp_options);
	return err;
}

enum face_kind options__face(const struct common_options *options)
{
	return options->json   ? FACE_JSON :
	       options->folded ? FACE_FOLDED :
				 (enum face_kind)options->format;
}

void common_options__free(struct common_options *options)
{
	task_filter__free(&options->filter);
}
