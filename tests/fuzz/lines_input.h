/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A fuzzer's input as lines of a file.
 */
#ifndef VANTAGE_TESTS_LINES_INPUT_H
#define VANTAGE_TESTS_LINES_INPUT_H

#include <stdint.h>
#include <string.h>

#include "symbols/lines.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* As much of the input as the buffer holds. */
static inline struct lines *lines_input(const uint8_t *data, size_t size)
{
	static struct lines lines;

	lines__begin(&lines, -1);
	if (size > LINES_BUFFER_SIZE - 1)
		size = LINES_BUFFER_SIZE - 1;
	memcpy(lines.buffer, data, size);
	lines.end = size;
	return &lines;
}

#endif
