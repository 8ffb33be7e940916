// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "output/columns.h"
#include "output/escape.h"
#include "output/face.h"
#include "output/json.h"
#include "run/log.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* A word of the line that a shell runs, which the shell would read otherwise if it were bare:
 * VAR=value, and the reserved words of bash, zsh and ksh that need no quotes by their letters. */
static bool is_shell_syntax(const char *data, size_t size)
{
	static const char *const reserved[] = {
		"case",	 "coproc",    "declare",   "do",       "done",	 "elif",
		"else",	 "end",	      "esac",	   "export",   "fi",	 "float",
		"for",	 "foreach",   "function",  "if",       "in",	 "integer",
		"local", "namespace", "nocorrect", "readonly", "repeat", "select",
		"then",	 "time",      "typeset",   "until",    "while",
	};
	size_t i;

	if (memchr(data, '=', size))
		return true;
	for (i = 0; i < sizeof(reserved) / sizeof(*reserved); i++)
		if (strlen(reserved[i]) == size && !memcmp(reserved[i], data, size))
			return true;
	return false;
}

/* Neither mark can be a word: a shell's word with these characters is quoted. */
static void append_cut(struct buffer *out, uint64_t cut, bool first)
{
	if (cut && !first)
		buffer__append_char(out, ' ');
	if (cut == WORDS_CUT_UNKNOWN)
		buffer__append_string(out, "…(+? bytes)");
	else if (cut)
		buffer__printf(out, "…(+%" PRIu64 " bytes)", cut);
}

static void append_words(struct buffer *out, const struct value *value, bool quote)
{
	const char *data = value->words.data;
	size_t size = value->words.size, nr_unreadable = 0, length, i;
	char *room;

	for (i = 0; size; i++) {
		length = strnlen(data, size);
		if (i)
			buffer__append_char(out, ' ');
		room = buffer__reserve(out, 4 * length + 4);
		if (!room)
			return;
		if (nr_unreadable < value->words.nr_unreadable &&
		    value->words.unreadable[nr_unreadable] == i) {
			buffer__append_string(out, "<unreadable>");
			nr_unreadable++;
		} else {
			out->size += escape__shell(room, data, length,
						   quote || (!i && is_shell_syntax(data, length)));
		}
		if (length < size)
			length++;
		data += length;
		size -= length;
	}
	append_cut(out, value->words.cut, !i);
}

static void append_bytes(struct buffer *out, const char *data, size_t size)
{
	char *room = buffer__reserve(out, 4 * size);

	if (room)
		out->size += escape__text(room, data, size);
}

void text__append_value(struct buffer *out, const struct field *field, const struct value *value,
			bool quote_words)
{
	if (value->kind == VALUE_BYTES)
		append_bytes(out, value->bytes.data, value->bytes.size);
	else if (value->kind == VALUE_WORDS)
		append_words(out, value, quote_words);
	else
		json__append_value(out, field, value);
}

struct text_face {
	struct face face;
	struct columns columns;
	bool quote_words;
	bool late_heading;
	bool in_rows; /* what was written last was a heading or a row */
	bool utc;
	/* What localtime_r() or gmtime_r() said last: it is asked once for each second. */
	time_t second;
	struct tm broken_down;
};

static void append_wall_clock(struct text_face *text, struct buffer *out, uint64_t ns)
{
	time_t second = ns / NS_PER_SECOND;

	if (second != text->second) {
		/* They fail only for years beyond an int; 2^64 ns end in 2554. */
		if (text->utc)
			gmtime_r(&second, &text->broken_down);
		else
			localtime_r(&second, &text->broken_down);
		text->second = second;
	}
	buffer__printf(out, "%02d:%02d:%02d.%06" PRIu64, text->broken_down.tm_hour,
		       text->broken_down.tm_min, text->broken_down.tm_sec,
		       ns % NS_PER_SECOND / 1000);
}

/* With three decimals, rounded to the nearest; thousandth: that many units. */
static void append_thousandths(struct buffer *out, uint64_t number, uint64_t thousandth)
{
	uint64_t whole = number / thousandth + (number % thousandth >= thousandth / 2);

	const char decimals[] = { '.', (char)('0' + whole / 100 % 10),
				  (char)('0' + whole / 10 % 10), (char)('0' + whole % 10) };

	/* Without printf(), whose two calls took a quarter of the time a record takes. */
	buffer__append_unsigned(out, whole / 1000);
	buffer__append(out, decimals, sizeof(decimals));
}

static void append_in_unit(struct text_face *text, struct buffer *out, enum unit unit,
			   uint64_t number)
{
	switch (unit) {
	case UNIT_NONE:
		buffer__append_unsigned(out, number);
		break;
	case UNIT_WALL_NS:
		append_wall_clock(text, out, number);
		break;
	case UNIT_SECONDS:
		append_thousandths(out, number, NS_PER_SECOND / 1000);
		break;
	case UNIT_MILLISECONDS:
		append_thousandths(out, number, 1000);
		break;
	case UNIT_KIBIBYTES:
		buffer__append_unsigned(out, number / 1024 + !!(number % 1024));
		break;
	}
}

static void append_cell(struct text_face *text, struct buffer *out, const struct field *field,
			const struct value *value)
{
	switch (value->kind) {
	case VALUE_ABSENT:
		buffer__append_char(out, '-');
		break;
	case VALUE_UNSIGNED:
		append_in_unit(text, out, field->unit, value->number);
		break;
	case VALUE_SIGNED:
		if (value->integer < 0)
			buffer__append_char(out, '-');
		append_in_unit(text, out, field->unit,
			       value->integer < 0 ? -(uint64_t)value->integer :
						    (uint64_t)value->integer);
		break;
	default:
		text__append_value(out, field, value, text->quote_words);
	}
}

/* The character at data, which is valid UTF-8; *size: its bytes. */
static uint32_t decode_character(const char *data, size_t *size)
{
	unsigned char first = (unsigned char)data[0];
	uint32_t code = first;

	*size = first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
	if (*size > 1)
		code = first & (0x7f >> *size);
	for (size_t i = 1; i < *size; i++)
		code = code << 6 | ((unsigned char)data[i] & 0x3f);
	return code;
}

/* Columns a terminal gives a character: two to the blocks whose East Asian width is wide or full
 * (Unicode Standard Annex 11). */
static size_t columns_of(uint32_t code)
{
	static const struct {
		uint32_t first, last;
	} wide[] = {
		{ 0x1100, 0x115f }, { 0x2e80, 0xa4cf },	  { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f },	  { 0xff00, 0xff60 },
		{ 0xffe0, 0xffe6 }, { 0x1f300, 0x1faff }, { 0x20000, 0x3fffd },
	};

	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]) && code >= wide[i].first; i++)
		if (code <= wide[i].last)
			return 2;
	return 1;
}

/* Bytes of the characters at the start of data that fit in so many columns; *columns: those they
 * take. data is valid UTF-8. */
static size_t fit_columns(const char *data, size_t size, size_t width, size_t *columns)
{
	size_t at = 0, length;

	*columns = 0;
	while (at < size) {
		size_t more = 1;

		/* Nearly all is ASCII. */
		length = 1;
		if ((unsigned char)data[at] >= 0x80)
			more = columns_of(decode_character(data + at, &length));

		if (*columns + more > width)
			break;
		*columns += more;
		at += length;
	}
	return at;
}

/* Cuts the line that starts at the offset so that it fits the terminal. */
static void cut_line(struct buffer *out, size_t start, size_t width)
{
	size_t size = out->size - start, kept, taken, columns;
	char mark[sizeof("(+18446744073709551615 bytes)")];

	if (fit_columns(out->data + start, size, width, &columns) == size)
		return;
	/* The number in the final mark is smaller than this, so that mark is no longer. */
	taken = snprintf(mark, sizeof(mark), "(+%zu bytes)", size) + 1;
	kept = fit_columns(out->data + start, size, width > taken ? width - taken : 0, &columns);
	/* Half of an \xHH would be read as other text. */
	for (taken = 1; taken <= 3 && taken <= kept; taken++) {
		if (out->data[start + kept - taken] == '\\') {
			kept -= taken;
			break;
		}
	}
	out->size = start + kept;
	buffer__printf(out, "…(+%zu bytes)", size - kept);
}

/* A row that is being written. Blanks are written before the next cell, so none trail. */
struct row {
	struct buffer *out;
	size_t start;
	size_t blanks;
};

/* Finishes the cell of a column that starts at the offset. */
static void row__end_cell(struct row *row, const struct field *field, size_t start)
{
	struct buffer *out = row->out;
	size_t width = abs(field->width), heading = strlen(field->column), nr, pad;

	if (out->err)
		return;
	if (width < heading)
		width = heading;
	fit_columns(out->data + start, out->size - start, width, &nr);
	pad = nr < width ? width - nr : 0;
	if (!nr) {
		out->size = start - row->blanks;
		row->blanks += pad + 1;
	} else if (field->width < 0) {
		row->blanks = pad + 1;
	} else {
		buffer__insert_blanks(out, start, pad);
		row->blanks = 1;
	}
}

static size_t row__begin_cell(struct row *row)
{
	buffer__insert_blanks(row->out, row->out->size, row->blanks);
	return row->out->size;
}

static void row__end(struct row *row, size_t width)
{
	if (width && !row->out->err)
		cut_line(row->out, row->start, width);
	buffer__append_char(row->out, '\n');
}

static void append_heading(struct text_face *text, struct buffer *out)
{
	struct row row = { .out = out, .start = out->size };
	size_t i, start;

	for (i = 0; i < text->columns.nr; i++) {
		const struct field *field = text->columns.fields[i];

		start = row__begin_cell(&row);
		buffer__append_string(out, field->column);
		if (text->utc && field->unit == UNIT_WALL_NS)
			buffer__append_string(out, "(UTC)");
		row__end_cell(&row, field, start);
	}
	row__end(&row, text->face.width);
}

static void text__heading(struct face *face, struct buffer *out)
{
	struct text_face *text = (struct text_face *)face;

	if (!text->late_heading)
		append_heading(text, out);
}

/* Lines that stand for the whole record; what they hold is escaped already. */
static void append_block(struct text_face *text, struct buffer *out, const struct record *record)
{
	const struct value *block = &record->values[record->type->block - record->type->fields];

	if (block->kind == VALUE_ABSENT)
		return;
	buffer__append(out, block->bytes.data, block->bytes.size);
	text->in_rows = false;
}

static void text__record(struct face *face, struct buffer *out, const struct record *record)
{
	struct text_face *text = (struct text_face *)face;
	int type = columns__row(&text->columns, record->type);
	struct row row = { .out = out };
	size_t i, start;

	if (record->type->block) {
		append_block(text, out, record);
		return;
	}
	if (type < 0)
		return;
	if (text->late_heading && !text->in_rows)
		append_heading(text, out);
	text->in_rows = true;
	row.start = out->size;
	for (i = 0; i < text->columns.nr && !out->err; i++) {
		const struct field *field = text->columns.fields[i];
		struct value value = columns__value(&text->columns, i, type, record);

		start = row__begin_cell(&row);
		append_cell(text, out, field, &value);
		row__end_cell(&row, field, start);
	}
	row__end(&row, face->width);
}

static void text__free(struct face *face)
{
	columns__free(&((struct text_face *)face)->columns);
	free(face);
}

static int text__set_columns(struct text_face *text, const char *const *names)
{
	int err = 0;

	for (const char *const *name = names; *name && !err; name++) {
		err = columns__add(&text->columns, *name);
		if (!err && !text->columns.fields[text->columns.nr - 1]->column)
			err = -EINVAL;
		if (err)
			log_error(err, NULL, "cannot show '%s' as a column of text", *name);
	}
	return err;
}

static int text__table(struct face *face, struct buffer *out, const char *const *names)
{
	struct text_face *text = (struct text_face *)face;
	const struct record_type *const *rows = text->columns.rows;

	columns__free(&text->columns);
	text->columns = (struct columns){ .rows = rows };
	buffer__append_char(out, '\n');
	return text__set_columns(text, names);
}

int text__open(struct face **face, const struct sink_config *config)
{
	static const struct face_operations operations = {
		.heading = text__heading,
		.record = text__record,
		.table = text__table,
		.free = text__free,
	};
	struct text_face *text = calloc(1, sizeof(*text));
	int err = text ? 0 : -ENOMEM;

	if (err)
		return log_error(err, NULL, "cannot prepare the text output");
	text->face.operations = &operations;
	text->columns.rows = config->rows;
	text->quote_words = config->quote_words;
	text->late_heading = config->late_heading;
	text->utc = config->utc;
	text->second = -1;
	err = text__set_columns(text, config->columns);
	if (err) {
		text__free(&text->face);
		return err;
	}
	*face = &text->face;
	return 0;
}
