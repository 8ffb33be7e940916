/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Puts together what bpf/path.bpf.h has found. Knows no libbpf. */
#ifndef VANTAGE_COLLECT_PATH_H
#define VANTAGE_COLLECT_PATH_H

#include <stddef.h>

#include "shared/path.h"

/* Room for any path, and for what is said beside its names. */
#define PATH_TEXT_SIZE (PATH_NAMES_BYTES + 32)

/*
 * Writes the path into text, NUL-ended, as /proc shows it: "/" for the root, " (deleted)" behind a
 * name that has been removed. What was cut is "..." in front. Returns its size.
 */
size_t path__join(const struct path_names *path, char text[PATH_TEXT_SIZE]);

#endif
