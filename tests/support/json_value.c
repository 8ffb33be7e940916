// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "json.h"

#include <stdlib.h>
#include <string.h>

int json_member__compare(const void *left, const void *right)
{
	const struct json_member *a = left, *b = right;
	size_t shorter = a->name_size < b->name_size ? a->name_size : b->name_size;
	int order = memcmp(a->name, b->name, shorter);

	if (order)
		return order;
	return a->name_size < b->name_size ? -1 : a->name_size > b->name_size;
}

const struct json_value *json__get(const struct json_value *value, const char *name)
{
	struct json_member key = { .name = name, .name_size = strlen(name) };
	const struct json_member *found;

	if (!value || value->kind != JSON_OBJECT || !value->object.nr)
		return NULL;
	found = bsearch(&key, value->object.members, value->object.nr, sizeof(key),
			json_member__compare);
	return found ? &found->value : NULL;
}

bool json__u64(const struct json_value *value, uint64_t *number)
{
	if (!value || value->kind != JSON_NUMBER || !value->number.is_integer ||
	    (value->number.negative && value->number.magnitude))
		return false;
	*number = value->number.magnitude;
	return true;
}

bool json__i64(const struct json_value *value, int64_t *number)
{
	uint64_t magnitude;

	if (!value || value->kind != JSON_NUMBER || !value->number.is_integer)
		return false;
	magnitude = value->number.magnitude;
	if (magnitude > (uint64_t)INT64_MAX + value->number.negative)
		return false;
	*number = (int64_t)(value->number.negative ? -magnitude : magnitude);
	return true;
}

const char *json__string(const struct json_value *value)
{
	if (!value || value->kind != JSON_STRING ||
	    strlen(value->string.data) != value->string.size)
		return NULL;
	return value->string.data;
}

bool json__is(const struct json_value *value, const char *text)
{
	const char *string = json__string(value);

	return string && !strcmp(string, text);
}
