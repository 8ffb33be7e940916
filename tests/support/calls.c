// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "calls.h"

#include <stdio.h>
#include <string.h>

#include "test.h"

static uint64_t number_of(const struct json_value *record, const char *name)
{
	uint64_t number;

	return json__u64(json__get(record, name), &number) ? number : 0;
}

static uint64_t sum_of_buckets(const struct json_value *record, const uint64_t *value)
{
	const struct json_value *buckets = json__get(record, "buckets");
	uint64_t sum = 0;

	for (size_t i = 0; buckets && buckets->kind == JSON_ARRAY && i < buckets->array.nr; i++) {
		const struct json_value *bucket = &buckets->array.items[i];

		if (value && (*value < number_of(bucket, "ge") ||
			      (json__get(bucket, "lt") && *value >= number_of(bucket, "lt"))))
			continue;
		sum += number_of(bucket, "count");
	}
	return sum;
}

struct calls calls__of(const struct records *records, const char *comm)
{
	const struct json_value *record;
	struct calls calls = { 0 };
	size_t index = 0;

	while ((record = records__next(records, "histogram", 0, &index))) {
		if (comm && !json__is(json__get(json__get(record, "key"), "comm"), comm))
			continue;
		calls.histograms++;
		calls.count += number_of(record, "count");
		calls.sum_ns += number_of(record, "sum_ns");
		calls.min_ns = number_of(record, "min_ns");
		if (number_of(record, "max_ns") > calls.max_ns)
			calls.max_ns = number_of(record, "max_ns");
		if (sum_of_buckets(record, NULL) != number_of(record, "count"))
			test__check(false, "the buckets hold what the count says",
				    "%" PRIu64 " and %" PRIu64, sum_of_buckets(record, NULL),
				    number_of(record, "count"));
	}
	return calls;
}

uint64_t calls__by_call(const struct records *records, const char *func, const char *ret)
{
	const struct json_value *record, *key;
	uint64_t count = 0;
	size_t index = 0;

	while ((record = records__next(records, "histogram", 0, &index))) {
		key = json__get(record, "key");
		if ((!func || json__is(json__get(key, "func"), func)) &&
		    (!ret || json__is(json__get(key, "ret"), ret)))
			count += number_of(record, "count");
	}
	return count;
}

uint64_t calls__at(const struct records *records, uint64_t value)
{
	const struct json_value *record;
	uint64_t sum = 0;
	size_t index = 0;

	while ((record = records__next(records, "histogram", 0, &index)))
		sum += sum_of_buckets(record, &value);
	return sum;
}

uint64_t account__missed(const struct json_value *account, const char *program)
{
	return number_of(json__get(account, "missed"), program);
}

bool kernel__has(const char *wanted)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], name[128], type;
	bool found = false;

	if (!file)
		test__fatal("kallsyms", "cannot be read");
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %c %127s", &type, name) == 2 && !strcmp(name, wanted);
	fclose(file);
	return found;
}
