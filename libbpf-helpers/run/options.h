/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options as typed data over argp: a row of a table and a field of a struct, with
 * one parser for each type. The rows every tool has are in options_common.c, with the
 * same long name and meaning everywhere; a tool adds its own rows and gives
 * letters to the common ones. No option is handled by name.
 */
#ifndef VANTAGE_RUN_OPTIONS_H
#define VANTAGE_RUN_OPTIONS_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/sink.h"
#include "run/filter.h"

/* --help shows the options in these groups, in this order, in every tool. */
enum option_group {
	OPTION_EVENTS = 1, /* which events */
	OPTION_REPORT, /* what to report */
	OPTION_SHOW, /* how to show it */
	OPTION_MEASURE, /* how to measure */
};

enum option_type {
	OPTION_FLAG, /* bool */
	OPTION_COUNT, /* struct optional_count, min..max */
	OPTION_DURATION, /* struct optional_time; a bare number is seconds */
	OPTION_THRESHOLD, /* uint64_t ns; a bare number is microseconds */
	OPTION_SIZE, /* uint64_t bytes, suffix K, M, G; min..max */
	OPTION_TEXT, /* const char *, in argv */
	OPTION_CHOICE, /* int: index into choices */
	OPTION_CHOICES, /* uint32_t: bits by index into choices; comma-separated, again for more */
	OPTION_PERCENTILES, /* struct number_list of millionths of a percent; comma-separated */
	OPTION_PIDS, /* struct number_list: comma-separated, may be given again */
	OPTION_USERS, /* struct number_list of user ids, by number or name */
	OPTION_GLOBS, /* struct task_filter: adds a command-name glob */
	OPTION_CGROUPS, /* struct task_filter: adds a cgroup */
	OPTION_WORDS, /* struct word_list: adds a word, in argv; freed by the tool */
	OPTION_REGEX, /* struct optional_regex: extended, as of grep -E; freed by the tool */
	OPTION_HELP, /* no field: prints the help and exits */
	OPTION_VERSION, /* no field: prints the version and exits */
};

struct option_row {
	const char *name; /* long name, without dashes */
	char letter; /* or 0 */
	enum option_group group;
	enum option_type type;
	size_t offset; /* of the field in the tool's options struct */
	const char *argument; /* what --help calls its argument; NULL for OPTION_FLAG */
	const char *help;
	uint64_t min, max; /* of the value in its unit; 0, 0: no limit but the type's */
	const char *const *choices; /* OPTION_CHOICE: NULL-terminated */
	const int *values; /* OPTION_CHOICE: what each choice stands for; NULL: its index */
	const char *excludes; /* long name of an option that cannot be given as well */
	bool no_metrics; /* about single records, or how they look: not with openmetrics */
	const struct option_row *with_metrics; /* of a common row: in its place where there are */
	const struct option_row *with_stacks; /* the same */
};

struct optional_count {
	bool given;
	uint64_t count;
};

struct optional_time {
	bool given;
	uint64_t ns;
};

struct optional_regex {
	bool given;
	const char *text;
	regex_t regex;
};

/* First member of each tool's options struct. Zero is the default of everything not set
 * by options__parse(). */
struct common_options {
	struct task_filter filter;
	struct optional_time duration; /* not given: until a signal, or the command's end */
	bool time; /* columns */
	bool timestamp;
	bool utc; /* wall clocks in UTC; a tool with a column of them has the option */
	int format; /* enum face_kind */
	bool json;
	bool folded; /* of tools with stacks, which have the option */
	const char *output; /* path or NULL */
	int attach; /* index into attach_mechanism_names: 0 is auto */
	uint64_t ring_bytes; /* 0: the tool's default */
	bool explain;
	bool check;
	bool stats;
	bool strict;
	struct optional_count expect;
	struct optional_count ready_fd;
	bool json_schema;
	bool verbose;
	char **command; /* what stands after --, NULL-terminated, in argv; or NULL */
	int argc; /* the command line, for the start record */
	char **argv;
};

struct option_letter {
	char letter;
	const char *name; /* of a common option */
};

struct tool_options {
	const char *tool; /* name, for --help and messages */
	const char *summary; /* one sentence for --help */
	const struct option_row *rows; /* the tool's own */
	size_t nr_rows;
	const struct option_letter *letters; /* for common options; ends with 0; or NULL */
	/* Long names of options whose values may also stand alone, in this order
	 * ([INTERVAL [COUNT]]); NULL-terminated; or NULL. */
	const char *const *operands;
	bool has_metrics; /* histograms or counters: --format openmetrics is there */
	bool has_stacks; /* and no metrics: --format folded is there */
};

/*
 * Parses the command line into options (the tool's struct, all zero, which starts with
 * struct common_options). 0; -EINVAL on a usage error, reported with the
 * offending word; another -errno, reported. --help and --version print on stdout and exit 0.
 * There are no operands but the tool's and what stands after "--". Names the program to the log.
 * After an error too, common_options__free() frees what was read.
 */
int options__parse(const struct tool_options *tool, void *options, int argc, char **argv);

/* The face asked for by --format or --json. */
enum face_kind options__face(const struct common_options *options);

void common_options__free(struct common_options *options);

#endif
