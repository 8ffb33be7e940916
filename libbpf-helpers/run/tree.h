/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The descendants that the processes of --tree have already when tracing begins, added
 * to the kernel side's set without missing one: forks and parents' ends are noted by the
 * kernel side (bpf/filter.bpf.h) from before /proc is read until all are in the set.
 */
#ifndef VANTAGE_RUN_TREE_H
#define VANTAGE_RUN_TREE_H

#include <stdint.h>

#include "run/attach.h"
#include "run/filter.h"

struct bpf_map;

/* Parents by process id; 0: not known. */
struct parents {
	uint32_t *items;
	uint32_t nr; /* ids from 0 to nr - 1 */
};

/* Remembers the parent of a process, in place of another. 0 or -ENOMEM. */
int parents__set(struct parents *parents, uint32_t child, uint32_t parent);

/*
 * Adds to family, which holds some processes, all that descend from one of them.
 * 0 or -ENOMEM.
 */
int parents__descend(const struct parents *parents, struct number_list *family);

void parents__free(struct parents *parents);

/* Sizes the map of edges; before load. 0 or -errno, reported. */
int tree__configure(const struct task_filter *filter, struct bpf_map *edges);

/* Adds the descendants to the set; when all is attached, before the gate opens. 0 or -errno,
 * reported. */
int tree__seed(const struct task_filter *filter, struct bpf_map *tree, struct bpf_map *edges,
	       const struct attachment *attachment);

#endif
