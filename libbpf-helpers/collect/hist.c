// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/hist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "collect/table.h"
#include "collect/maps.h"
#include "run/log.h"

/* A row as read: the key first, as table__read() lays it out. */
struct row {
	struct hist_row_key key;
	struct hist_row value;
};

/* What the kernel held for one key, summed over the CPUs. */
struct key_state {
	struct hist_key key;
	char name[HIST_NAME_SIZE];
	__u64 named_ns;
	uint64_t sum;
	uint64_t count; /* of this interval, from its rows */
	uint64_t measure; /* what it is put in order by */
	size_t first_row;
	size_t nr_rows;
	struct hist_extremes own;
	struct hist_extremes near;
};

/* All that was read at one time, both lists in the order of their keys. */
struct state {
	struct key_state *keys;
	size_t nr_keys;
	struct row *rows;
	size_t nr_rows;
};

struct hist_reader {
	struct hist_source source;
	int nr_cpus;
	struct hist before; /* the whole, as it was last seen */
	struct hist *cpus; /* the whole, by CPU */
	struct state last; /* the keyed ones */
};

struct hist_reader *hist_reader__new(const struct hist_source *source)
{
	struct hist_reader *reader = calloc(1, sizeof(*reader));
	int nr_cpus = libbpf_num_possible_cpus();

	if (!reader || nr_cpus < 0) {
		free(reader);
		return NULL;
	}
	reader->source = *source;
	reader->nr_cpus = nr_cpus;
	if (source->keyed)
		return reader;
	reader->cpus = calloc(nr_cpus, sizeof(*reader->cpus));
	if (reader->cpus)
		return reader;
	free(reader);
	return NULL;
}

static void state__free(struct state *state)
{
	free(state->keys);
	free(state->rows);
	*state = (struct state){};
}

void hist_reader__free(struct hist_reader *reader)
{
	if (!reader)
		return;
	state__free(&reader->last);
	free(reader->cpus);
	free(reader);
}

static void extremes__widen(struct hist_extremes *all, const struct hist_extremes *one)
{
	if (!all->interval) {
		*all = *one;
		return;
	}
	if (one->min < all->min)
		all->min = one->min;
	if (one->max > all->max)
		all->max = one->max;
}

/* Sorts what one CPU holds into the interval's own and its neighbours'. */
static void extremes__take(const struct hist_stats *stats, uint64_t interval,
			   struct hist_extremes *own, struct hist_extremes *near)
{
	for (int i = 0; i < 2; i++) {
		const struct hist_extremes *held = &stats->extremes[i];

		if (held->interval == interval)
			extremes__widen(own, held);
		else if (held->interval && held->interval + 1 >= interval)
			extremes__widen(near, held);
	}
}

/* Counts the interval up; returns the number of the one that has ended. */
static uint64_t hist_reader__end_interval(struct hist_reader *reader)
{
	return __atomic_fetch_add(reader->source.interval, 1, __ATOMIC_SEQ_CST);
}

static int hist_reader__read_total(struct hist_reader *reader, bool cumulative, hist_fn fn,
				   void *ctx)
{
	uint64_t interval = hist_reader__end_interval(reader);
	struct hist_reading reading = {};
	struct hist *hist = &reading.hist, now = {};
	__u32 zero = 0;
	int err;

	err = bpf_map__lookup_elem(reader->source.total, &zero, sizeof(zero), reader->cpus,
				   reader->nr_cpus * sizeof(*reader->cpus), 0);
	if (err)
		return log_error(err, NULL, "cannot read the histogram from the kernel");
	for (int cpu = 0; cpu < reader->nr_cpus; cpu++) {
		const struct hist *one = &reader->cpus[cpu];

		now.stats.sum += one->stats.sum;
		for (int slot = 0; slot < HIST_SLOTS; slot++)
			now.slots[slot] += one->slots[slot];
		extremes__take(&one->stats, interval, &hist->stats.extremes[0],
			       &hist->stats.extremes[1]);
	}
	hist->stats.sum = now.stats.sum - (cumulative ? 0 : reader->before.stats.sum);
	for (int slot = 0; slot < HIST_SLOTS; slot++) {
		hist->slots[slot] = now.slots[slot] - (cumulative ? 0 : reader->before.slots[slot]);
		hist->stats.count += hist->slots[slot];
	}
	reader->before = now;
	return fn(ctx, &reading);
}

static int compare_rows(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct hist_row_key));
}

static int compare_keys(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(struct hist_key));
}

/* The least first; keys that are equal stay in an order of their own. */
static int compare_measures(const void *left, const void *right)
{
	const struct key_state *const *a = left, *const *b = right;

	if ((*a)->measure != (*b)->measure)
		return (*a)->measure < (*b)->measure ? -1 : 1;
	if ((*a)->count != (*b)->count)
		return (*a)->count < (*b)->count ? -1 : 1;
	return compare_keys(*a, *b);
}

static void key_state__take(struct key_state *state, const struct hist_keyed *cpus, int nr_cpus,
			    uint64_t interval)
{
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		state->sum += cpus[cpu].stats.sum;
		extremes__take(&cpus[cpu].stats, interval, &state->own, &state->near);
		if (cpus[cpu].named_ns <= state->named_ns)
			continue;
		state->named_ns = cpus[cpu].named_ns;
		memcpy(state->name, cpus[cpu].name, HIST_NAME_SIZE);
	}
}

/* Of an entry that a walk has met twice, keeps what was counted later. */
static size_t drop_repeated(struct row *rows, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!kept || compare_rows(&rows[kept - 1], &rows[i])) {
			rows[kept++] = rows[i];
			continue;
		}
		for (int slot = 0; slot < HIST_ROW_SLOTS; slot++)
			if (rows[i].value.slots[slot] > rows[kept - 1].value.slots[slot])
				rows[kept - 1].value.slots[slot] = rows[i].value.slots[slot];
	}
	return kept;
}

static size_t drop_repeated_keys(struct key_state *keys, size_t nr)
{
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		if (!kept || compare_keys(&keys[kept - 1], &keys[i]))
			keys[kept++] = keys[i];
		else if (keys[i].sum > keys[kept - 1].sum)
			keys[kept - 1] = keys[i];
	}
	return kept;
}

static int read_table(struct table *table, const struct bpf_map *map, const struct bpf_link *walk,
		      size_t key_size, size_t value_size)
{
	return walk ? table__walk(table, walk, key_size, value_size) :
		      table__read(table, map, key_size, value_size);
}

/* The rows first: every key of a row is then among the keys. */
static int state__read(struct state *state, struct hist_reader *reader, uint64_t interval)
{
	size_t value_size = reader->nr_cpus * sizeof(struct hist_keyed);
	struct table keys = {}, rows = {};
	int err = read_table(&rows, reader->source.rows, reader->source.rows_walk,
			     sizeof(struct hist_row_key), sizeof(struct hist_row));

	if (!err)
		err = read_table(&keys, reader->source.keys, reader->source.keys_walk,
				 sizeof(struct hist_key), value_size);
	if (!err && keys.nr) {
		state->keys = calloc(keys.nr, sizeof(*state->keys));
		err = state->keys ? 0 : log_error(ENOMEM, NULL, "cannot keep the histograms");
	}
	if (err) {
		table__free(&keys);
		table__free(&rows);
		return err;
	}
	state->rows = (struct row *)rows.data;
	state->nr_rows = rows.nr;
	for (size_t i = 0; i < keys.nr; i++) {
		const char *entry = table__entry(&keys, i);

		memcpy(&state->keys[i].key, entry, sizeof(struct hist_key));
		key_state__take(&state->keys[i],
				(const struct hist_keyed *)(entry + sizeof(struct hist_key)),
				reader->nr_cpus, interval);
	}
	state->nr_keys = keys.nr;
	table__free(&keys);
	if (state->nr_rows)
		qsort(state->rows, state->nr_rows, sizeof(*state->rows), compare_rows);
	if (state->nr_keys)
		qsort(state->keys, state->nr_keys, sizeof(*state->keys), compare_keys);
	state->nr_rows = drop_repeated(state->rows, state->nr_rows);
	state->nr_keys = drop_repeated_keys(state->keys, state->nr_keys);
	return 0;
}

static uint64_t row__before(const struct state *last, const struct row *row, int slot)
{
	const struct row *before = NULL;

	if (last->nr_rows)
		before = bsearch(row, last->rows, last->nr_rows, sizeof(*row), compare_rows);
	return before ? before->value.slots[slot] : 0;
}

/* Gives each key its rows and what they count more than in the last state. */
static void state__count(struct state *state, const struct state *last)
{
	size_t i = 0;

	for (size_t key = 0; key < state->nr_keys; key++) {
		struct key_state *owner = &state->keys[key];

		owner->first_row = i;
		for (; i < state->nr_rows && !compare_keys(&state->rows[i], owner); i++) {
			for (int slot = 0; slot < HIST_ROW_SLOTS; slot++)
				owner->count += state->rows[i].value.slots[slot] -
						row__before(last, &state->rows[i], slot);
			owner->nr_rows++;
		}
	}
}

/* Adds what a key holds more than in the last state. */
static void key_state__add(const struct key_state *key, const struct state *state,
			   const struct state *last, struct hist_reading *reading)
{
	struct hist_stats *stats = &reading->hist.stats;
	const struct key_state *before = NULL;

	if (last->nr_keys)
		before = bsearch(key, last->keys, last->nr_keys, sizeof(*key), compare_keys);
	stats->count += key->count;
	stats->sum += key->sum - (before ? before->sum : 0);
	if (key->own.interval)
		extremes__widen(&stats->extremes[0], &key->own);
	if (key->near.interval)
		extremes__widen(&stats->extremes[1], &key->near);
	for (size_t i = key->first_row; i < key->first_row + key->nr_rows; i++) {
		const struct row *row = &state->rows[i];

		for (int slot = 0; slot < HIST_ROW_SLOTS; slot++)
			reading->hist.slots[row->key.row * HIST_ROW_SLOTS + slot] +=
				row->value.slots[slot] - row__before(last, row, slot);
	}
}

static void key_state__read(const struct key_state *key, const struct state *state,
			    const struct state *last, struct hist_reading *reading)
{
	*reading = (struct hist_reading){ .key = key->key };
	memcpy(reading->name, key->name, HIST_NAME_SIZE);
	key_state__add(key, state, last, reading);
}

/* Puts the keys that have values in order; returns how many. */
static size_t state__sort(struct state *state, const struct state *last,
			  const struct hist_view *view, struct key_state **order)
{
	struct hist_reading reading;
	size_t nr = 0;

	for (size_t i = 0; i < state->nr_keys; i++) {
		struct key_state *key = &state->keys[i];

		if (!key->count)
			continue;
		key->measure = key->count;
		if (view->measure) {
			key_state__read(key, state, last, &reading);
			key->measure = view->measure(view->ctx, &reading);
		}
		order[nr++] = key;
	}
	if (nr)
		qsort(order, nr, sizeof(*order), compare_measures);
	return nr;
}

static int state__hand_over(struct state *state, const struct state *last,
			    const struct hist_view *view, hist_fn fn, void *ctx)
{
	struct key_state **order = calloc(state->nr_keys + 1, sizeof(*order));
	struct hist_reading reading = {};
	size_t nr, i = 0;
	int err = 0;

	if (!order)
		return log_error(ENOMEM, NULL, "cannot sort the histograms");
	nr = state__sort(state, last, view, order);
	for (; view->top && nr - i > view->top; i++)
		key_state__add(order[i], state, last, &reading);
	reading.nr_others = i;
	if (i)
		err = fn(ctx, &reading);
	for (; i < nr && !err; i++) {
		key_state__read(order[i], state, last, &reading);
		err = fn(ctx, &reading);
	}
	free(order);
	return err;
}

static int hist_reader__read_keyed(struct hist_reader *reader, const struct hist_view *view,
				   hist_fn fn, void *ctx)
{
	uint64_t interval = hist_reader__end_interval(reader);
	const struct state none = {}, *last = view->cumulative ? &none : &reader->last;
	struct state state = {};
	int err = state__read(&state, reader, interval);

	if (err)
		return err;
	state__count(&state, last);
	err = state__hand_over(&state, last, view, fn, ctx);
	state__free(&reader->last);
	reader->last = state;
	return err;
}

int hist_reader__read(struct hist_reader *reader, const struct hist_view *view, hist_fn fn,
		      void *ctx)
{
	return reader->source.keyed ? hist_reader__read_keyed(reader, view, fn, ctx) :
				      hist_reader__read_total(reader, view->cumulative, fn, ctx);
}

/* What the kernel keeps with each element of a hash: struct htab_elem, a pointer for a value
 * per CPU, the hash bucket, and the rounding of both (kernel/bpf/hashtab.c). */
#define ELEMENT_BYTES 80
#define ROW_BYTES (ELEMENT_BYTES + sizeof(struct hist_row_key) + sizeof(struct hist_row))
/* Rows for each key: a task's waits lie in about this many powers of two. */
#define ROWS_PER_KEY 12
/* More than the tasks of any machine that is not very large; all of them can be keys then. */
#define KEYS_MAX 16384

struct hist_room hist_room__for(uint64_t max_keys, uint64_t budget_bytes, int nr_cpus)
{
	uint64_t key_bytes = ELEMENT_BYTES + sizeof(struct hist_key) +
			     (uint64_t)nr_cpus * sizeof(struct hist_keyed);
	uint64_t keys = max_keys;

	if (!keys) {
		keys = budget_bytes / (key_bytes + ROWS_PER_KEY * ROW_BYTES);
		keys = keys > KEYS_MAX ? KEYS_MAX : (keys ? keys : 1);
	}
	return (struct hist_room){ .keys = (uint32_t)keys,
				   .rows = (uint32_t)(keys * ROWS_PER_KEY) };
}

int hist_source__size(const struct hist_source *source, const struct hist_room *room,
		      bool preallocate)
{
	int err = bpf_map__set_max_entries(source->keys, room->keys);

	if (!err)
		err = bpf_map__set_max_entries(source->rows, room->rows);
	if (!err && preallocate)
		err = bpf_map__set_map_flags(source->rows, 0);
	return err ? log_error(err, NULL, "cannot size the tables of the histograms") : 0;
}

int hist_source__prepare(const struct hist_source *source, uint64_t max_keys, uint64_t other_bytes,
			 bool preallocate)
{
	struct hist_room room = { 1, 1 };
	/* It has 8 KB for each CPU. */
	const struct map_size total = { .map = source->total, .unused = source->keyed };
	int nr_cpus = cpus__count(), err = nr_cpus < 0 ? nr_cpus : maps__size(&total, 1);

	if (err)
		return err;
	if (source->keyed)
		room = hist_room__for(max_keys, HIST_BUDGET_BYTES - other_bytes, nr_cpus);
	log_debug("room for %u keys and %u rows of their histograms", room.keys, room.rows);
	return hist_source__size(source, &room, preallocate);
}
