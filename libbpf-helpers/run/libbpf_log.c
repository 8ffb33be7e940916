// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/libbpf_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "run/log.h"

#define KEPT_MAX 4096

/* Part of the log's state: libbpf's print callback has no context of its own. */
static char kept[KEPT_MAX + 1];
static size_t kept_size;

/* Appends text; what no longer fits is dropped from the front. */
static void keep(const char *text)
{
	size_t size = strlen(text);

	if (size > KEPT_MAX) {
		text += size - KEPT_MAX;
		size = KEPT_MAX;
	}
	if (kept_size + size > KEPT_MAX) {
		size_t dropped = kept_size + size - KEPT_MAX;

		kept_size -= dropped;
		memmove(kept, kept + dropped, kept_size);
	}
	memcpy(kept + kept_size, text, size + 1);
	kept_size += size;
}

static int print(enum libbpf_print_level level, const char *format, va_list args)
{
	/* libbpf looks at errno after it has printed. */
	int saved_errno = errno;
	char *text, *line, *rest;
	int size;

	if (level == LIBBPF_DEBUG)
		return 0;
	size = vasprintf(&text, format, args);
	if (size < 0) {
		log_debug("%s", format);
		errno = saved_errno;
		return size;
	}
	/* A verifier log comes as one text of many lines. */
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		log_debug("%s", line);
		if (level != LIBBPF_WARN)
			continue;
		if (kept_size)
			keep("; ");
		keep(line);
	}
	free(text);
	errno = saved_errno;
	return size;
}

void libbpf_log__install(void)
{
	libbpf_set_print(print);
}

const char *libbpf_log__last(void)
{
	return kept;
}

void libbpf_log__clear(void)
{
	kept_size = 0;
	kept[0] = '\0';
}
