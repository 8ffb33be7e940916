// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The longest waits: those of each interval, in order. */
#include "runqlat/slowest.h"

#include "support/test.h"

static void add(struct slowest *slowest, uint64_t interval, uint64_t duration_ns)
{
	const struct runqlat_slow slow = {
		.time_ns = 1000 + duration_ns,
		.duration_ns = duration_ns,
		.interval = interval,
	};

	slowest__add(slowest, &slow);
}

int main(void)
{
	static struct slowest slowest = { .limit = 3 }, none = { .limit = 0 };
	const struct runqlat_slow *items;
	size_t nr;

	test__equal("nothing at first", slowest__take(&slowest, 1, &items), 0);
	for (uint64_t i = 0; i < 100; i++)
		add(&slowest, 1, i * 37 % 100);
	add(&slowest, 2, 1000);
	nr = slowest__take(&slowest, 1, &items);
	test__equal("no more than the limit", nr, 3);
	test__check(items[0].duration_ns == 99 && items[1].duration_ns == 98 &&
			    items[2].duration_ns == 97,
		    "the longest, in order", "%llu", (unsigned long long)items[0].duration_ns);
	nr = slowest__take(&slowest, 2, &items);
	test__check(nr == 1 && items[0].duration_ns == 1000, "the next interval has its own", "%zu",
		    nr);
	test__equal("they are forgotten then", slowest__take(&slowest, 2, &items), 0);
	add(&none, 1, 5);
	test__equal("none with a limit of 0", slowest__take(&none, 1, &items), 0);
	return test__done();
}
