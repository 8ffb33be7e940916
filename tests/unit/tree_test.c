// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/tree.h"

#include <stdlib.h>

#include "test.h"

static bool has(const struct number_list *list, uint64_t number)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i] == number)
			return true;
	return false;
}

int main(void)
{
	/* Child, parent: a family of 10, one of 20, and a child with a lower id than its parent. */
	static const uint32_t pairs[][2] = { { 11, 10 }, { 12, 11 },	 { 5, 12 }, { 21, 20 },
					     { 22, 21 }, { 4000000, 5 }, { 10, 1 }, { 20, 1 } };
	struct number_list family = {};
	struct parents parents = {};
	size_t i;

	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		test__equal("a parent is kept", -parents__set(&parents, pairs[i][0], pairs[i][1]),
			    0);
	number_list__add(&family, 10);
	test__equal("the family grows", -parents__descend(&parents, &family), 0);
	test__check(family.nr == 5 && has(&family, 11) && has(&family, 12) && has(&family, 5) &&
			    has(&family, 4000000),
		    "by all that descend from it, also from a lower id", "it has %zu", family.nr);
	parents__set(&parents, 21, 12);
	parents__descend(&parents, &family);
	test__check(family.nr == 7 && has(&family, 21) && has(&family, 22),
		    "a parent that is told anew brings its family", "it has %zu", family.nr);
	parents__descend(&parents, &family);
	test__equal("nobody is added twice", family.nr, 7);
	number_list__free(&family);
	number_list__add(&family, 77);
	number_list__add(&family, 99999999);
	parents__descend(&parents, &family);
	test__equal("a process without children, or that is not known", family.nr, 2);
	number_list__free(&family);
	parents__free(&parents);
	return test__done();
}
