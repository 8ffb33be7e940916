/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The programs of execsnoop: what each is attached to, and which of them a run needs. No libbpf. */
#ifndef VANTAGE_EXECSNOOP_PROGRAMS_H
#define VANTAGE_EXECSNOOP_PROGRAMS_H

#include <stdbool.h>

#include "options.h"
#include "run/attach.h"

/* The one way. */
extern const struct attach_way execsnoop_ways[1];

/* has_loop: the kernel has bpf_loop(). */
bool execsnoop_program__is_wanted(const struct attach_program *program,
				  const struct execsnoop_options *options, bool has_loop);

#endif
