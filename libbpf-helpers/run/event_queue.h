/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Events in the order of their stamps. A ring keeps the order in which CPUs
 * reserved their records, which is not quite that of the stamps; events wait here
 * until none with an earlier stamp can still come.
 */
#ifndef VANTAGE_RUN_EVENT_QUEUE_H
#define VANTAGE_RUN_EVENT_QUEUE_H

#include <stddef.h>
#include <stdint.h>

struct event_queue;

/* Called for each event in order; data is freed after the call. 0 to go on. */
typedef int (*event_queue_fn)(void *ctx, const void *data, size_t size);

/* NULL when out of memory. */
struct event_queue *event_queue__new(void);

/* Keeps a copy of data. Events with equal stamps leave in the order they came. 0 or -ENOMEM. */
int event_queue__push(struct event_queue *queue, uint64_t time_ns, const void *data, size_t size);

/* Hands over, in order, every event with a stamp below until_ns. Stops at the first return of fn
 * that is not 0 and returns it; that event is gone, the later ones stay. */
int event_queue__pop_until(struct event_queue *queue, uint64_t until_ns, event_queue_fn fn,
			   void *ctx);

/* Frees the queue and what it still holds; queue may be NULL. */
void event_queue__free(struct event_queue *queue);

#endif
