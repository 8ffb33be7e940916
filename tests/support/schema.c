// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct reason {
	char *text;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static bool refuse(const struct reason *why,
							 const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, why->size, format, args);
	va_end(args);
	return false;
}

/* Puts "name: " before the reason, so that it reads as a path to the place. */
static bool refuse_inside(const struct reason *why, const char *name)
{
	char text[512];

	snprintf(text, sizeof(text), "%s: %s", name, why->text);
	return refuse(why, "%s", text);
}

static bool is_one_of(const char *word, const char *const *words)
{
	while (*words && strcmp(*words, word))
		words++;
	return *words;
}

static bool is_known(const struct json_value *schema, const struct reason *why);

static bool each_is_known(const struct json_value *list, const struct reason *why)
{
	if (list->kind == JSON_ARRAY) {
		for (size_t i = 0; i < list->array.nr; i++)
			if (!is_known(&list->array.items[i], why))
				return false;
		return true;
	}
	if (list->kind != JSON_OBJECT)
		return refuse(why, "a list of schemas is due");
	for (size_t i = 0; i < list->object.nr; i++)
		if (!is_known(&list->object.members[i].value, why))
			return refuse_inside(why, list->object.members[i].name);
	return true;
}

static bool is_known(const struct json_value *schema, const struct reason *why)
{
	static const char *const plain[] = { "$schema",	    "$id",	"$comment", "title",
					     "description", "type",	"const",    "minimum",
					     "maximum",	    "required", NULL };
	static const char *const single[] = { "items", "additionalProperties", NULL };
	static const char *const several[] = { "oneOf", "properties", NULL };

	if (schema->kind == JSON_BOOL)
		return true;
	if (schema->kind != JSON_OBJECT)
		return refuse(why, "a schema is an object or a boolean");
	for (size_t i = 0; i < schema->object.nr; i++) {
		const struct json_member *member = &schema->object.members[i];

		if (is_one_of(member->name, plain))
			continue;
		if (is_one_of(member->name, single)) {
			if (!is_known(&member->value, why))
				return refuse_inside(why, member->name);
		} else if (is_one_of(member->name, several)) {
			if (!each_is_known(&member->value, why))
				return refuse_inside(why, member->name);
		} else {
			return refuse(why, "the keyword \"%s\" is not known here", member->name);
		}
	}
	return true;
}

bool schema__is_known(const struct json_value *schema, char *why, size_t why_size)
{
	return is_known(schema, &(struct reason){ why, why_size });
}

static bool has_type(const struct json_value *value, const char *type)
{
	switch (value->kind) {
	case JSON_NULL:
		return !strcmp(type, "null");
	case JSON_BOOL:
		return !strcmp(type, "boolean");
	case JSON_NUMBER:
		return !strcmp(type, "number") ||
		       (!strcmp(type, "integer") && value->number.is_integer);
	case JSON_STRING:
		return !strcmp(type, "string");
	case JSON_ARRAY:
		return !strcmp(type, "array");
	case JSON_OBJECT:
		return !strcmp(type, "object");
	}
	return false;
}

static bool accepts_type(const struct json_value *type, const struct json_value *value,
			 const struct reason *why)
{
	if (type->kind == JSON_ARRAY) {
		for (size_t i = 0; i < type->array.nr; i++)
			if (has_type(value, type->array.items[i].string.data))
				return true;
		return refuse(why, "none of the types allowed");
	}
	return has_type(value, type->string.data) || refuse(why, "expected %s", type->string.data);
}

static bool accepts_const(const struct json_value *expected, const struct json_value *value,
			  const struct reason *why)
{
	bool same = expected->kind == value->kind;

	if (same && expected->kind == JSON_STRING)
		same = expected->string.size == value->string.size &&
		       !memcmp(expected->string.data, value->string.data, value->string.size);
	else if (same && expected->kind == JSON_BOOL)
		same = expected->truth == value->truth;
	else if (same && expected->kind == JSON_NUMBER)
		same = expected->number.is_integer && value->number.is_integer &&
		       expected->number.negative == value->number.negative &&
		       expected->number.magnitude == value->number.magnitude;
	else if (same && expected->kind != JSON_NULL)
		return refuse(why, "const of an array or object is not known here");
	return same || refuse(why, "not the constant");
}

/* -1, 0, 1 as left is below, equal to or above right. Both are integers. */
static int compare_integers(const struct json_value *left, const struct json_value *right)
{
	bool left_below = left->number.negative && left->number.magnitude;
	bool right_below = right->number.negative && right->number.magnitude;
	int order = left->number.magnitude < right->number.magnitude ?
			    -1 :
			    left->number.magnitude > right->number.magnitude;

	if (left_below != right_below)
		return left_below ? -1 : 1;
	return left_below ? -order : order;
}

static bool accepts_bound(const struct json_value *bound, int wrong_order,
			  const struct json_value *value, const struct reason *why)
{
	if (value->kind != JSON_NUMBER)
		return true;
	/* Of a fraction only the sign is kept. */
	if (bound->number.is_integer && !bound->number.magnitude && !value->number.is_integer)
		return (value->number.negative ? -1 : 1) != wrong_order ||
		       refuse(why, "outside its bound");
	if (!bound->number.is_integer || !value->number.is_integer)
		return refuse(why, "a bound on a number that is no integer is not known here");
	return compare_integers(value, bound) != wrong_order || refuse(why, "outside its bound");
}

static bool accepts_required(const struct json_value *required, const struct json_value *value,
			     const struct reason *why)
{
	if (value->kind != JSON_OBJECT)
		return true;
	for (size_t i = 0; i < required->array.nr; i++)
		if (!json__get(value, required->array.items[i].string.data))
			return refuse(why, "\"%s\" is missing",
				      required->array.items[i].string.data);
	return true;
}

static bool accepts_members(const struct json_value *schema, const struct json_value *value,
			    const struct reason *why)
{
	const struct json_value *properties = json__get(schema, "properties");
	const struct json_value *others = json__get(schema, "additionalProperties");

	if (value->kind != JSON_OBJECT)
		return true;
	for (size_t i = 0; i < value->object.nr; i++) {
		const struct json_member *member = &value->object.members[i];
		const struct json_value *rule = json__get(properties, member->name);

		if (!rule)
			rule = others;
		if (rule && !schema__accepts(rule, &member->value, why->text, why->size))
			return refuse_inside(why, member->name);
	}
	return true;
}

static bool accepts_items(const struct json_value *schema, const struct json_value *value,
			  const struct reason *why)
{
	const struct json_value *rule = json__get(schema, "items");

	if (!rule || value->kind != JSON_ARRAY)
		return true;
	for (size_t i = 0; i < value->array.nr; i++)
		if (!schema__accepts(rule, &value->array.items[i], why->text, why->size))
			return refuse_inside(why, "item");
	return true;
}

static bool accepts_one_of(const struct json_value *branches, const struct json_value *value,
			   const struct reason *why)
{
	const struct json_value *type = json__get(value, "type");
	char reason[512], best[512] = "no such type";
	unsigned int nr_valid = 0;

	for (size_t i = 0; i < branches->array.nr; i++) {
		const struct json_value *branch = &branches->array.items[i];
		const struct json_value *name = json__get(
			json__get(json__get(branch, "properties"), "type"), "const");

		if (schema__accepts(branch, value, reason, sizeof(reason)))
			nr_valid++;
		else if (type && json__string(name) && json__is(type, json__string(name)))
			snprintf(best, sizeof(best), "%s", reason);
	}
	if (nr_valid > 1)
		return refuse(why, "valid by %u branches of oneOf", nr_valid);
	return nr_valid || refuse(why, "%s", best);
}

bool schema__accepts(const struct json_value *schema, const struct json_value *value, char *why,
		     size_t why_size)
{
	const struct reason reason = { why, why_size };
	const struct json_value *rule;

	if (schema->kind == JSON_BOOL)
		return schema->truth || refuse(&reason, "not allowed here");
	rule = json__get(schema, "type");
	if (rule && !accepts_type(rule, value, &reason))
		return false;
	rule = json__get(schema, "const");
	if (rule && !accepts_const(rule, value, &reason))
		return false;
	rule = json__get(schema, "minimum");
	if (rule && !accepts_bound(rule, -1, value, &reason))
		return false;
	rule = json__get(schema, "maximum");
	if (rule && !accepts_bound(rule, 1, value, &reason))
		return false;
	rule = json__get(schema, "required");
	if (rule && !accepts_required(rule, value, &reason))
		return false;
	rule = json__get(schema, "oneOf");
	if (rule && !accepts_one_of(rule, value, &reason))
		return false;
	return accepts_members(schema, value, &reason) && accepts_items(schema, value, &reason);
}
