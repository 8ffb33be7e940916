// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "run/event_queue.h"
#include "test.h"

struct seen {
	uint64_t last;
	uint64_t last_payload;
	size_t nr;
	size_t disorder;
	size_t stop_after; /* 0: never */
};

struct event {
	uint64_t time_ns;
	uint64_t payload;
};

static int see(void *ctx, const void *data, size_t size)
{
	struct seen *seen = ctx;
	struct event event;

	if (size != sizeof(event))
		return -EINVAL;
	memcpy(&event, data, sizeof(event));
	if (event.time_ns < seen->last ||
	    (event.time_ns == seen->last && seen->nr && event.payload < seen->last_payload))
		seen->disorder++;
	seen->last = event.time_ns;
	seen->last_payload = event.payload;
	seen->nr++;
	return seen->stop_after && seen->nr == seen->stop_after ? -EPIPE : 0;
}

static void push(struct event_queue *queue, uint64_t time_ns, uint64_t payload)
{
	struct event event = { time_ns, payload };

	if (event_queue__push(queue, time_ns, &event, sizeof(event)))
		test__check(false, "push", "out of memory");
}

static void test_random_order(void)
{
	struct event_queue *queue = event_queue__new();
	struct seen seen = {};

	srand(7);
	for (uint64_t i = 0; i < 10000; i++)
		push(queue, rand() % 1000, i);
	event_queue__pop_until(queue, 500, see, &seen);
	test__check(seen.nr && seen.last == 499, "pop stops below its bound", "last stamp %lu",
		    seen.last);
	event_queue__pop_until(queue, UINT64_MAX, see, &seen);
	test__equal("every event leaves", seen.nr, 10000);
	test__equal("in the order of stamps, then of arrival", seen.disorder, 0);
	event_queue__free(queue);
}

static void test_stop(void)
{
	struct event_queue *queue = event_queue__new();
	struct seen seen = { .stop_after = 3 };

	for (uint64_t i = 0; i < 5; i++)
		push(queue, i, i);
	test__equal("the callback's error comes back",
		    -event_queue__pop_until(queue, UINT64_MAX, see, &seen), EPIPE);
	test__equal("it ends the handing over", seen.nr, 3);
	event_queue__pop_until(queue, UINT64_MAX, see, &seen);
	test__equal("the later ones stay", seen.nr, 5);
	push(queue, 1, 1);
	event_queue__free(queue); /* the sanitizer tells if what is held is not freed */
}

int main(void)
{
	test_random_order();
	test_stop();
	return test__done();
}
