/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The stacks that the kernel side has sent (bpf/stack.bpf.h), by their names. Names of
 * addresses are symbols/symbolizer.h's business. Knows no libbpf.
 */
#ifndef VANTAGE_COLLECT_STACKS_H
#define VANTAGE_COLLECT_STACKS_H

#include <stddef.h>
#include <stdint.h>

#include "shared/stack.h"

struct stack {
	uint64_t hash;
	uint64_t start_ns; /* user stacks: of the process (struct symbolizer_process) */
	uint32_t pid; /* 0: a kernel stack */
	uint32_t nr;
	uint64_t frames[]; /* the innermost first */
};

/* All zero: empty. */
struct stacks {
	struct stack **places; /* open addressing; a power of two of places, or NULL */
	size_t capacity;
	size_t nr;
};

/* Keeps a copy. size: of the record. 0; -ENOMEM; -EINVAL when the record is not whole. A stack
 * that is there already stays as it is. */
int stacks__add(struct stacks *stacks, const struct taken_stack *taken, size_t size);

/* NULL when there is none with this name. Valid until stacks__free(). */
const struct stack *stacks__find(const struct stacks *stacks, uint64_t hash);

void stacks__free(struct stacks *stacks);

#endif
