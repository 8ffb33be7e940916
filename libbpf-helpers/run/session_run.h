/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What session.c needs of session_run.c; nobody else includes it. */
#ifndef VANTAGE_RUN_SESSION_RUN_H
#define VANTAGE_RUN_SESSION_RUN_H

#include <stddef.h>

/* The ring's callback: keeps a copy of the record until its turn. ctx: the session. 0 or
 * -errno, reported; or -EAGAIN when one drain has taken enough. */
int session__take(void *ctx, void *data, size_t size);

#endif
