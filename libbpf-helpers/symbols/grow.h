/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Arrays that double when they are full. Knows nothing else.
 */
#ifndef VANTAGE_SYMBOLS_GROW_H
#define VANTAGE_SYMBOLS_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Makes room for needed items of item_size bytes; moves *items. false: no memory, and nothing
 * has changed. */
static inline bool grow__reserve(void **items, size_t *capacity, size_t needed, size_t item_size)
{
	size_t wanted = *capacity ? *capacity : 16, bytes;
	void *moved;

	if (needed <= *capacity)
		return true;
	while (wanted < needed)
		if (__builtin_mul_overflow(wanted, 2, &wanted))
			return false;
	if (__builtin_mul_overflow(wanted, item_size, &bytes))
		return false;
	moved = realloc(*items, bytes);
	if (!moved)
		return false;
	*items = moved;
	*capacity = wanted;
	return true;
}

/* The same for an array of any type. */
#define GROW(items, capacity, needed)                                                              \
	({                                                                                         \
		void *grow_items = (items);                                                        \
		bool grow_done = grow__reserve(&grow_items, &(capacity), (needed),                 \
					       sizeof(*(items)));                                  \
		(items) = grow_items;                                                              \
		grow_done;                                                                         \
	})

#endif
