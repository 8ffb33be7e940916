// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/slowest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int slowest__open(struct slowest *slowest, size_t limit, size_t size)
{
	*slowest = (struct slowest){ .limit = limit, .size = size };
	for (int i = 0; i < 2 && limit; i++) {
		slowest->intervals[i].items = calloc(limit, size);
		if (!slowest->intervals[i].items)
			return -ENOMEM;
	}
	return 0;
}

void slowest__close(struct slowest *slowest)
{
	for (int i = 0; i < 2; i++)
		free(slowest->intervals[i].items);
	*slowest = (struct slowest){};
}

void slowest__add(struct slowest *slowest, const void *record)
{
	const struct slow_event *event = record, *item, *least = NULL;
	char *items = slowest->intervals[event->interval & 1].items, *place = items;
	size_t *nr = &slowest->intervals[event->interval & 1].nr;

	if (*nr < slowest->limit) {
		memcpy(items + (*nr)++ * slowest->size, record, slowest->size);
		return;
	}
	for (size_t i = 0; i < *nr; i++) {
		item = (const void *)(items + i * slowest->size);
		if (least && item->duration_ns >= least->duration_ns)
			continue;
		least = item;
		place = items + i * slowest->size;
	}
	if (least && least->duration_ns < event->duration_ns)
		memcpy(place, record, slowest->size);
}

static int compare(const void *left, const void *right)
{
	const struct slow_event *a = left, *b = right;

	if (a->duration_ns != b->duration_ns)
		return a->duration_ns > b->duration_ns ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

size_t slowest__take(struct slowest *slowest, uint64_t interval, const void **records)
{
	size_t nr = slowest->intervals[interval & 1].nr;

	*records = slowest->intervals[interval & 1].items;
	if (nr)
		qsort(slowest->intervals[interval & 1].items, nr, slowest->size, compare);
	slowest->intervals[interval & 1].nr = 0;
	return nr;
}
