/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* --explain: what would be traced, from which events, by which mechanism and with which limits,
 * after really loading and attaching it. */
#ifndef VANTAGE_RUN_EXPLAIN_H
#define VANTAGE_RUN_EXPLAIN_H

#include "run/attach.h"
#include "run/options.h"

struct bpf_map;

/* Prints on stdout. question: of the tool, a few sentences. own_limits: those beside the common
 * ones; "" for none. ring: the ring buffer's map. */
void explain__print(const char *tool, const char *question, const struct common_options *options,
		    const char *own_limits, const struct attachment *attachment,
		    const struct bpf_map *ring);

#endif
