/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The inside of the opener's process: what it answers. For opener.c and its tests alone.
 */
#ifndef VANTAGE_SYMBOLS_OPENER_SERVER_H
#define VANTAGE_SYMBOLS_OPENER_SERVER_H

#include "symbols/opener.h"

/* A descriptor, or -errno as opener__open(). Does not wait but for file systems that do. */
int opener_server__open(const struct opener_request *request);

#endif
