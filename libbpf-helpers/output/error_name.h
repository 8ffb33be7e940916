/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of errors that calls in the kernel return. Knows nobody. */
#ifndef VANTAGE_OUTPUT_ERROR_NAME_H
#define VANTAGE_OUTPUT_ERROR_NAME_H

#include <stdint.h>

/* The greatest number that is an error's: include/linux/err.h. */
#define ERROR_MAX 4095

/* "ENOENT" for 2; also of the kernel's own codes, which a tracer can see (include/linux/errno.h).
 * "other" for one without a name; static. */
const char *kernel_error__name(uint32_t error);

#endif
