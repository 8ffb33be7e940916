// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "stays.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int stay_rows__append(struct stay_rows *rows, const struct stay_row *row)
{
	if (rows->nr == rows->capacity) {
		size_t capacity = rows->capacity ? rows->capacity * 2 : 256;
		struct stay_row *items = reallocarray(rows->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		rows->items = items;
		rows->capacity = capacity;
	}
	rows->items[rows->nr++] = *row;
	return 0;
}

static void stay_row__add_value(struct stay_row *row, const struct offcputime_row *value,
				uint64_t interval)
{
	row->total_ns += value->total_ns;
	row->runnable_ns += value->runnable_ns;
	row->preempted_ns += value->preempted_ns;
	row->count += value->count;
	row->begun_before += value->begun_before;
	for (int i = 0; i < 2; i++)
		if (value->longest[i].interval >= interval && value->longest[i].ns > row->max_ns)
			row->max_ns = value->longest[i].ns;
}

int stay_rows__add(struct stay_rows *rows, const struct offcputime_key *key,
		   const struct offcputime_row *value, uint64_t interval)
{
	struct stay_row row = { .key = *key };

	stay_row__add_value(&row, value, interval);
	return stay_rows__append(rows, &row);
}

int stay_rows__add_open(struct stay_rows *rows, const struct offcputime_open *open)
{
	struct stay_row row = {
		.key = open->key,
		.total_ns = open->age_ns,
		.runnable_ns = open->runnable_ns,
		.preempted_ns = open->preempted ? open->age_ns : 0,
		.count = 1,
		.begun_before = open->begun_before,
		.max_ns = open->age_ns,
		.in_flight = true,
		.state = (enum offcputime_state)open->state,
	};

	return stay_rows__append(rows, &row);
}

int stay_rows__add_rest(struct stay_rows *rows, const struct offcputime_row *values, size_t nr_cpus,
			uint64_t interval)
{
	struct stay_row row = { .key.kernel_stack = STACK_NOT_KEPT, .is_rest = true };

	for (size_t cpu = 0; cpu < nr_cpus; cpu++)
		stay_row__add_value(&row, &values[cpu], interval);
	return row.count ? stay_rows__append(rows, &row) : 0;
}

static int compare_keys(const void *left, const void *right)
{
	const struct stay_row *a = left, *b = right;

	if (a->in_flight != b->in_flight)
		return a->in_flight - b->in_flight;
	if (a->is_rest != b->is_rest)
		return a->is_rest - b->is_rest;
	return memcmp(&a->key, &b->key, sizeof(a->key));
}

const char *const stay_by_names[] = {
	[STAY_BY_PID] = "pid",
	[STAY_BY_TID] = "tid",
	[STAY_BY_COMM] = "comm",
	[STAY_BY_STACK] = "stack",
	NULL,
};

void stay_rows__limit(struct stay_rows *rows, uint32_t by)
{
	for (size_t i = 0; i < rows->nr; i++) {
		struct offcputime_key *key = &rows->items[i].key;

		if (rows->items[i].in_flight || rows->items[i].is_rest)
			continue;
		if (!(by & 1U << STAY_BY_PID))
			key->pid = 0;
		if (!(by & 1U << STAY_BY_TID))
			key->tid = 0;
		if (!(by & 1U << STAY_BY_COMM))
			memset(key->comm, 0, sizeof(key->comm));
		if (!(by & 1U << STAY_BY_STACK))
			key->kernel_stack = key->user_stack = STACK_NONE;
	}
}

void stay_rows__subtract(struct stay_rows *rows, const struct stay_rows *before)
{
	size_t nr = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		struct stay_row row = rows->items[i];
		const struct stay_row *old = NULL;

		if (before->nr && !row.in_flight)
			old = bsearch(&row, before->items, before->nr, sizeof(row), compare_keys);
		if (old) {
			row.total_ns -= old->total_ns;
			row.runnable_ns -= old->runnable_ns;
			row.preempted_ns -= old->preempted_ns;
			row.count -= old->count;
			row.begun_before -= old->begun_before;
		}
		if (row.count)
			rows->items[nr++] = row;
	}
	rows->nr = nr;
}

int stay_rows__copy(struct stay_rows *copy, const struct stay_rows *rows)
{
	*copy = (struct stay_rows){ .items = reallocarray(NULL, rows->nr + 1, sizeof(*copy->items)),
				    .nr = rows->nr,
				    .capacity = rows->nr + 1 };
	if (!copy->items)
		return -ENOMEM;
	if (rows->nr)
		memcpy(copy->items, rows->items, rows->nr * sizeof(*copy->items));
	return 0;
}

void stay_rows__merge(struct stay_rows *rows)
{
	size_t nr = 0;

	if (rows->nr)
		qsort(rows->items, rows->nr, sizeof(*rows->items), compare_keys);
	for (size_t i = 0; i < rows->nr; i++) {
		const struct stay_row *row = &rows->items[i];
		struct stay_row *last = nr ? &rows->items[nr - 1] : NULL;

		if (!last || row->in_flight || compare_keys(last, row)) {
			rows->items[nr++] = *row;
			continue;
		}
		last->total_ns += row->total_ns;
		last->runnable_ns += row->runnable_ns;
		last->preempted_ns += row->preempted_ns;
		last->count += row->count;
		last->begun_before += row->begun_before;
		last->idle = last->idle && row->idle;
		if (row->max_ns > last->max_ns)
			last->max_ns = row->max_ns;
	}
	rows->nr = nr;
}

static int compare_times(const void *left, const void *right)
{
	const struct stay_row *a = left, *b = right;

	if (a->total_ns != b->total_ns)
		return a->total_ns < b->total_ns ? -1 : 1;
	return compare_keys(a, b);
}

void stay_rows__sort(struct stay_rows *rows)
{
	if (rows->nr)
		qsort(rows->items, rows->nr, sizeof(*rows->items), compare_times);
}

void stay_rows__free(struct stay_rows *rows)
{
	free(rows->items);
	*rows = (struct stay_rows){};
}
