// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/event_queue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct queued_event {
	uint64_t time_ns;
	uint64_t number; /* in order of arrival: equal stamps keep it */
	size_t size;
	char data[];
};

/* A binary heap whose root is the earliest event. */
struct event_queue {
	struct queued_event **heap;
	size_t nr;
	size_t room;
	uint64_t nr_pushed;
};

static bool queued_event__is_before(const struct queued_event *a, const struct queued_event *b)
{
	return a->time_ns != b->time_ns ? a->time_ns < b->time_ns : a->number < b->number;
}

struct event_queue *event_queue__new(void)
{
	return calloc(1, sizeof(struct event_queue));
}

static int event_queue__grow(struct event_queue *queue)
{
	size_t room = queue->room ? queue->room * 2 : 256;
	struct queued_event **heap = reallocarray(queue->heap, room, sizeof(*heap));

	if (!heap)
		return -ENOMEM;
	queue->heap = heap;
	queue->room = room;
	return 0;
}

int event_queue__push(struct event_queue *queue, uint64_t time_ns, const void *data, size_t size)
{
	struct queued_event *event;
	size_t at, parent;

	if (queue->nr == queue->room && event_queue__grow(queue))
		return -ENOMEM;
	event = malloc(sizeof(*event) + size);
	if (!event)
		return -ENOMEM;
	event->time_ns = time_ns;
	event->number = queue->nr_pushed++;
	event->size = size;
	memcpy(event->data, data, size);

	for (at = queue->nr++; at; at = parent) {
		parent = (at - 1) / 2;
		if (queued_event__is_before(queue->heap[parent], event))
			break;
		queue->heap[at] = queue->heap[parent];
	}
	queue->heap[at] = event;
	return 0;
}

static struct queued_event *event_queue__pop(struct event_queue *queue)
{
	struct queued_event *first = queue->heap[0];
	struct queued_event *last = queue->heap[--queue->nr];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < queue->nr) {
		if (child + 1 < queue->nr &&
		    queued_event__is_before(queue->heap[child + 1], queue->heap[child]))
			child++;
		if (queued_event__is_before(last, queue->heap[child]))
			break;
		queue->heap[at] = queue->heap[child];
		at = child;
	}
	queue->heap[at] = last;
	return first;
}

int event_queue__pop_until(struct event_queue *queue, uint64_t until_ns, event_queue_fn fn,
			   void *ctx)
{
	int err = 0;

	while (!err && queue->nr && queue->heap[0]->time_ns < until_ns) {
		struct queued_event *event = event_queue__pop(queue);

		err = fn(ctx, event->data, event->size);
		free(event);
	}
	return err;
}

void event_queue__free(struct event_queue *queue)
{
	if (!queue)
		return;
	while (queue->nr)
		free(event_queue__pop(queue));
	free(queue->heap);
	free(queue);
}
