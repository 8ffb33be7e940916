/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names that are near to one that was mistyped, for messages. Knows no libbpf. */
#ifndef VANTAGE_FUNCLATENCY_NAMES_H
#define VANTAGE_FUNCLATENCY_NAMES_H

#include <stddef.h>

#define NEAR_NAMES_MAX 3
#define NEAR_NAME_SIZE 64

/* The names that are nearest to one. text and nr are the caller's; the rest is filled. */
struct near_names {
	const char *wanted;
	struct {
		char name[NEAR_NAME_SIZE];
		size_t distance;
	} items[NEAR_NAMES_MAX]; /* the nearest first */
	size_t nr;
};

/* Offers a name, which is kept (a copy) when it is near enough and nearer than others. Names that
 * are longer than NEAR_NAME_SIZE - 1 are not. */
void near_names__offer(struct near_names *near, const char *name);

/* "NAME, NAME or NAME", into text, which is "" when there is none. */
const char *near_names__text(const struct near_names *near, char *text, size_t size);

#endif
