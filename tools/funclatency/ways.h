/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The ways by which funclatency sees a call, and which of them fit a target. No libbpf. */
#ifndef VANTAGE_FUNCLATENCY_WAYS_H
#define VANTAGE_FUNCLATENCY_WAYS_H

#include <stddef.h>

#include "run/attach.h"
#include "settings.h"
#include "target.h"

/* The ways for a target, in the order in which they are tried; for NULL all, which --check tries.
 * Both are borrowed; the result is valid until the next call. */
const struct attach_way *ways__choose(const struct funclatency_options *options,
				      const struct target *target, size_t *nr);

#endif
