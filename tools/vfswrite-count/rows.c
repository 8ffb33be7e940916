// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "rows.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

const char *const rows_order_names[] = {
	[ROWS_BY_CALLS] = "calls",
	[ROWS_BY_BYTES] = "bytes",
	[ROWS_BY_ERRORS] = "errors",
	NULL,
};

/* A failure with the key that it belongs to. */
struct keyed_error {
	struct vfswrite_key key; /* as it is compared */
	struct vfswrite_key raw; /* as the table has it */
	struct row_error error;
};

static int compare_bytes(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct vfswrite_key));
}

/* A key without what the row only shows: processes have their ids, and may change their names. */
static struct vfswrite_key identity_of(const struct vfswrite_key *key, uint32_t by)
{
	struct vfswrite_key identity = *key;

	if (!(by & 1U << VFSWRITE_BY_COMM))
		memset(identity.comm, 0, sizeof(identity.comm));
	return identity;
}

/* The key as it is reported. Older kernels leave the end of a longer name behind that of a shorter
 * one. */
static struct vfswrite_key whole_key(const void *data, const struct rows_source *source, int *err)
{
	struct vfswrite_key key = {};
	size_t length;

	memcpy(&key, data, source->key_size);
	length = strnlen(key.comm, sizeof(key.comm));
	memset(key.comm + length, 0, sizeof(key.comm) - length);
	if (source->places)
		key.place = places__same(source->places, key.place, err);
	return key;
}

static struct row read_row(const char *entry, const struct rows_source *source, int *err)
{
	struct row row = { .key = whole_key(entry, source, err) };
	struct vfswrite_row value;

	for (size_t cpu = 0; cpu < source->nr_cpus; cpu++) {
		memcpy(&value, entry + source->key_size + cpu * sizeof(value), sizeof(value));
		row.calls += value.calls;
		row.results += value.results;
		row.bytes += value.bytes;
	}
	row.name_calls = row.calls;
	return row;
}

/* Puts the rows of one identity together; keeps the name with the most calls. */
static void row__merge(struct row *row, const struct row *other)
{
	row->calls += other->calls;
	row->results += other->results;
	row->bytes += other->bytes;
	if (other->name_calls <= row->name_calls)
		return;
	row->name_calls = other->name_calls;
	memcpy(row->key.comm, other->key.comm, sizeof(row->key.comm));
}

/* While rows are put together, their keys stand beside them: as they are compared, and as the
 * table has them. */
struct named_row {
	struct vfswrite_key identity;
	struct vfswrite_key raw;
	struct row row;
};

static int compare_named(const void *left, const void *right)
{
	return memcmp(left, right, offsetof(struct named_row, row));
}

/* What one entry held when it was met for the second time, or the first: the later one. */
static void row__take_later(struct row *row, const struct row *other)
{
	if (other->calls > row->calls || other->results > row->results)
		*row = *other;
}

static size_t merge_rows(struct named_row *items, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (i + 1 < nr && !compare_named(&items[i], &items[i + 1]))
			row__take_later(&items[i + 1].row, &items[i].row);
		else if (kept && !compare_bytes(&items[kept - 1], &items[i]))
			row__merge(&items[kept - 1].row, &items[i].row);
		else
			items[kept++] = items[i];
	}
	return kept;
}

/* The counts of hot rows, which are beside those of the row with their key. Returns how many. */
static size_t add_hot(struct named_row *items, const struct rows_source *source, int *err)
{
	size_t nr = 0;

	for (size_t i = 0; i < source->nr_hot; i++) {
		const struct vfswrite_hot *hot = &source->hot[i];

		if (!hot->words[0])
			continue;
		items[nr].row = (struct row){
			.key = whole_key(hot->words, source, err),
			.calls = hot->row.calls,
			.results = hot->row.results,
			.bytes = hot->row.bytes,
			.name_calls = hot->row.calls,
		};
		items[nr].identity = identity_of(&items[nr].row.key, source->by);
		/* None of them is met twice. */
		items[nr++].raw.place = (__u32)i + 1;
	}
	return nr;
}

static int read_named(struct rows *rows, const struct rows_source *source)
{
	size_t size = source->key_size + source->nr_cpus * sizeof(struct vfswrite_row);
	size_t nr = source->nr_rows;
	int err = 0;
	struct named_row *items = calloc(nr + source->nr_hot + 1, sizeof(*items));

	rows->items = calloc(nr + source->nr_hot + 1, sizeof(*rows->items));
	if (!items || !rows->items) {
		free(items);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		items[i].row = read_row((const char *)source->rows + i * size, source, &err);
		items[i].identity = identity_of(&items[i].row.key, source->by);
		memcpy(&items[i].raw, (const char *)source->rows + i * size, source->key_size);
	}
	nr += add_hot(&items[nr], source, &err);
	qsort(items, nr, sizeof(*items), compare_named);
	rows->nr = merge_rows(items, nr);
	for (size_t i = 0; i < rows->nr; i++)
		rows->items[i] = items[i].row;
	free(items);
	return err;
}

static int compare_errors(const void *left, const void *right)
{
	const struct keyed_error *a = left, *b = right;
	int order = compare_bytes(a, b);

	if (!order && a->error.error != b->error.error)
		order = a->error.error < b->error.error ? -1 : 1;
	return order ? order : compare_bytes(&a->raw, &b->raw);
}

/* The same failure of one row, maybe of another of its names. */
static bool is_same_error(const struct keyed_error *left, const struct keyed_error *right)
{
	return !compare_bytes(left, right) && left->error.error == right->error.error;
}

static size_t merge_errors(struct keyed_error *items, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (i + 1 < nr && !compare_errors(&items[i], &items[i + 1])) {
			/* One entry that was met twice. */
			if (items[i + 1].error.count < items[i].error.count)
				items[i + 1].error.count = items[i].error.count;
		} else if (kept && is_same_error(&items[kept - 1], &items[i])) {
			items[kept - 1].error.count += items[i].error.count;
		} else {
			items[kept++] = items[i];
		}
	}
	return kept;
}

/* Gives each row its causes. Both lists are in the order of the identities. */
static void hand_out(struct rows *rows, const struct keyed_error *items, size_t nr, uint32_t by)
{
	size_t at = 0;

	for (size_t i = 0; i < nr; i++)
		rows->causes[i] = items[i].error;
	for (size_t i = 0; i < rows->nr; i++) {
		struct vfswrite_key identity = identity_of(&rows->items[i].key, by);
		struct row *row = &rows->items[i];

		while (at < nr && compare_bytes(&items[at], &identity) < 0)
			at++;
		row->causes = &rows->causes[at];
		for (; at < nr && !compare_bytes(&items[at], &identity); at++) {
			row->nr_causes++;
			row->errors += items[at].error.count;
		}
	}
}

static int read_errors(struct rows *rows, const struct rows_source *source)
{
	const size_t head = offsetof(struct vfswrite_error_key, key);
	size_t size = head + source->key_size + sizeof(uint64_t), nr = source->nr_errors;
	struct keyed_error *items = calloc(nr + 1, sizeof(*items));
	int err = 0;

	rows->causes = calloc(nr + 1, sizeof(*rows->causes));
	if (!items || !rows->causes) {
		free(items);
		return -ENOMEM;
	}
	for (size_t i = 0; i < nr; i++) {
		const char *entry = (const char *)source->errors + i * size;
		struct vfswrite_key key = whole_key(entry + head, source, &err);

		items[i].key = identity_of(&key, source->by);
		memcpy(&items[i].raw, entry + head, source->key_size);
		memcpy(&items[i].error.error, entry, sizeof(items[i].error.error));
		memcpy(&items[i].error.count, entry + head + source->key_size,
		       sizeof(items[i].error.count));
	}
	qsort(items, nr, sizeof(*items), compare_errors);
	nr = merge_errors(items, nr);
	hand_out(rows, items, nr, source->by);
	free(items);
	return err;
}

int rows__read(struct rows *rows, const struct rows_source *source)
{
	int err;

	*rows = (struct rows){ .by = source->by };
	err = read_named(rows, source);
	if (!err)
		err = read_errors(rows, source);
	if (err)
		rows__free(rows);
	return err;
}

static const struct row *rows__find(const struct rows *rows, const struct vfswrite_key *key)
{
	struct vfswrite_key wanted = identity_of(key, rows->by);
	size_t first = 0, last = rows->nr;

	while (first < last) {
		size_t middle = first + (last - first) / 2;
		struct vfswrite_key here = identity_of(&rows->items[middle].key, rows->by);
		int order = compare_bytes(&wanted, &here);

		if (!order)
			return &rows->items[middle];
		if (order < 0)
			last = middle;
		else
			first = middle + 1;
	}
	return NULL;
}

static uint64_t row__count_of(const struct row *row, uint32_t error)
{
	for (size_t i = 0; row && i < row->nr_causes; i++)
		if (row->causes[i].error == error)
			return row->causes[i].count;
	return 0;
}

/* Takes from now what was there before; causes: room for those of the row. Returns how many of
 * them are left. */
static size_t row__subtract(struct row *row, const struct row *now, const struct row *before,
			    struct row_error *causes)
{
	static const struct row none;
	const struct row *then = before ? before : &none;

	*row = *now;
	row->calls -= then->calls;
	row->results -= then->results;
	row->bytes -= then->bytes;
	row->errors -= then->errors;
	row->causes = causes;
	row->nr_causes = 0;
	for (size_t i = 0; i < now->nr_causes; i++) {
		uint64_t count = now->causes[i].count - row__count_of(then, now->causes[i].error);

		if (count)
			causes[row->nr_causes++] = (struct row_error){ now->causes[i].error,
								       count };
	}
	return row->nr_causes;
}

static int compare_numbers(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

/* What does not differ by the first number is in order by the calls, then by the keys. */
static int compare_rows(const void *left, const void *right, void *order)
{
	const struct row *a = left, *b = right;
	int result = 0;

	if (*(enum rows_order *)order == ROWS_BY_BYTES)
		result = compare_numbers(a->bytes, b->bytes);
	else if (*(enum rows_order *)order == ROWS_BY_ERRORS)
		result = compare_numbers(a->errors, b->errors);
	if (!result)
		result = compare_numbers(a->calls, b->calls);
	return result ? result : compare_bytes(&a->key, &b->key);
}

int rows__subtract(struct rows *difference, const struct rows *now, const struct rows *before,
		   enum rows_order order)
{
	size_t nr_causes = 0;

	for (size_t i = 0; i < now->nr; i++)
		nr_causes += now->items[i].nr_causes;
	*difference = (struct rows){
		.items = calloc(now->nr + 1, sizeof(*difference->items)),
		.causes = calloc(nr_causes + 1, sizeof(*difference->causes)),
		.by = now->by,
	};
	if (!difference->items || !difference->causes) {
		rows__free(difference);
		return -ENOMEM;
	}
	nr_causes = 0;
	for (size_t i = 0; i < now->nr; i++) {
		struct row *row = &difference->items[difference->nr];

		nr_causes += row__subtract(row, &now->items[i],
					   rows__find(before, &now->items[i].key),
					   &difference->causes[nr_causes]);
		if (row->calls || row->results || row->bytes || row->errors)
			difference->nr++;
	}
	qsort_r(difference->items, difference->nr, sizeof(*difference->items), compare_rows,
		&order);
	return 0;
}

struct row rows__total(const struct rows *rows)
{
	struct row total = {};

	for (size_t i = 0; i < rows->nr; i++) {
		total.calls += rows->items[i].calls;
		total.results += rows->items[i].results;
		total.bytes += rows->items[i].bytes;
		total.errors += rows->items[i].errors;
	}
	return total;
}

void rows__free(struct rows *rows)
{
	free(rows->items);
	free(rows->causes);
	*rows = (struct rows){};
}
