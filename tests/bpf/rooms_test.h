/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the two sides of rooms_test agree on. */
#ifndef VANTAGE_ROOMS_TEST_H
#define VANTAGE_ROOMS_TEST_H

#include "shared/types.h"

#define ROOMS_NAME_SIZE 16

/* Size of the records that the ring's test submits. */
#define ROOMS_RECORD_SIZE 1024

struct rooms_test {
	__u64 reserved; /* records the ring had room for */
	__u64 refused;
	__u32 asked_tid; /* the thread that filter__passes() is asked about; others run meanwhile */
	__u32 passes; /* what it said */
	char name[ROOMS_NAME_SIZE]; /* what filter__wants_comm() is asked about */
};

#endif
