/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The one rule by which bytes that a traced program chose reach a terminal, a
 * file or a parser: \xHH (two lower-case hex digits) stands for the byte HH and
 * nothing else is an escape, so replacing each \xHH by its byte gives back the
 * original. Knows no other module.
 *
 * Escaped for text: bytes below 0x20, 0x7f, the backslash, bytes that are not
 * valid UTF-8 (RFC 3629: no overlong forms, surrogates, or beyond U+10FFFF), and
 * the characters that move or disguise text on a terminal: C1 controls
 * (U+0080-U+009F), line and paragraph separators, direction marks and overrides
 * (U+061C, U+200E, U+200F, U+2028-U+202E, U+2066-U+2069).
 * Escaped for JSON: bytes that are not valid UTF-8, and a backslash before "xHH"
 * that could be read as an escape; JSON's own quoting does the rest, also for the
 * characters that move or disguise text (\uXXXX).
 */
#ifndef VANTAGE_OUTPUT_ESCAPE_H
#define VANTAGE_OUTPUT_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the valid UTF-8 character at data (1-4), or 0 if there is none. size >= 1. */
size_t utf8__length(const char *data, size_t size);

/* Whether every byte of data may reach a terminal as it is. */
bool escape__is_plain(const char *data, size_t size);

/*
 * Writes data escaped for text to out, at most 4 bytes for each of data; out has
 * room for 4 * size. Returns the bytes written; no NUL is added.
 */
size_t escape__text(char *out, const char *data, size_t size);

/*
 * Writes data as a JSON string with its quotes; out has room for 6 * size + 2.
 * Returns the bytes written; no NUL is added.
 */
size_t escape__json(char *out, const char *data, size_t size);

/*
 * Writes data as one word of a shell command line that means the same when it is
 * pasted into bash, zsh or ksh: as it is when safe, else in '...', else in
 * $'...' with \xHH. out has room for 4 * size + 4. Returns the bytes written.
 */
size_t escape__shell(char *out, const char *data, size_t size, bool always_quote);

#endif
