// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/stacks.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 1024

/* Where the stack with this name is, or would be. The name is a hash already. */
static struct stack **place_of(struct stack **places, size_t capacity, uint64_t hash)
{
	size_t at = hash & (capacity - 1);

	while (places[at] && places[at]->hash != hash)
		at = (at + 1) & (capacity - 1);
	return &places[at];
}

static bool stacks__grow(struct stacks *stacks)
{
	size_t capacity = stacks->capacity ? stacks->capacity * 2 : CAPACITY_MIN;
	struct stack **places;

	if (stacks->nr < stacks->capacity / 2)
		return true;
	places = calloc(capacity, sizeof(*places));
	if (!places)
		return false;
	for (size_t i = 0; i < stacks->capacity; i++)
		if (stacks->places[i])
			*place_of(places, capacity, stacks->places[i]->hash) = stacks->places[i];
	free(stacks->places);
	stacks->places = places;
	stacks->capacity = capacity;
	return true;
}

int stacks__add(struct stacks *stacks, const struct taken_stack *taken, size_t size)
{
	const size_t head = offsetof(struct taken_stack, frames);
	struct stack **place, *stack;
	size_t bytes;

	if (size < head || taken->nr > STACK_FRAMES_MAX ||
	    size < head + taken->nr * sizeof(taken->frames[0]))
		return -EINVAL;
	if (!stacks__grow(stacks))
		return -ENOMEM;
	place = place_of(stacks->places, stacks->capacity, taken->hash);
	if (*place)
		return 0;
	bytes = taken->nr * sizeof(taken->frames[0]);
	stack = malloc(sizeof(*stack) + bytes);
	if (!stack)
		return -ENOMEM;
	*stack = (struct stack){
		.hash = taken->hash,
		.start_ns = taken->start_ns,
		.pid = taken->pid,
		.nr = taken->nr,
	};
	memcpy(stack->frames, taken->frames, bytes);
	*place = stack;
	stacks->nr++;
	return 0;
}

const struct stack *stacks__find(const struct stacks *stacks, uint64_t hash)
{
	return stacks->capacity ? *place_of(stacks->places, stacks->capacity, hash) : NULL;
}

void stacks__free(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->capacity; i++)
		free(stacks->places[i]);
	free(stacks->places);
	*stacks = (struct stacks){};
}
