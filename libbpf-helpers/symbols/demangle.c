// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/demangle.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#define RESULT_MAX (64 * 1024)

struct result {
	size_t size;
	jmp_buf too_long;
	char text[RESULT_MAX];
};

static void result__append(const char *text, size_t size, void *opaque)
{
	struct result *result = opaque;

	/* The demangler has no way to be stopped but this one. The C++ one keeps all it has on the
	 * stack; the Rust one may lose the characters of one punycode name. */
	if (size >= RESULT_MAX - result->size)
		longjmp(result->too_long, 1);
	memcpy(result->text + result->size, text, size);
	result->size += size;
}

static int run(const char *name, struct result *result)
{
	const int options = DMGL_PARAMS | DMGL_ANSI;

	if (setjmp(result->too_long))
		return 0;
	/* Rust's older names are C++ names with a hash at the end. */
	if (rust_demangle_callback(name, options, result__append, result))
		return 1;
	result->size = 0;
	return cplus_demangle_v3_callback(name, options, result__append, result);
}

char *demangle(const char *name)
{
	struct result *result;
	char *text = NULL;

	if (name[0] != '_' || (name[1] != 'Z' && name[1] != 'R'))
		return NULL;
	result = malloc(sizeof(*result));
	if (!result)
		return NULL;
	result->size = 0;
	if (run(name, result))
		text = strndup(result->text, result->size);
	free(result);
	return text;
}
