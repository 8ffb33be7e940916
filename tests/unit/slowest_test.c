// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The slowest events: those of each interval, in order. */
#include "collect/slowest.h"

#include "support/test.h"

/* A record is more than its head. */
struct event {
	struct slow_event head;
	uint64_t twice_ns;
};

static void add(struct slowest *slowest, uint64_t interval, uint64_t duration_ns)
{
	const struct event event = {
		.head = { 1000 + duration_ns, duration_ns, interval },
		.twice_ns = 2 * duration_ns,
	};

	slowest__add(slowest, &event);
}

int main(void)
{
	struct slowest slowest, none;
	const struct event *items;
	const void *records;
	size_t nr;

	if (slowest__open(&slowest, 3, sizeof(struct event)) ||
	    slowest__open(&none, 0, sizeof(struct event)))
		test__fatal("memory", "there is none");

	test__equal("nothing at first", slowest__take(&slowest, 1, &records), 0);
	for (uint64_t i = 0; i < 100; i++)
		add(&slowest, 1, i * 37 % 100);
	add(&slowest, 2, 1000);
	nr = slowest__take(&slowest, 1, &records);
	items = records;
	test__equal("no more than the limit", nr, 3);
	test__check(items[0].head.duration_ns == 99 && items[1].head.duration_ns == 98 &&
			    items[2].head.duration_ns == 97,
		    "the longest, in order", "%llu", (unsigned long long)items[0].head.duration_ns);
	test__equal("each with all of its record", items[0].twice_ns, 198);
	nr = slowest__take(&slowest, 2, &records);
	items = records;
	test__check(nr == 1 && items[0].head.duration_ns == 1000, "the next interval has its own",
		    "%zu", nr);
	test__equal("they are forgotten then", slowest__take(&slowest, 2, &records), 0);
	add(&none, 1, 5);
	test__equal("none with a limit of 0", slowest__take(&none, 1, &records), 0);
	slowest__close(&slowest);
	slowest__close(&none);
	return test__done();
}
