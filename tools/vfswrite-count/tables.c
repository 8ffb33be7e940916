// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tables.h"

#include <errno.h>
#include <stdlib.h>

#include "collect/maps.h"
#include "collect/table.h"
#include "collect/walk.h"
#include "run/log.h"

/* What goes through the ring: nothing, or each place once. */
#define RING_BYTES 4096U
#define RING_BYTES_PLACES (1U << 20)

/* Kernel memory that the rows and the histograms may take by default, and what an element of a hash
 * takes beside its key and value: struct htab_elem, the pointer to the values per CPU, its part of
 * the buckets. */
#define ROWS_BYTES (40ULL << 20)
#define HISTS_BYTES (12ULL << 20)
#define ELEMENT_BYTES 96
#define ROWS_MAX 65536
#define ERRORS_MAX 16384
#define CALLS_MAX 32768
#define PLACES_MAX 8192

/* An entry of a walk must have room in one buffer of the kernel's (kernel/bpf/bpf_iter.c: 8 pages).
 * Where there are so many CPUs that it has not, the histograms are read by bpf(). */
#define WALK_ENTRY_MAX (8 * 4096)

/* Room for so many rows. */
static uint32_t rows_room(const struct tables *tables, const struct vfswrite_options *options)
{
	uint64_t row = ELEMENT_BYTES + tables->key_size +
		       (uint64_t)tables->nr_cpus * sizeof(struct vfswrite_row);
	uint64_t room = ROWS_BYTES / row;

	if (options->max_keys.given)
		return (uint32_t)options->max_keys.count;
	return (uint32_t)(room > ROWS_MAX ? ROWS_MAX : room ? room : 1);
}

static uint32_t least(uint32_t left, uint32_t right)
{
	return left < right ? left : right;
}

static size_t keyed_size(const struct tables *tables)
{
	return tables->nr_cpus * sizeof(struct hist_keyed);
}

/* Those of the histograms; what is not used is not made. */
static int size_hists(const struct tables *tables, const struct vfswrite_options *options)
{
	const bool none = !vfswrite_options__distribution(options);
	const uint32_t by = vfswrite_options__distribution_by(options);
	const struct map_size sizes[] = {
		{ .map = tables->hist.keys, .unused = none },
		{ .map = tables->hist.rows, .unused = none },
		/* It has 8 KB for each CPU. */
		{ .map = tables->hist.total, .unused = none || by },
	};
	struct hist_room room = { 1, HIST_ROWS };
	int err = maps__size(sizes, sizeof(sizes) / sizeof(sizes[0]));

	if (by)
		room = hist_room__for(options->max_keys.count, HISTS_BYTES, (int)tables->nr_cpus);
	/* A histogram of few keys can have more rows than most have. */
	if (room.rows < HIST_ROWS)
		room.rows = HIST_ROWS;
	return err ? err : hist_source__size(&tables->hist, &room, false);
}

static int size_maps(const struct tables *tables, const struct vfswrite_options *options)
{
	const uint32_t rows = rows_room(tables, options), nr_cpus = (uint32_t)tables->nr_cpus;
	const bool by_place = tables->by & VFSWRITE_BY_PLACE;
	const uint32_t places = least(rows, PLACES_MAX);
	const struct map_size sizes[] = {
		{ tables->maps[MAP_ROWS], rows, tables->key_size, false },
		{ tables->maps[MAP_ERRORS], least(rows, ERRORS_MAX),
		  offsetof(struct vfswrite_error_key, key) + tables->key_size, false },
		{ tables->maps[MAP_HOT_CLAIMS], nr_cpus * VFSWRITE_HOT_ROWS, 0, false },
		{ tables->maps[MAP_CALLS], CALLS_MAX, 0, false },
		{ tables->maps[MAP_PLACES], places, 0, !by_place },
		/* Each CPU can have one more, while it tries to be the first with a place. */
		{ tables->maps[MAP_PLACE_IDS], places + nr_cpus, 0, !by_place },
		{ tables->maps[MAP_RING], by_place ? RING_BYTES_PLACES : RING_BYTES, 0, false },
	};

	log_debug("room for %u rows with keys of %zu bytes", rows, tables->key_size);
	return maps__size(sizes, sizeof(sizes) / sizeof(sizes[0]));
}

int tables__size(struct tables *tables, const struct vfswrite_options *options,
		 struct vfswrite_config *config)
{
	const bool has_hist = vfswrite_options__distribution(options);
	int nr_cpus = cpus__count(), err;

	if (nr_cpus < 0)
		return nr_cpus;
	tables->nr_cpus = (size_t)nr_cpus;
	tables->by = vfswrite_options__by(options);
	tables->key_size = config->key_size;
	tables->has_hot = tables->key_size <= sizeof(((struct vfswrite_hot *)NULL)->words);
	err = size_maps(tables, options);
	if (!err)
		err = size_hists(tables, options);
	if (err)
		return log_error(err, NULL, "cannot size the tables");
	walk__want(tables->programs[WALK_ROWS], true);
	walk__want(tables->programs[WALK_ERRORS], true);
	walk__want(tables->programs[WALK_HOT], tables->has_hot);
	walk__want(tables->programs[WALK_HIST_KEYS], has_hist);
	walk__want(tables->programs[WALK_HIST_ROWS], has_hist);
	config->row_size = (__u32)(tables->nr_cpus * sizeof(struct vfswrite_row));
	config->hist_size = (__u32)keyed_size(tables);
	if (tables->has_hot)
		config->hot_size = (__u32)(tables->nr_cpus * sizeof(struct vfswrite_hot));
	return 0;
}

static int tables__walk_by(struct tables *tables, enum tables_walk walk, const struct bpf_map *map)
{
	tables->walks[walk] = walk__attach(tables->programs[walk], map);
	return tables->walks[walk] ? 0 : -EINVAL;
}

static int attach_hists(struct tables *tables, const struct vfswrite_options *options,
			bool by_kprobe)
{
	int err = 0;

	tables->hist.keyed = by_kprobe || vfswrite_options__distribution_by(options);
	if (by_kprobe && sizeof(struct hist_key) + keyed_size(tables) <= WALK_ENTRY_MAX) {
		err = tables__walk_by(tables, WALK_HIST_KEYS, tables->hist.keys);
		if (!err)
			err = tables__walk_by(tables, WALK_HIST_ROWS, tables->hist.rows);
		tables->hist.keys_walk = tables->walks[WALK_HIST_KEYS];
		tables->hist.rows_walk = tables->walks[WALK_HIST_ROWS];
	}
	if (err)
		return err;
	tables->reader = hist_reader__new(&tables->hist);
	return tables->reader ? 0 : log_error(ENOMEM, NULL, "cannot prepare the histograms");
}

int tables__attach(struct tables *tables, const struct vfswrite_options *options, bool by_kprobe)
{
	int err = tables__walk_by(tables, WALK_ROWS, tables->maps[MAP_ROWS]);

	if (!err)
		err = tables__walk_by(tables, WALK_ERRORS, tables->maps[MAP_ERRORS]);
	if (!err && tables->has_hot)
		err = tables__walk_by(tables, WALK_HOT, tables->maps[MAP_HOT_ROWS]);
	if (!err && vfswrite_options__distribution(options))
		err = attach_hists(tables, options, by_kprobe);
	return err;
}

int tables__read(const struct tables *tables, struct tables_reading *reading)
{
	const size_t head = offsetof(struct vfswrite_error_key, key);
	struct table rows = {}, errors = {}, hot = {};
	int err;

	err = table__walk(&rows, tables->walks[WALK_ROWS], tables->key_size,
			  tables->nr_cpus * sizeof(struct vfswrite_row));
	if (!err)
		err = table__walk(&errors, tables->walks[WALK_ERRORS], head + tables->key_size,
				  sizeof(uint64_t));
	if (!err && tables->has_hot)
		err = table__walk(&hot, tables->walks[WALK_HOT], 0,
				  tables->nr_cpus * sizeof(struct vfswrite_hot));
	*reading = (struct tables_reading){
		.source = {
			.key_size = tables->key_size,
			.nr_cpus = tables->nr_cpus,
			.by = tables->by,
			.hot = (const struct vfswrite_hot *)hot.data,
			.nr_hot = hot.nr * tables->nr_cpus,
			.rows = rows.data,
			.nr_rows = rows.nr,
			.errors = errors.data,
			.nr_errors = errors.nr,
		},
		.data = { rows.data, errors.data, hot.data },
	};
	if (err)
		tables_reading__free(reading);
	return err;
}

void tables_reading__free(struct tables_reading *reading)
{
	for (size_t i = 0; i < sizeof(reading->data) / sizeof(reading->data[0]); i++)
		free(reading->data[i]);
	*reading = (struct tables_reading){};
}

int tables__read_aside(const struct tables *tables, uint64_t calls[VFSWRITE_NR_FUNCS])
{
	return map__sum_cpus(tables->maps[MAP_CALLS_ASIDE], calls, VFSWRITE_NR_FUNCS);
}

void tables__close(struct tables *tables)
{
	for (int i = 0; i < NR_WALKS; i++)
		walk__detach(tables->walks[i]);
	hist_reader__free(tables->reader);
	*tables = (struct tables){};
}
