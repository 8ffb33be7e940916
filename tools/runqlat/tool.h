/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What runqlat is to the library. No libbpf. */
#ifndef VANTAGE_RUNQLAT_TOOL_H
#define VANTAGE_RUNQLAT_TOOL_H

#include "run/session.h"
#include "settings.h"

/* Of a run with these options. */
struct tool runqlat_tool(const struct runqlat_options *options);

#endif
