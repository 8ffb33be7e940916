/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The ways by which vfswrite-count sees a call, the programs of each, and which of them a run
 * needs. No libbpf.
 */
#ifndef VANTAGE_VFSWRITE_COUNT_WAYS_H
#define VANTAGE_VFSWRITE_COUNT_WAYS_H

#include <stdbool.h>

#include "run/attach.h"
#include "settings.h"

#define VFSWRITE_NR_WAYS 3

/* So many ways, in the order in which they are tried: where the kernel preempts itself only a
 * kprobe loses no call. */
const struct attach_way *ways__choose(const struct vfswrite_options *options);

/* What the line at the start says of functions of the kernel; system calls have words of their
 * own, in their way. */
const char *ways__traced(const struct vfswrite_options *options);

/* Other paths of a write are always counted: by who writes, or aside. */
bool vfswrite_program__is_wanted(const struct attach_program *program,
				 const struct vfswrite_options *options);

/* Whether a program is not about what was asked. */
bool vfswrite_program__is_aside(const struct attach_program *program,
				const struct vfswrite_options *options);

#endif
