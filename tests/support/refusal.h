/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Calls that a tool has to refuse before it traces anything. */
#ifndef VANTAGE_TESTS_REFUSAL_H
#define VANTAGE_TESTS_REFUSAL_H

#include <stddef.h>

struct refusal {
	const char *name; /* of the check */
	const char *args[6];
	int status;
	const char *word; /* the message has it */
};

/* Runs the tool with each: its status, its word on stderr, no ready byte, nothing on stdout. */
void refusal__check(const struct refusal *refusals, size_t nr);

#endif
