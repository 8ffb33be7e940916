// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/libbpf_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "run/log.h"

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
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		log_debug("%s", line);
	free(text);
	errno = saved_errno;
	return size;
}

void libbpf_log__install(void)
{
	libbpf_set_print(print);
}
