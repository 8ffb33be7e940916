// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "odd_args.h"

static const char *const one[] = { "alone", NULL };
static const char *const empty_words[] = { "", "", "x", "", NULL };
static const char *const spaces[] = { "a b", " ", "  two  ", "\t", NULL };
static const char *const newlines[] = { "a", "line\nline", "\n", "\r\n", NULL };
static const char *const escapes[] = { "a", "\x1b[2J\x1b[31mred", "\x1b]0;title\x07",
				       "\x9b"
				       "1m",
				       NULL };
static const char *const not_utf8[] = {
	"\xff", "\xfe\xff", "\xc3", "\xe2\x82", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", NULL
};
static const char *const utf8[] = { "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
				    "\xe4\xb8\xad\xe6\x96\x87", NULL };
static const char *const disguises[] = { "\xe2\x80\xae"
					 "txt.exe",
					 "\xe2\x80\xa8", "\xc2\x85", "\xe2\x81\xa6", NULL };
static const char *const quotes[] = { "it's", "\"quoted\"", "'",     "''",
				      "`id`", "$(id)",	    "$HOME", NULL };
static const char *const backslashes[] = { "\\",    "\\\\",    "a\\b",	"\\n",	 "\\x41",   "\\x4",
					   "\\xZZ", "\\\\x41", "\\xFF", "\\xff", "\\u0041", NULL };
static const char *const json_like[] = { "\"},{\"type\":\"account\"", "]", "{", ",", "null", NULL };
static const char *const options[] = { "-n", "--", "-", "--ready-fd", "1", "*",
				       "?",  "#c", "~", "!",	      NULL };

const struct odd_args odd_args[] = {
	{ "one argument", one },
	{ "empty arguments", empty_words },
	{ "spaces and tabs", spaces },
	{ "newlines", newlines },
	{ "terminal escape sequences", escapes },
	{ "bytes that are not UTF-8", not_utf8 },
	{ "UTF-8", utf8 },
	{ "characters that disguise text", disguises },
	{ "quotes and substitutions", quotes },
	{ "backslashes and what looks like an escape", backslashes },
	{ "what looks like JSON", json_like },
	{ "what looks like options and globs", options },
};
const size_t nr_odd_args = sizeof(odd_args) / sizeof(*odd_args);
