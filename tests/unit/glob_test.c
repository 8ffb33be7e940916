// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/filter.h"
#include "test.h"

#define COMM_BYTES 15

/*
 * What a pattern means, written down without positions: the rest of the name after the
 * first token, or after any number of characters for a *.
 */
static bool matches_class(const char **pattern, char c)
{
	bool negated = **pattern == '!', in = false, first = true;

	if (negated)
		(*pattern)++;
	while (first || **pattern != ']') {
		unsigned char low, high;

		first = false;
		if (**pattern == '\\')
			(*pattern)++;
		low = high = (unsigned char)*(*pattern)++;
		if ((*pattern)[0] == '-' && (*pattern)[1] != ']') {
			(*pattern)++;
			if (**pattern == '\\')
				(*pattern)++;
			high = (unsigned char)*(*pattern)++;
		}
		in |= low <= (unsigned char)c && (unsigned char)c <= high;
	}
	(*pattern)++;
	return in != negated;
}

static bool matches(const char *pattern, const char *name)
{
	if (!*pattern)
		return !*name;
	if (*pattern == '*')
		return matches(pattern + 1, name) || (*name && matches(pattern, name + 1));
	if (!*name)
		return false;
	if (*pattern == '?')
		return matches(pattern + 1, name + 1);
	if (*pattern == '[') {
		pattern++;
		return matches_class(&pattern, *name) && matches(pattern, name + 1);
	}
	if (*pattern == '\\')
		pattern++;
	return *pattern == *name && matches(pattern + 1, name + 1);
}

static bool matches_one(const char *pattern, const char *name)
{
	struct filter_globs globs = {};

	return !glob__add(&globs, pattern) && glob__matches(&globs, name, COMM_BYTES);
}

/* Word number "number" over the alphabet: every word up to some length comes once. */
static void nth_word(unsigned int number, const char *alphabet, char *word)
{
	unsigned int base = (unsigned int)strlen(alphabet);

	for (; number; number = (number - 1) / base)
		*word++ = alphabet[(number - 1) % base];
	*word = '\0';
}

/* Patterns of up to 5 tokens from "ab*?", names of up to 5 letters from "abc". */
static void check_exhaustive(void)
{
	unsigned int nr_patterns = 1364, nr_names = 363, nr_matches = 0;
	char pattern[16], name[16];

	for (unsigned int i = 1; i <= nr_patterns; i++) {
		struct filter_globs globs = {};

		nth_word(i, "ab*?", pattern);
		if (glob__add(&globs, pattern)) {
			test__check(false, "all small patterns are taken", "\"%s\" is not",
				    pattern);
			return;
		}
		for (unsigned int j = 0; j <= nr_names; j++) {
			bool expected;

			nth_word(j, "abc", name);
			expected = matches(pattern, name);
			nr_matches += expected;
			if (glob__matches(&globs, name, COMM_BYTES) == expected)
				continue;
			test__check(false, "all small patterns on all small names",
				    "\"%s\" on \"%s\": expected %d", pattern, name, expected);
			return;
		}
	}
	test__check(nr_matches > 10000 && nr_matches < nr_patterns * nr_names / 2,
		    "all small patterns on all small names", "saw %u matches", nr_matches);
}

/* Appends a random token to the pattern, and to the name one character that it could take. */
static void random_token(char **pattern, char **name)
{
	static const char letters[] = "abcxyz-]!";
	char c = letters[random() % 9], d;

	switch (random() % 6) {
	case 0:
		*pattern += sprintf(*pattern, "*");
		for (long i = random() % 3; i; i--)
			*(*name)++ = letters[random() % 9];
		return;
	case 1:
		*pattern += sprintf(*pattern, "?");
		break;
	case 2:
		d = letters[random() % 6];
		*pattern += sprintf(*pattern, "[%s%c-z\\%c]", random() % 4 ? "" : "!", d, c);
		break;
	case 3:
		*pattern += sprintf(*pattern, "\\%c", c);
		break;
	default:
		*pattern += sprintf(*pattern, "%c", letters[random() % 6]);
		c = random() % 8 ? (*pattern)[-1] : c;
		break;
	}
	*(*name)++ = c;
}

/* Up to 4 random patterns at once, each on the names that were made for it and its fellows. */
static void check_random(void)
{
	char patterns[4][128], names[4][64];
	unsigned int nr_matches = 0, nr_checks = 0, nr_rounds = 40000;

	srandom(1);
	for (unsigned int round = 0; round < nr_rounds; round++) {
		struct filter_globs globs = {};
		int nr = 1 + (int)(random() % 4);

		for (int i = 0; i < nr; i++) {
			char *pattern = patterns[i], *name = names[i];

			for (long tokens = 1 + random() % 5; tokens; tokens--)
				random_token(&pattern, &name);
			*pattern = *name = '\0';
			if (glob__add(&globs, patterns[i])) {
				test__check(false, "random patterns are taken", "\"%s\" is not",
					    patterns[i]);
				return;
			}
		}
		for (int i = 0; i < nr; i++) {
			bool expected = false;

			for (int j = 0; j < nr; j++)
				expected |= matches(patterns[j], names[i]);
			nr_checks++;
			nr_matches += expected;
			if (glob__matches(&globs, names[i], COMM_BYTES) == expected)
				continue;
			test__check(false, "random patterns on random names",
				    "\"%s\" (1 of %d) on \"%s\": expected %d", patterns[i], nr,
				    names[i], expected);
			return;
		}
	}
	test__check(nr_matches > nr_checks / 10 && nr_matches < nr_checks / 10 * 9,
		    "random patterns on random names", "saw %u matches of %u", nr_matches,
		    nr_checks);
}

static void check_single(void)
{
	static const struct {
		const char *pattern, *name;
		bool expected;
	} cases[] = {
		{ "nginx", "nginx", true },
		{ "nginx", "nginxx", false },
		{ "nginx", "ngin", false },
		{ "nginx", "Nginx", false },
		{ "nginx*", "nginx", true },
		{ "*", "", true },
		{ "*", "anything", true },
		{ "?", "", false },
		{ "?", "\xff", true },
		{ "[a-c]", "b", true },
		{ "[a-c]", "d", false },
		{ "[!a-c]", "d", true },
		{ "[!a-c]", "b", false },
		{ "[!a-c]", "", false },
		{ "[]a]", "]", true },
		{ "[!]a]", "]", false },
		{ "[!]a]", "b", true },
		{ "[a-]", "-", true },
		{ "[-a]", "-", true },
		{ "[a-c-e]", "-", true },
		{ "[a-c-e]", "d", false },
		{ "[\\]]", "]", true },
		{ "[a\\-c]", "b", false },
		{ "[a\\-c]", "-", true },
		{ "[\\a-\\c]", "b", true },
		{ "[^a]", "^", true },
		{ "[^a]", "b", false },
		{ "[\x80-\xff]", "\xc3", true },
		{ "[*?]", "*", true },
		{ "[*?]", "x", false },
		{ "\\*", "*", true },
		{ "\\*", "x", false },
		{ "\\\\", "\\", true },
		{ "\\[a]", "[a]", true },
		{ "a]", "a]", true },
		{ "kworker/*:*", "kworker/0:1-ev", true },
		{ "kworker/*:*", "kworker", false },
		{ "***a***", "bab", true },
		{ "*.*.*", "a.b", false },
		{ "abcdefghijklmno", "abcdefghijklmno", true },
		{ "*????????????*", "abcdefghijk", false },
		{ "*????????????*", "abcdefghijkl", true },
	};
	char name[64];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(name, sizeof(name), "\"%s\" on \"%s\"", cases[i].pattern, cases[i].name);
		for (char *c = name; *c; c++)
			if (*c < ' ' || *c > '~')
				*c = '_';
		test__check(matches_one(cases[i].pattern, cases[i].name) == cases[i].expected, name,
			    "expected %d", cases[i].expected);
	}
}

static void check_refused(void)
{
	static const struct {
		const char *pattern;
		int err;
	} cases[] = {
		{ "", -EINVAL },
		{ "[", -EINVAL },
		{ "[a", -EINVAL },
		{ "[]", -EINVAL },
		{ "[!", -EINVAL },
		{ "[!]", -EINVAL },
		{ "[a-", -EINVAL },
		{ "[a-\\", -EINVAL },
		{ "[z-a]", -EINVAL },
		{ "[\\", -EINVAL },
		{ "ab[", -EINVAL },
		{ "\\", -EINVAL },
		{ "ab\\", -EINVAL },
		{ "abcdefghijklmnop", -ENAMETOOLONG },
		{ "*abcdefghijklmnop*", -ENAMETOOLONG },
		{ "abcdefghijklmnop[", -EINVAL },
	};
	struct filter_globs globs = {}, before;
	char name[64];

	glob__add(&globs, "kept?[a-z]*");
	before = globs;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int err = glob__add(&globs, cases[i].pattern);

		snprintf(name, sizeof(name), "\"%s\" is refused", cases[i].pattern);
		test__check(err == cases[i].err && !memcmp(&globs, &before, sizeof(globs)), name,
			    "expected %d and nothing changed, saw %d", cases[i].err, err);
	}
}

/* 64 positions: four patterns of 15 characters, or 32 of one. */
static void check_overflow(void)
{
	struct filter_globs globs = {}, before;
	char pattern[] = "a??????????????", name[32];
	char c;

	for (int i = 0; i < 4; i++) {
		pattern[0] = (char)('a' + i);
		test__equal("four patterns of full length fit",
			    (uint64_t)-glob__add(&globs, pattern), 0);
	}
	before = globs;
	test__equal("one character more does not", (uint64_t)-glob__add(&globs, "x"), E2BIG);
	test__equal("nor a * alone", (uint64_t)-glob__add(&globs, "*"), E2BIG);
	test__check(!memcmp(&globs, &before, sizeof(globs)), "a refused pattern changes nothing",
		    "it did");
	for (c = 'a'; c <= 'e'; c++) {
		snprintf(name, sizeof(name), "%cbcdefghijklmno", c);
		test__equal("the full automaton finds its patterns and no other",
			    glob__matches(&globs, name, COMM_BYTES), c < 'e');
	}

	globs = (struct filter_globs){};
	for (int i = 0; i < 32; i++) {
		char letter[] = { (char)('A' + i), '\0' };

		/* [ and \ are among them. */
		snprintf(name, sizeof(name), "\\%s", letter);
		if (glob__add(&globs, name))
			test__check(false, "32 patterns of one character fit", "'%s' does not",
				    letter);
	}
	test__equal("a 33rd does not fit", (uint64_t)-glob__add(&globs, "z"), E2BIG);
	for (c = 1; c < 127; c++)
		if (glob__matches(&globs, (char[]){ c, '\0' }, COMM_BYTES) !=
		    (c >= 'A' && c < 'A' + 32))
			break;
	test__equal("32 patterns match their characters and no other", (uint64_t)c, 127);
}

static void check_size(void)
{
	struct filter_globs globs = {};

	test__check(!glob__matches(&globs, "a", COMM_BYTES), "no pattern matches nothing",
		    "it did");
	glob__add(&globs, "abc");
	test__check(glob__matches(&globs, "abcd", 3), "no more than size bytes are read",
		    "expected a match");
	test__check(!glob__matches(&globs, "abc", 2), "a name that is cut does not match whole",
		    "expected none");
}

int main(void)
{
	check_single();
	check_refused();
	check_overflow();
	check_size();
	check_exhaustive();
	check_random();
	return test__done();
}
