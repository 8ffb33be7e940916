/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The machine's own bash as the judge of what is printed to be pasted into it.
 */
#ifndef VANTAGE_TESTS_SHELL_H
#define VANTAGE_TESTS_SHELL_H

#include <stdbool.h>
#include <stddef.h>

/* Path of bash, or NULL. */
const char *shell__path(void);

/* Whether this machine has bash. */
bool shell__is_there(void);

/* The words bash makes of a piece of a command line, each ended by NUL, to be freed. NULL when
 * bash reports an error. */
char *shell__words(const char *line, size_t *size);

/* Whether bash makes exactly these words of it. */
bool shell__gives(const char *line, const char *const *argv);

#endif
