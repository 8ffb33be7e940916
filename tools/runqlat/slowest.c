// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "slowest.h"

#include <stdlib.h>

void slowest__add(struct slowest *slowest, const struct runqlat_slow *slow)
{
	struct runqlat_slow *items = slowest->intervals[slow->interval & 1].items;
	size_t *nr = &slowest->intervals[slow->interval & 1].nr, least = 0;

	if (*nr < slowest->limit) {
		items[(*nr)++] = *slow;
		return;
	}
	for (size_t i = 1; i < *nr; i++)
		if (items[i].duration_ns < items[least].duration_ns)
			least = i;
	if (*nr && items[least].duration_ns < slow->duration_ns)
		items[least] = *slow;
}

static int compare(const void *left, const void *right)
{
	const struct runqlat_slow *a = left, *b = right;

	if (a->duration_ns != b->duration_ns)
		return a->duration_ns > b->duration_ns ? -1 : 1;
	return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

size_t slowest__take(struct slowest *slowest, uint64_t interval, const struct runqlat_slow **items)
{
	size_t nr = slowest->intervals[interval & 1].nr;

	*items = slowest->intervals[interval & 1].items;
	qsort(slowest->intervals[interval & 1].items, nr, sizeof(**items), compare);
	slowest->intervals[interval & 1].nr = 0;
	return nr;
}
