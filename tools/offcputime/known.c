// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "known.h"

#include <stdlib.h>

#define CAPACITY_MIN 256

/* The dynamic linker has mapped the libraries of a program in about this time. */
#define FIRST_WAIT_NS 1000000ULL

static struct known *place_of(struct known *places, size_t capacity, uint32_t pid,
			      uint64_t start_ns)
{
	size_t at = (pid * 0x9e3779b97f4a7c15ULL ^ start_ns) >> 20 & (capacity - 1);

	while (places[at].pid && (places[at].pid != pid || places[at].start_ns != start_ns))
		at = (at + 1) & (capacity - 1);
	return &places[at];
}

static bool knowns__grow(struct knowns *knowns)
{
	size_t capacity = knowns->capacity ? knowns->capacity * 2 : CAPACITY_MIN;
	struct known *places;

	if (knowns->nr < knowns->capacity / 2)
		return true;
	places = calloc(capacity, sizeof(*places));
	if (!places)
		return false;
	for (size_t i = 0; i < knowns->capacity; i++) {
		const struct known *known = &knowns->places[i];

		if (known->pid)
			*place_of(places, capacity, known->pid, known->start_ns) = *known;
	}
	free(knowns->places);
	knowns->places = places;
	knowns->capacity = capacity;
	return true;
}

bool knowns__is_due(struct knowns *knowns, uint32_t pid, uint64_t start_ns, bool executed,
		    uint64_t now_ns)
{
	struct known *known;

	if (!knowns__grow(knowns))
		return true;
	known = place_of(knowns->places, knowns->capacity, pid, start_ns);
	if (known->pid && !executed && now_ns - known->read_ns < known->wait_ns)
		return false;
	knowns->nr += !known->pid;
	*known = (struct known){
		.start_ns = start_ns,
		.pid = pid,
		.read_ns = now_ns,
		.wait_ns = known->pid && !executed ? 2 * known->wait_ns : FIRST_WAIT_NS,
	};
	return true;
}

void knowns__free(struct knowns *knowns)
{
	free(knowns->places);
	*knowns = (struct knowns){};
}
