/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs of runqlat: what each is attached to, and which of them a run needs. No libbpf. */
#ifndef VANTAGE_RUNQLAT_PROGRAMS_H
#define VANTAGE_RUNQLAT_PROGRAMS_H

#include <stdbool.h>

#include "run/attach.h"
#include "settings.h"

/* The one way. */
extern const struct attach_way runqlat_ways[1];

/* has_task_storage: what is known of a thread is freed with it. */
bool runqlat_program__is_wanted(const struct attach_program *program,
				const struct runqlat_options *options, bool has_task_storage);

#endif
