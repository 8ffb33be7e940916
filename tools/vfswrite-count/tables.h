/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables that vfswrite-count's kernel side fills: how large they are, and how they are read
 * while it fills them.
 */
#ifndef VANTAGE_VFSWRITE_COUNT_TABLES_H
#define VANTAGE_VFSWRITE_COUNT_TABLES_H

#include "collect/hist.h"
#include "rows.h"
#include "settings.h"

struct bpf_link;
struct bpf_map;
struct bpf_program;

/* The maps of a kind, for loops over them. */
enum tables_map {
	MAP_ROWS,
	MAP_ERRORS,
	MAP_HOT_ROWS,
	MAP_HOT_CLAIMS,
	MAP_CALLS,
	MAP_CALLS_ASIDE,
	MAP_PLACES,
	MAP_PLACE_IDS,
	MAP_RING,
	NR_MAPS,
};

/* Those of them that are walked, and the two of the histograms. */
enum tables_walk { WALK_ROWS, WALK_ERRORS, WALK_HOT, WALK_HIST_KEYS, WALK_HIST_ROWS, NR_WALKS };

struct tables {
	/* Of one BPF object; see TABLES_OF(). */
	struct bpf_map *maps[NR_MAPS];
	struct bpf_program *programs[NR_WALKS];
	struct hist_source hist;

	struct bpf_link *walks[NR_WALKS];
	struct hist_reader *reader; /* NULL: there are no histograms */
	size_t nr_cpus;
	size_t key_size;
	bool has_hot;
	uint32_t by; /* bits of enum vfswrite_by */
};

#define TABLES_MAPS(skel)                                                                          \
	{                                                                                          \
		[MAP_ROWS] = (skel)->maps.rows, [MAP_ERRORS] = (skel)->maps.errors,                \
		[MAP_HOT_ROWS] = (skel)->maps.hot_rows,                                            \
		[MAP_HOT_CLAIMS] = (skel)->maps.hot_claims, [MAP_CALLS] = (skel)->maps.calls,      \
		[MAP_CALLS_ASIDE] = (skel)->maps.calls_aside, [MAP_PLACES] = (skel)->maps.places,  \
		[MAP_PLACE_IDS] = (skel)->maps.place_ids, [MAP_RING] = (skel)->maps.event_ring     \
	}
#define TABLES_WALKS(skel)                                                                         \
	{                                                                                          \
		[WALK_HOT] = (skel)->progs.walk_hot, [WALK_ROWS] = (skel)->progs.walk_rows,        \
		[WALK_HIST_KEYS] = (skel)->progs.walk_hist_keys,                                   \
		[WALK_ERRORS] = (skel)->progs.walk_errors,                                         \
		[WALK_HIST_ROWS] = (skel)->progs.walk_hist_rows                                    \
	}
#define TABLES_OF(skel)                                                                            \
	(struct tables)                                                                            \
	{                                                                                          \
		.maps = TABLES_MAPS(skel), .programs = TABLES_WALKS(skel),                         \
		.hist = HIST_SOURCE(skel, true)                                                    \
	}

/* Before load: gives all tables their sizes, and config what it has of them. 0 or -errno,
 * reported. */
int tables__size(struct tables *tables, const struct vfswrite_options *options,
		 struct vfswrite_config *config);

/* When all is attached. by_kprobe: programs at kprobes fill them. 0 or -errno, reported. */
int tables__attach(struct tables *tables, const struct vfswrite_options *options, bool by_kprobe);

/* What a reading holds; all zero: nothing. */
struct tables_reading {
	struct rows_source source;
	char *data[3]; /* what it borrows */
};

/* The rows, hot rows and errors as they are now. 0 or -errno, reported. */
int tables__read(const struct tables *tables, struct tables_reading *reading);
void tables_reading__free(struct tables_reading *reading);

/* The number of calls by enum vfswrite_func that were counted aside; when nothing is attached any
 * more. 0 or -errno, reported. */
int tables__read_aside(const struct tables *tables, uint64_t calls[VFSWRITE_NR_FUNCS]);

void tables__close(struct tables *tables);

#endif
