/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the walks over all tasks give: the programs of type iter/task, read as files. */
#ifndef VANTAGE_RUNQLAT_WALK_H
#define VANTAGE_RUNQLAT_WALK_H

#include "runqlat.h"

typedef int (*walk_fn)(void *ctx, const struct runqlat_open *open);

/* Reads a walk to its end. fn: called for each of its records; may be NULL when it writes none.
 * 0; the first return of fn that is not 0; or -errno, reported. */
int walk__read(int fd, walk_fn fn, void *ctx);

#endif
