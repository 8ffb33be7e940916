/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Groups of the cgroup2 hierarchy for tests: found, made, entered and removed.
 */
#ifndef VANTAGE_TESTS_CGROUP_H
#define VANTAGE_TESTS_CGROUP_H

#include <stdint.h>

/* Where the cgroup2 hierarchy is mounted, or NULL. */
const char *cgroup__mount(void);

/* Makes the folder of a group. 0, or -1 with errno. */
int cgroup__make(const char *path);

/* Moves this process into the group. 0, or -1 with errno. */
int cgroup__enter(const char *path);

/* The id of a group, which is the inode number of its folder; 0 when it is not there. */
uint64_t cgroup__id(const char *path);

/* Removes an empty group; waits for the last process to be gone from it. */
void cgroup__remove(const char *path);

#endif
