/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What offcputime is to the library: its question, its programs, its kind of events and its
 * records. Knows no libbpf. */
#ifndef VANTAGE_OFFCPUTIME_TOOL_H
#define VANTAGE_OFFCPUTIME_TOOL_H

#include "run/session.h"
#include "settings.h"

extern const struct tool offcputime_tool;

/* Whether a run needs the program. */
bool offcputime_program__is_wanted(const struct attach_program *program,
				   const struct offcputime_options *options, bool has_task_storage);

#endif
