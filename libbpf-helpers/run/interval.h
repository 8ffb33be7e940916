/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The heading of each interval of a run that reports in intervals. What follows is the tool's. */
#ifndef VANTAGE_RUN_INTERVAL_H
#define VANTAGE_RUN_INTERVAL_H

#include <stdint.h>

#include "output/sink.h"
#include "run/session.h"

/* For the list of types that a tool writes. */
extern const struct record_type interval_record_type;

/*
 * Writes it: for people a blank line, and the time with --time or --timestamp; the length, too, of
 * one that is shorter than the others. kind: any of the tool's. 0 or an error of the sink.
 */
int interval__write(struct session *session, uint32_t kind, const struct session_span *span);

#endif
