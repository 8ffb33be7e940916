/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Maps of a tool: their sizes before load, and sums over all CPUs. */
#ifndef VANTAGE_COLLECT_MAPS_H
#define VANTAGE_COLLECT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_map;

/* The number of possible CPUs, or -errno, reported. */
int cpus__count(void);

/* What a map is before load. */
struct map_size {
	struct bpf_map *map;
	uint32_t entries; /* 0: as it is */
	size_t key_size; /* the same */
	bool unused; /* no program of the run uses it: it is not made */
};

/* 0 or -errno, reported. */
int maps__size(const struct map_size *sizes, size_t nr);

/* Of a per-CPU array with numbers of 64 bits, the sum over all CPUs of each of the first nr.
 * 0 or -errno, reported. */
int map__sum_cpus(const struct bpf_map *map, uint64_t *sums, size_t nr);

#endif
