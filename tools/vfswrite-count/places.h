/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is written to, by the ids that the kernel side gives: names as a person reads them. Bounded
 * by the number of ids and by the bytes of all names. No libbpf.
 */
#ifndef VANTAGE_VFSWRITE_COUNT_PLACES_H
#define VANTAGE_VFSWRITE_COUNT_PLACES_H

#include <stddef.h>
#include <stdint.h>

#include "vfswrite-count.h"

struct place {
	uint32_t id;
	uint32_t same; /* the id under which the same place is reported */
	uint32_t device;
	const char *file; /* as /proc shows it; NULL: not kept, or not asked about */
	const char *type; /* "regular", "pipe", …; NULL: not asked about */
	char fs[VFSWRITE_FS_SIZE];
	char device_number[24]; /* "8:1" */
	char device_name[32]; /* "sda1"; "" when it has none */
};

/* All zero: empty. */
struct places {
	struct place **items; /* in the order of their ids */
	size_t nr;
	size_t room;
	size_t text_bytes; /* of all files */
	uint64_t nr_unnamed; /* files whose names found no room in them */
};

/* What the kernel side tells of a place that it has given an id. 0 or -ENOMEM. */
int places__add(struct places *places, const struct vfswrite_place *record);

/* What is known of a place; NULL when nothing is. */
const struct place *places__find(const struct places *places, uint32_t id);

/* The id under which a place is reported: ids whose names and devices are the same are one. What
 * it once was for an id it stays. -ENOMEM goes to *err, if it comes to that. */
uint32_t places__same(struct places *places, uint32_t id, int *err);

void places__free(struct places *places);

#endif
