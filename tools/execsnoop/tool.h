/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What execsnoop is to the library: its question, its options, its ways, its kinds of events and
 * records. Knows no libbpf. */
#ifndef VANTAGE_EXECSNOOP_TOOL_H
#define VANTAGE_EXECSNOOP_TOOL_H

#include "options.h"
#include "run/session.h"

/* For a run with these options. */
struct tool execsnoop__tool(const struct execsnoop_options *options);

#endif
