/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What funclatency is to the library: its question, its options, its ways, its kind of events and
 * its records. Knows no libbpf. */
#ifndef VANTAGE_FUNCLATENCY_TOOL_H
#define VANTAGE_FUNCLATENCY_TOOL_H

#include "run/session.h"
#include "settings.h"
#include "target.h"

/* For a run about this target, or about none (NULL). What is traced is left to be named. */
struct tool funclatency__tool(const struct funclatency_options *options,
			      const struct target *target);

#endif
