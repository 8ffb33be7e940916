// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Stacks by their names: each once, all found again, records that are not whole refused. */
#include "collect/stacks.h"

#include <errno.h>

#include "support/test.h"

#define NR 50000

static int add(struct stacks *stacks, uint64_t hash, uint32_t nr)
{
	static struct taken_stack taken;

	taken.hash = hash;
	taken.nr = nr;
	taken.pid = (uint32_t)hash;
	for (uint32_t i = 0; i < nr; i++)
		taken.frames[i] = hash + i;
	return stacks__add(stacks, &taken,
			   offsetof(struct taken_stack, frames) + nr * sizeof(taken.frames[0]));
}

int main(void)
{
	struct stacks stacks = { 0 };
	static struct taken_stack taken;
	const size_t head = offsetof(struct taken_stack, frames);
	const struct stack *stack;
	uint64_t wrong = 0;

	test__check(!stacks__find(&stacks, 5), "none at first", "one");
	/* Names that fall on one place of the table, too. */
	for (uint64_t i = 2; i < NR; i++)
		wrong += add(&stacks, i << 12, i % 30) != 0;
	for (uint64_t i = 2; i < NR; i++) {
		stack = stacks__find(&stacks, i << 12);
		wrong += !stack || stack->nr != i % 30 ||
			 (stack->nr && stack->frames[stack->nr - 1] != (i << 12) + stack->nr - 1);
	}
	test__equal("each is found again", wrong, 0);
	test__equal("so many", stacks.nr, NR - 2);
	add(&stacks, 2 << 12, 9);
	stack = stacks__find(&stacks, 2 << 12);
	test__check(stack && stack->nr == 2 && stacks.nr == NR - 2, "one that is there stays", "%u",
		    stack ? stack->nr : 0);
	test__check(!stacks__find(&stacks, 7), "none with another name", "one");

	taken.nr = 3;
	test__equal("a record without its frames is refused",
		    (uint64_t)-stacks__add(&stacks, &taken, head + 2 * sizeof(uint64_t)), EINVAL);
	test__equal("one without a head is refused",
		    (uint64_t)-stacks__add(&stacks, &taken, head - 1), EINVAL);
	taken.nr = STACK_FRAMES_MAX + 1;
	test__equal("one with too many frames is refused",
		    (uint64_t)-stacks__add(&stacks, &taken, sizeof(taken)), EINVAL);
	stacks__free(&stacks);
	test__check(!stacks__find(&stacks, 2 << 12), "none after the end", "one");
	return test__done();
}
