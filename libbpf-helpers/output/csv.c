// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "output/columns.h"
#include "output/face.h"
#include "output/text.h"
#include "run/log.h"

struct csv_face {
	struct face face;
	struct columns columns;
	bool quote_words;
};

/* Puts what stands from the offset on in quotes and doubles those inside (RFC 4180, 2.5-2.7). */
static void quote(struct buffer *out, size_t start)
{
	size_t size = out->size - start, nr = 2, i;
	char *from, *to;

	for (i = 0; i < size; i++)
		nr += out->data[start + i] == '"';
	if (!buffer__reserve(out, nr))
		return;

	/* From the end, as it grows in its place. */
	from = out->data + out->size;
	out->size += nr;
	to = out->data + out->size;
	*--to = '"';
	while (from > out->data + start) {
		*--to = *--from;
		if (*from == '"')
			*--to = '"';
	}
	*--to = '"';
}

/* Escaping has left no newline that could need quotes. */
static bool needs_quotes(const char *data, size_t size)
{
	return size && (memchr(data, ',', size) || memchr(data, '"', size));
}

static void csv__heading(struct face *face, struct buffer *out)
{
	struct csv_face *csv = (struct csv_face *)face;
	size_t i;

	for (i = 0; i < csv->columns.nr; i++) {
		if (i)
			buffer__append_char(out, ',');
		buffer__append_string(out, csv->columns.fields[i]->name);
	}
	buffer__append_char(out, '\n');
}

static void csv__record(struct face *face, struct buffer *out, const struct record *record)
{
	struct csv_face *csv = (struct csv_face *)face;
	int row = columns__row(&csv->columns, record->type);
	size_t i, start;

	if (row < 0)
		return;
	for (i = 0; i < csv->columns.nr && !out->err; i++) {
		struct value value = columns__value(&csv->columns, i, row, record);

		if (i)
			buffer__append_char(out, ',');
		if (value.kind == VALUE_ABSENT)
			continue;
		start = out->size;
		text__append_value(out, csv->columns.fields[i], &value, csv->quote_words);
		if (value.kind >= VALUE_NUMBERS ||
		    needs_quotes(out->data + start, out->size - start))
			quote(out, start);
	}
	buffer__append_char(out, '\n');
}

static void csv__free(struct face *face)
{
	columns__free(&((struct csv_face *)face)->columns);
	free(face);
}

static int csv__add_fields(struct csv_face *csv, const struct record_type *type)
{
	size_t i;
	int err;

	for (i = 0; i < type->nr_fields; i++) {
		const struct field *field = &type->fields[i];

		if (field->text_only || columns__has(&csv->columns, field->name))
			continue;
		err = columns__add(&csv->columns, field->name);
		if (err)
			return err;
	}
	return 0;
}

int csv__open(struct face **face, const struct sink_config *config)
{
	static const struct face_operations operations = {
		.heading = csv__heading,
		.record = csv__record,
		.free = csv__free,
	};
	struct csv_face *csv = calloc(1, sizeof(*csv));
	const struct record_type *const *type;
	int err;

	if (!csv)
		return log_error(ENOMEM, NULL, "cannot prepare the CSV output");
	csv->face.operations = &operations;
	csv->columns.rows = config->rows;
	csv->quote_words = config->quote_words;
	err = columns__add(&csv->columns, "type");
	for (type = config->rows; *type && !err; type++)
		err = csv__add_fields(csv, *type);
	if (err) {
		csv__free(&csv->face);
		return log_error(err, NULL, "cannot prepare the CSV output");
	}
	*face = &csv->face;
	return 0;
}
