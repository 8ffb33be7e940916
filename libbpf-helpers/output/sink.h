/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Where a tool's records go. A tool declares each kind of record once, as a table
 * of fields, and hands the sink values; text columns, JSON, CSV and the JSON
 * Schema all come from that table. The sink knows no tool and no libbpf.
 */
#ifndef VANTAGE_OUTPUT_SINK_H
#define VANTAGE_OUTPUT_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <stdio.h>
#include <sys/types.h>

enum value_kind {
	VALUE_ABSENT, /* not known: the field is left out, never 0 */
	VALUE_UNSIGNED,
	VALUE_SIGNED,
	VALUE_DECIMAL, /* millionths, written as a decimal number without needless digits */
	VALUE_BOOL,
	VALUE_BYTES, /* any bytes, escaped by each face */
	/* Words one after another, each ended by NUL: a JSON array, in which one that could not
	 * be read is null; a shell line, with marks for those and for a cut. */
	VALUE_WORDS,
	VALUE_NUMBERS, /* a JSON array of integers */
	VALUE_COUNTS, /* a JSON object: name -> number, or null where not known */
	VALUE_RECORDS, /* a JSON array of objects, or (named) an object of objects */
	VALUE_OBJECT, /* a JSON object: one record */
};

struct named_count {
	const char *name;
	uint64_t count;
	bool known;
};

struct record;

/* Something is left out, and it is not known how much. */
#define WORDS_CUT_UNKNOWN UINT64_MAX

struct value {
	enum value_kind kind;
	union {
		uint64_t number;
		int64_t integer;
		bool truth;
		struct {
			const char *data;
			size_t size;
		} bytes; /* VALUE_BYTES */
		struct {
			const char *data;
			size_t size;
			const uint64_t *unreadable; /* which words, from 0, in rising order */
			size_t nr_unreadable;
			uint64_t cut; /* bytes left out at the end, or WORDS_CUT_UNKNOWN */
		} words; /* VALUE_WORDS */
		struct {
			const uint64_t *items;
			size_t nr;
		} numbers;
		struct {
			const struct named_count *items;
			size_t nr;
		} counts;
		struct {
			const struct record *items;
			size_t nr;
		} records;
	};
};

/* How the text face shows a number; JSON and CSV always have the integer itself. */
enum unit {
	UNIT_NONE,
	UNIT_WALL_NS, /* nanoseconds since the epoch, shown as local HH:MM:SS.uuuuuu */
	UNIT_SECONDS, /* nanoseconds shown as seconds with three decimals */
	UNIT_MILLISECONDS, /* nanoseconds shown as milliseconds with three decimals */
	UNIT_KIBIBYTES, /* bytes shown as whole KiB, rounded up */
};

struct record_type;

struct field {
	const char *name; /* in JSON and CSV; stays once released */
	enum value_kind kind;
	enum unit unit;
	const char *column; /* heading in text, or NULL: never a column */
	int width; /* least width of the column; negative: aligned to the left */
	bool required; /* in the schema; a required field is never VALUE_ABSENT */
	bool text_only; /* a column that JSON and CSV have in another field */
	const char *meaning; /* one sentence for the schema */
	const struct record_type *of; /* VALUE_RECORDS, VALUE_OBJECT: what its items are */
	bool named; /* VALUE_RECORDS: an object; the first field of each item is its key */
	/* OpenMetrics: the name of its counter, or NULL: it is none. Of VALUE_UNSIGNED, or of
	 * VALUE_COUNTS, whose names are values of the label. */
	const char *metric;
	const char *label;
	bool gauge; /* it can fall: a gauge, no counter */
};

/* Rows of a table of fields that are no column, in each record or not. */
#define FIELD_REQUIRED(field_name, field_kind, text)                                               \
	{                                                                                          \
		.name = field_name, .kind = field_kind, .required = true, .meaning = text          \
	}
#define FIELD_OPTIONAL(field_name, field_kind, text)                                               \
	{                                                                                          \
		.name = field_name, .kind = field_kind, .meaning = text                            \
	}

/* A column that every record has. */
#define FIELD_COLUMN(field_name, field_kind, heading, least_width, text)                           \
	{                                                                                          \
		.name = field_name, .kind = field_kind, .column = heading, .width = least_width,   \
		.required = true, .meaning = text                                                  \
	}

/* When an event was: by the wall clock, and in seconds of the run. */
#define FIELD_TIME(text)                                                                           \
	{                                                                                          \
		.name = "time_ns", .kind = VALUE_UNSIGNED, .unit = UNIT_WALL_NS, .column = "TIME", \
		.width = -15, .required = true, .meaning = text                                    \
	}
#define FIELD_SINCE_START                                                                          \
	{                                                                                          \
		.name = "since_start_ns", .kind = VALUE_UNSIGNED, .unit = UNIT_SECONDS,            \
		.column = "TIME(s)", .width = -8, .text_only = true,                               \
		.meaning = "Seconds since the start of the run."                                   \
	}

struct record_type {
	const char *name; /* "type" in JSON */
	const char *meaning;
	const struct field *fields;
	size_t nr_fields;
	/* One of the fields, text_only: the lines (each ended by a newline) that the text
	 * face shows instead of columns. What they borrow from others is escaped in them. */
	const struct field *block;
	/* The same of the folded face, which shows nothing else (output/folded.h). */
	const struct field *folded;
	/* OpenMetrics: its metrics add up over the records, by the labels that its object gives;
	 * else the last record has them. */
	bool adds_up;
};

struct record {
	const struct record_type *type;
	const struct value *values; /* one for each field of the type, in its order */
};

enum face_kind { FACE_TEXT, FACE_JSON, FACE_CSV, FACE_OPENMETRICS, FACE_FOLDED };

/* What OpenMetrics calls a tool's metrics. */
struct metric_names {
	const char *prefix; /* of all names: "runqlat" */
	/* What histograms are of: "wait" gives runqlat_wait_seconds; or NULL: there are none. */
	const char *distribution;
	const char *help; /* its one sentence */
	bool in_bytes; /* they are of sizes: in bytes in place of seconds */
};

struct sink_config {
	enum face_kind face;
	const char *path; /* NULL: stdout; a file is created or truncated */
	const struct metric_names *metrics; /* for FACE_OPENMETRICS */
	/* Which records are rows of the text table and of the CSV; NULL-terminated. The
	 * text face ignores records of other types (start, account): they are messages. */
	const struct record_type *const *rows;
	/* Names of the fields shown as text columns, in order, NULL-terminated; "type" is
	 * the record's kind. The last one takes the rest of a terminal's line. */
	const char *const *columns;
	bool utc; /* show UNIT_WALL_NS in UTC */
	bool quote_words; /* quote every word of VALUE_WORDS, also where a shell needs none */
	bool late_heading; /* text: the heading stands before each run of rows, not at the start */
};

struct sink;

/* The config's tables are borrowed until the close. 0 or -errno, reported. */
int sink__open(struct sink **sink, const struct sink_config *config);

/*
 * Formats one record into the sink's buffer; a full buffer is written out at a
 * record's border. 0; -EPIPE when the reader has gone (not reported: it ends a run
 * quietly); another -errno, reported once. After an error every call returns it.
 */
int sink__write(struct sink *sink, const struct record *record);

/* Whether records are buffered that are not written out yet. */
bool sink__is_buffering(const struct sink *sink);

/*
 * Some faces (OpenMetrics) are no stream of records: what they show is a state, always as a whole.
 * A file is replaced by each state, at once for whoever reads it; what cannot be replaced (standard
 * output, a device) gets the last one only. sink__flush() leaves all to sink__publish().
 */
bool sink__is_state(const struct sink *sink);

/* Writes the state out, or what is buffered. last: it is that of the end. Errors as
 * sink__write(). */
int sink__publish(struct sink *sink, bool last);

/* Whether a file is replaced, and then the user that owns its directory, as whom it can be. */
bool sink__replaces(const struct sink *sink, uid_t *owner);

/* Tries whether the file can be replaced, with the rights that the process has now; true for
 * all other outputs. 0 or -errno, reported. */
int sink__try_replacing(struct sink *sink);

/* Characters in a line of the terminal that the sink writes to; 0: it is none. */
size_t sink__width(const struct sink *sink);

/* Lines of that terminal, as they were at the last batch; 0: it is none. */
size_t sink__height(const struct sink *sink);

/*
 * From here on the text face shows these columns (named as in the config), below a blank line and
 * a heading of their own. The other faces write on as before. Errors as sink__write().
 */
int sink__begin_table(struct sink *sink, const char *const *columns);

/* Writes out what is buffered. Errors as sink__write(). */
int sink__flush(struct sink *sink);

/* Flushes, closes (a full disk may show only now) and frees; sink may be NULL. */
int sink__close(struct sink *sink);

/*
 * Prints the JSON Schema (draft 2020-12) of every line a tool writes with -j:
 * types is NULL-terminated and holds all record types. 0 or -errno, reported.
 */
int sink__print_schema(FILE *out, const char *tool, const struct record_type *const *types);

static inline struct value value__unsigned(uint64_t number)
{
	return (struct value){ .kind = VALUE_UNSIGNED, .number = number };
}

static inline struct value value__signed(int64_t integer)
{
	return (struct value){ .kind = VALUE_SIGNED, .integer = integer };
}

/* millionths: 99.9 is 99900000. */
static inline struct value value__decimal(uint64_t millionths)
{
	return (struct value){ .kind = VALUE_DECIMAL, .number = millionths };
}

static inline struct value value__bool(bool truth)
{
	return (struct value){ .kind = VALUE_BOOL, .truth = truth };
}

/* data is borrowed until sink__write() returns; so for the ones below. */
static inline struct value value__bytes(const char *data, size_t size)
{
	return (struct value){ .kind = VALUE_BYTES, .bytes = { data, size } };
}

/* Up to its NUL; absent for NULL. */
static inline struct value value__text(const char *text)
{
	return text ? value__bytes(text, strlen(text)) : (struct value){};
}

/* As the kernel keeps a name: up to its NUL or to size. */
static inline struct value value__name(const char *name, size_t size)
{
	return value__bytes(name, strnlen(name, size));
}

static inline struct value value__words(const char *data, size_t size)
{
	return (struct value){ .kind = VALUE_WORDS, .words = { .data = data, .size = size } };
}

static inline struct value value__numbers(const uint64_t *items, size_t nr)
{
	return (struct value){ .kind = VALUE_NUMBERS, .numbers = { items, nr } };
}

static inline struct value value__counts(const struct named_count *items, size_t nr)
{
	return (struct value){ .kind = VALUE_COUNTS, .counts = { items, nr } };
}

static inline struct value value__records(const struct record *items, size_t nr)
{
	return (struct value){ .kind = VALUE_RECORDS, .records = { items, nr } };
}

static inline struct value value__object(const struct record *record)
{
	return (struct value){ .kind = VALUE_OBJECT, .records = { record, 1 } };
}

#endif
