/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Reads the histograms of bpf/hist.bpf.h: each reading gives what came since the one
 * before it, so that the readings of a run add up to the whole. It knows neither
 * what a key means nor how a histogram looks.
 */
#ifndef VANTAGE_COLLECT_HIST_H
#define VANTAGE_COLLECT_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shared/hist.h"

struct bpf_link;
struct bpf_map;

/* The maps and the interval's number of one BPF object. */
struct hist_source {
	struct bpf_map *total;
	struct bpf_map *keys;
	struct bpf_map *rows;
	__u64 *interval; /* hist_interval in the object's data */
	bool keyed; /* keys and rows are filled, else total */
	/* Walks over keys and rows, where programs at kprobes fill them (see table__walk()); the
	 * caller's, at each reading. NULL: they are read by bpf(). */
	struct bpf_link *keys_walk;
	struct bpf_link *rows_walk;
};

/* The same of a skeleton with bpf/hist.bpf.h in it. */
#define HIST_SOURCE(skel, is_keyed)                                                                \
	(struct hist_source)                                                                       \
	{                                                                                          \
		.total = (skel)->maps.hist_total, .keys = (skel)->maps.hist_keys,                  \
		.rows = (skel)->maps.hist_rows, .interval = (__u64 *)&(skel)->data->hist_interval, \
		.keyed = is_keyed,                                                                 \
	}

struct hist_reading {
	struct hist_key key; /* all 0 for the whole */
	char name[HIST_NAME_SIZE]; /* NUL-ended if shorter; "" when there is none */
	size_t nr_others; /* 0, or so many keys together that the view leaves out; key is all 0 */
	/*
	 * stats.count and slots: of this interval, the count being the sum of the slots.
	 * stats.extremes: [0] of the values that carried the interval's number, [1] of those that
	 * carried a neighbour's (at its edges either can be right); interval is 0 where there
	 * were none.
	 */
	struct hist hist;
};

struct hist_reader;

/* Frees nothing of the source, whose maps it borrows. NULL when out of memory. */
struct hist_reader *hist_reader__new(const struct hist_source *source);

typedef int (*hist_fn)(void *ctx, const struct hist_reading *reading);

/* Which histograms a reading gives, and in which order. All zero: each key, by its count. */
struct hist_view {
	bool cumulative; /* since the start of the run, not since the last reading */
	/* What keys are put in order by; NULL: their counts. */
	uint64_t (*measure)(void *ctx, const struct hist_reading *reading);
	void *ctx; /* of measure */
	size_t top; /* so many keys with the most, after all others as one; 0: all */
};

/*
 * Ends the interval and hands over what it held: the whole, also when empty; or each key that has
 * values, those with the least first. 0; the first return of fn that is not 0; or -errno,
 * reported.
 */
int hist_reader__read(struct hist_reader *reader, const struct hist_view *view, hist_fn fn,
		      void *ctx);

/* reader may be NULL. */
void hist_reader__free(struct hist_reader *reader);

/* How a keyed table is sized. */
struct hist_room {
	uint32_t keys;
	uint32_t rows;
};

/* Kernel memory that all maps of a tool may take by default. */
#define HIST_BUDGET_BYTES (64ULL << 20)

/*
 * Room for max_keys keys, or with 0 for as many as budget_bytes of kernel memory allow on
 * nr_cpus CPUs, with rows for each of them.
 */
struct hist_room hist_room__for(uint64_t max_keys, uint64_t budget_bytes, int nr_cpus);

/*
 * Sizes the keyed maps before load. preallocate: take the memory of all rows at once.
 * 0 or -errno, reported.
 */
int hist_source__size(const struct hist_source *source, const struct hist_room *room,
		      bool preallocate);

/*
 * The same with room for max_keys keys, or with 0 for as many as fit into the budget beside
 * other_bytes of other tables; of the whole and the keys, only what is filled is made.
 */
int hist_source__prepare(const struct hist_source *source, uint64_t max_keys, uint64_t other_bytes,
			 bool preallocate);

#endif
