/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What funclatency says of calls of which everything is known. */
#ifndef VANTAGE_TESTS_CALLS_H
#define VANTAGE_TESTS_CALLS_H

#include <stdbool.h>
#include <stdint.h>

#include "records.h"

/* Histograms together; their buckets are checked to hold what the count says. */
struct calls {
	unsigned long histograms;
	uint64_t count;
	uint64_t sum_ns;
	uint64_t min_ns; /* of the last histogram */
	uint64_t max_ns;
};

/* All whose key has this comm (NULL: any), over all intervals. */
struct calls calls__of(const struct records *records, const char *comm);

/* All whose key has this function and this outcome (NULL: any), over all intervals. */
uint64_t calls__by_call(const struct records *records, const char *func, const char *ret);

/* Calls of a bucket that holds this value, in the unit of the histogram, over all. */
uint64_t calls__at(const struct records *records, uint64_t value);

/* Runs of a program that the kernel skipped; 0 where it does not tell. */
uint64_t account__missed(const struct json_value *account, const char *program);

/* Whether the kernel has a symbol of that name. */
bool kernel__has(const char *wanted);

#endif
