/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The fixed-width types of both sides: from vmlinux.h in the kernel, else from the headers. */
#ifndef VANTAGE_SHARED_TYPES_H
#define VANTAGE_SHARED_TYPES_H

#ifdef __bpf__
#include "vmlinux.h"
#else
#include <linux/types.h>
#endif

#endif
