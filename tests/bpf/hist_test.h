/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the two sides of hist_test agree on. */
#ifndef VANTAGE_HIST_TEST_H
#define VANTAGE_HIST_TEST_H

#include "shared/hist.h"

struct hist_test {
	__u64 value; /* to be added */
	__u32 keyed; /* to the histogram of key; else to the whole */
	__u32 unused;
	struct hist_key key;
};

#endif
