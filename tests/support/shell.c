// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "shell.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scratch.h"
#include "test.h"
#include "tool.h"

const char *shell__path(void)
{
	static const char *const places[] = { "/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash",
					      NULL };

	for (const char *const *place = places; *place; place++)
		if (!access(*place, X_OK))
			return *place;
	return NULL;
}

bool shell__is_there(void)
{
	return shell__path();
}

char *shell__words(const char *line, size_t *size)
{
	static const char before[] = "set -- ",
			  after[] = "\nfor word; do printf '%s\\0' \"$word\"; "
				    "done\n";
	const struct tool_setup setup = { .path = shell__path() };
	char *script, *words = NULL;
	struct tool_run run;

	if (asprintf(&script, "%s%s%s", before, line, after) < 0)
		test__fatal("memory", "out of memory");
	/* By a file: a line can be longer than one argument may be. */
	if (!tool_run__once(&run, &setup,
			    ARGS("--norc", "--noprofile",
				 scratch__write("script.sh", script, strlen(script), 0644))) &&
	    !run.err_size) {
		words = run.out;
		*size = run.out_size;
		run.out = NULL;
	}
	tool_run__free(&run);
	free(script);
	return words;
}

bool shell__gives(const char *line, const char *const *argv)
{
	size_t size = 0, at = 0;
	char *words = shell__words(line, &size);
	bool same = words;

	for (; same && *argv; argv++) {
		size_t length = strlen(*argv) + 1;

		same = length <= size - at && !memcmp(words + at, *argv, length);
		at += length;
	}
	free(words);
	return same && at == size;
}
