/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of control groups by their ids, as the cgroup2 hierarchy has them now. A name that
 * was seen once stays known after its group is gone. Knows no libbpf.
 */
#ifndef VANTAGE_RUN_GROUPS_H
#define VANTAGE_RUN_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct group {
	uint64_t id;
	char *path; /* below the mount of cgroup2, with a leading slash; NULL: it was gone */
};

/* All zero: none known. */
struct groups {
	struct group *items; /* in the order of their ids */
	size_t nr;
};

/* The path of a group, or NULL when it is not known. Walks the hierarchy for an id that it has
 * not seen. The path stays valid until groups__free(). */
const char *groups__path(struct groups *groups, uint64_t id);

/* Learns the names of all groups that are there now, for when they are gone. False: not of all. */
bool groups__learn(struct groups *groups);

void groups__free(struct groups *groups);

#endif
