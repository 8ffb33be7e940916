/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a tool wrote with -j, line by line: reading, finding, and judging its
 * account. Knows the members all tools share, and no tool's own.
 */
#ifndef VANTAGE_TESTS_RECORDS_H
#define VANTAGE_TESTS_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "json.h"
#include "tool.h"

/* One line after another, for outputs of which not all can be kept. */
struct record_reader {
	const char *data;
	size_t size;
	size_t at;
	size_t nr_lines;
	struct json *current;
};

/* The next record, valid until the next call; NULL at the end. A line that is no JSON object is
 * a failed check and ends the program. */
const struct json_value *record_reader__next(struct record_reader *reader);

struct records {
	struct json **items;
	size_t nr;
};

/* All lines of a run's stdout. */
void records__load(struct records *records, const struct tool_run *run);
void records__free(struct records *records);

const struct json_value *records__at(const struct records *records, size_t index);

/* The first record of this type and pid (0: any) after the index, which moves on behind it;
 * start with 0. NULL when there is no other. */
const struct json_value *records__next(const struct records *records, const char *type, pid_t pid,
				       size_t *index);

/* The only record of this type and pid; when there are none or several, a failed check with this
 * name and NULL. */
const struct json_value *records__only(const struct records *records, const char *type, pid_t pid,
				       const char *check);

/* How many records have this type (NULL: any) and this comm (NULL: any). */
size_t records__count(const struct records *records, const char *type, const char *comm);

/* An integer member, or -1 when it is absent or none. */
int64_t record__number(const struct json_value *record, const char *name);

/* Undoes the escape rule (output/escape.h) in place; returns the new size. */
size_t unescape(char *data, size_t size);

/* The bytes of a string as they were before escaping, to be freed, a NUL after them; NULL when
 * string is none. */
char *string__bytes(const struct json_value *string, size_t *size);

/* The words of an array of strings as they were, each ended by NUL, to be freed; NULL when
 * array is none. */
char *array__words(const struct json_value *array, size_t *size);

/* Reports whether args of the record are exactly these words and args_cut is 0. */
void check_args(const struct json_value *record, const char *const *argv, const char *check);

/* The account, which must be the last record; otherwise a failed check ends the program. */
const struct json_value *records__account(const struct records *records);

/* A term of one kind ("exec"), or of all kinds with NULL; "lost" is the sum over the causes.
 * -1 when it is not there. */
int64_t account__term(const struct json_value *account, const char *kind, const char *term);

/*
 * Whether a program may have missed runs that this kernel does not count ("missed" is null). By
 * tp_btf none can be: a kernel that guards such a program against recursion also counts what the
 * guard skips (both came with one change, in Linux 6.1), one that does not guard it skips nothing.
 */
bool account__is_blind(const struct json_value *account);

/* Reports whether each kind's sum holds, the whole is the sum of the kinds, and the verdict is
 * the one its terms call for. name: of the run. */
void check_account(const struct json_value *account, const char *name);

/* Reports that besides, nothing is lost: verdict exact, or unknown where the kernel does not tell
 * all. */
void check_exact(const struct json_value *account, const char *name);

#endif
