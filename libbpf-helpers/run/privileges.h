/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the process may do: which capabilities it lacks for a job, and giving up
 * all that a run no longer needs.
 */
#ifndef VANTAGE_RUN_PRIVILEGES_H
#define VANTAGE_RUN_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* User and group without rights of their own: "nobody" and "nogroup" of Debian; the kernel's own
 * default for unmapped ids. */
#define PRIVILEGES_NOBODY 65534

/* Whether the effective set holds the capability (CAP_* of linux/capability.h). */
bool privileges__has(int capability);

/* Names the capabilities that loading and attaching BPF programs needs and this process lacks,
 * as "CAP_BPF and CAP_PERFMON"; "" when none is missing. */
void privileges__missing_for_bpf(char *text, size_t size);

/*
 * Gives up root (for this user, group 65534, no supplementary groups; user 0: stays root,
 * which without capabilities is a user like others) and every
 * capability but those in keep, and sets no-new-privileges. map_fd: a map whose
 * lookup must go on working; where a kernel before 5.19 refuses that to a process
 * without CAP_BPF, that one is kept too. --verbose says what was kept.
 * 0 or -errno, reported.
 */
int privileges__drop(int map_fd, uid_t user, const int *keep, size_t nr_keep);

#endif
