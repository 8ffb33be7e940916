// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/sink.h"

#include <errno.h>

#include "output/buffer.h"
#include "output/json.h"
#include "run/log.h"

static void append_string(struct buffer *out, const char *string)
{
	json__append_string(out, string, strlen(string));
}

static void append_indent(struct buffer *out, unsigned int depth)
{
	buffer__append_char(out, '\n');
	while (depth--)
		buffer__append(out, "  ", 2);
}

static void append_object(struct buffer *out, const struct record_type *type, size_t from,
			  const char *type_name, unsigned int depth);
static void append_object_members(struct buffer *out, const struct record_type *type, size_t from,
				  const char *type_name, unsigned int depth);

/* The members that say what values a field has. */
static void append_kind(struct buffer *out, const struct field *field, unsigned int depth)
{
	switch (field->kind) {
	case VALUE_ABSENT:
		break;
	case VALUE_UNSIGNED:
		buffer__append_string(out, "\"type\": \"integer\", \"minimum\": 0");
		break;
	case VALUE_SIGNED:
		buffer__append_string(out, "\"type\": \"integer\"");
		break;
	case VALUE_DECIMAL:
		buffer__append_string(out, "\"type\": \"number\", \"minimum\": 0");
		break;
	case VALUE_BOOL:
		buffer__append_string(out, "\"type\": \"boolean\"");
		break;
	case VALUE_BYTES:
		buffer__append_string(out, "\"type\": \"string\"");
		break;
	case VALUE_WORDS:
		buffer__append_string(out, "\"type\": \"array\", \"items\": "
					   "{\"type\": [\"string\", \"null\"]}");
		break;
	case VALUE_NUMBERS:
		buffer__append_string(
			out,
			"\"type\": \"array\", \"items\": {\"type\": \"integer\", \"minimum\": 0}");
		break;
	case VALUE_COUNTS:
		buffer__append_string(out, "\"type\": \"object\", \"additionalProperties\": "
					   "{\"type\": [\"integer\", \"null\"], \"minimum\": 0}");
		break;
	case VALUE_OBJECT:
		append_object_members(out, field->of, 0, NULL, depth);
		break;
	case VALUE_RECORDS:
		buffer__append_string(
			out, field->named ? "\"type\": \"object\", \"additionalProperties\": " :
					    "\"type\": \"array\", \"items\": ");
		append_object(out, field->of, field->named ? 1 : 0, NULL, depth + 1);
		break;
	}
}

static void append_property(struct buffer *out, const struct field *field, unsigned int depth)
{
	append_indent(out, depth);
	append_string(out, field->name);
	buffer__append_string(out, ": {\"description\": ");
	append_string(out, field->meaning);
	buffer__append_string(out, ", ");
	append_kind(out, field, depth);
	buffer__append_char(out, '}');
}

static void append_required(struct buffer *out, const struct record_type *type, size_t from,
			    bool with_type)
{
	const char *separator = with_type ? ", " : "";
	size_t i;

	buffer__append_string(out, "\"required\": [");
	if (with_type)
		append_string(out, "type");
	for (i = from; i < type->nr_fields; i++) {
		if (!type->fields[i].required || type->fields[i].text_only)
			continue;
		buffer__append_string(out, separator);
		append_string(out, type->fields[i].name);
		separator = ", ";
	}
	buffer__append_string(out, "],");
}

/* The schema of a record's object: its fields from number `from` on; type_name: the member
 * "type", which only whole lines have, or NULL. */
/* All of an object's schema but its description and the braces. */
static void append_object_members(struct buffer *out, const struct record_type *type, size_t from,
				  const char *type_name, unsigned int depth)
{
	const char *separator = "";
	size_t i;

	buffer__append_string(out, "\"type\": \"object\",");
	append_indent(out, depth + 1);
	buffer__append_string(out, "\"properties\": {");
	if (type_name) {
		append_indent(out, depth + 2);
		buffer__append_string(out, "\"type\": {\"const\": ");
		append_string(out, type_name);
		buffer__append_char(out, '}');
		separator = ",";
	}
	for (i = from; i < type->nr_fields; i++) {
		if (type->fields[i].text_only)
			continue;
		buffer__append_string(out, separator);
		append_property(out, &type->fields[i], depth + 2);
		separator = ",";
	}
	append_indent(out, depth + 1);
	buffer__append_string(out, "},");
	append_indent(out, depth + 1);
	append_required(out, type, from, type_name);
	append_indent(out, depth + 1);
	buffer__append_string(out, "\"additionalProperties\": false");
}

static void append_object(struct buffer *out, const struct record_type *type, size_t from,
			  const char *type_name, unsigned int depth)
{
	buffer__append_char(out, '{');
	append_indent(out, depth + 1);
	buffer__append_string(out, "\"description\": ");
	append_string(out, type->meaning);
	buffer__append_char(out, ',');
	append_indent(out, depth + 1);
	append_object_members(out, type, from, type_name, depth);
	append_indent(out, depth);
	buffer__append_char(out, '}');
}

static void append_schema(struct buffer *out, const char *tool,
			  const struct record_type *const *types)
{
	size_t i;

	buffer__append_string(out, "{\n"
				   "  \"$schema\": "
				   "\"https://json-schema.org/draft/2020-12/schema\",\n"
				   "  \"title\": ");
	append_string(out, tool);
	buffer__append_string(out, ",\n"
				   "  \"description\": "
				   "\"What each line is that the tool writes as JSON.\",\n"
				   "  \"oneOf\": [");
	for (i = 0; types[i]; i++) {
		if (i)
			buffer__append_char(out, ',');
		append_indent(out, 2);
		append_object(out, types[i], 0, types[i]->name, 2);
	}
	buffer__append_string(out, "\n  ]\n}\n");
}

int sink__print_schema(FILE *out, const char *tool, const struct record_type *const *types)
{
	struct buffer schema = { 0 };
	int err;

	append_schema(&schema, tool, types);
	err = schema.err;
	if (!err && (fwrite(schema.data, 1, schema.size, out) != schema.size || fflush(out)))
		err = -errno;
	buffer__free(&schema);
	/* As from the sink: a reader that has gone is no news. */
	if (err && err != -EPIPE)
		log_error(err, NULL, "cannot print the JSON Schema");
	return err;
}
