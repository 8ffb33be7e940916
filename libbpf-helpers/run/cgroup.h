/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Control groups of the cgroup2 hierarchy as the kernel side knows them: by id,
 * which is the inode number of the group's directory (64-bit kernels since 5.5,
 * commit 67c0496e87d1). A path of cgroup v1 names nothing that a filter could ask about.
 */
#ifndef VANTAGE_RUN_CGROUP_H
#define VANTAGE_RUN_CGROUP_H

#include <stdint.h>

/*
 * The id of a group that exists. word: an id; a path, or a path below the mount of
 * cgroup2 with or without a leading slash. 0 or -errno, reported with the word.
 */
int cgroup__find(const char *word, uint64_t *id);

#endif
