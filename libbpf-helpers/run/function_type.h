/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel's types (BTF) say of one of its functions. */
#ifndef VANTAGE_RUN_FUNCTION_TYPE_H
#define VANTAGE_RUN_FUNCTION_TYPE_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: not known. */
struct function_type {
	bool known;
	bool returns_nothing;
	bool is_signed; /* what it returns, where it is a number */
	uint32_t size; /* of that in bytes; 8 for pointers */
};

/* Reads it, which takes some 30 ms; a function that is not there, or a kernel without types, is
 * left unknown. */
void function_type__read(struct function_type *type, const char *function);

/* Bits of the register above what is returned: those that mean nothing. */
uint32_t function_type__shift(const struct function_type *type);

/* Whether what is returned can be a negative number, as errors are; pointers can. */
bool function_type__has_errors(const struct function_type *type);

/* What a function has returned, from the whole register; pointers and what is not known are taken
 * as signed, so that errors in them are negative. */
int64_t function_type__result(const struct function_type *type, uint64_t value);

#endif
