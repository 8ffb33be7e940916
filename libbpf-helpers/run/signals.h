/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The signals that end a run: the first one ends it in good order, a second SIGINT
 * at once. Handlers and not a signalfd, so that the second one works also while a
 * write to a reader that has stopped reading blocks.
 */
#ifndef VANTAGE_RUN_SIGNALS_H
#define VANTAGE_RUN_SIGNALS_H

#include <stdbool.h>

/* Handles SIGINT, SIGTERM and SIGHUP and ignores SIGPIPE. A descriptor that becomes readable at
 * the first of them, owned by this module; or -errno, reported. */
int signals__handle(void);

/* The signal that came first, or 0. from_terminal: the whole foreground group got it. */
int signals__taken(bool *from_terminal);

#endif
