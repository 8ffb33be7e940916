// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/filter.h"

#include <errno.h>

/* TASK_COMM_LEN without the NUL. */
#define COMM_BYTES_MAX 15

static void accept(struct filter_globs *globs, unsigned int position, unsigned char character)
{
	globs->accepts[character] |= 1ULL << position;
}

/* Reads one character at *pattern, which a \ may stand before. 0, or -EINVAL at the end. */
static int read_character(const char **pattern, unsigned char *character)
{
	if (**pattern == '\\')
		(*pattern)++;
	if (!**pattern)
		return -EINVAL;
	*character = (unsigned char)*(*pattern)++;
	return 0;
}

/* Reads what follows the [ of a class, up to its ]. A ] that comes first is one of the class. */
static int add_class(struct filter_globs *globs, const char **pattern, unsigned int position)
{
	bool members[256] = {}, negated = **pattern == '!', first = true;
	unsigned char low, high;

	if (negated)
		(*pattern)++;
	for (; first || **pattern != ']'; first = false) {
		if (read_character(pattern, &low))
			return -EINVAL;
		high = low;
		if ((*pattern)[0] == '-' && (*pattern)[1] != ']') {
			(*pattern)++;
			if (read_character(pattern, &high) || high < low)
				return -EINVAL;
		}
		for (unsigned int c = low; c <= high; c++)
			members[c] = true;
	}
	(*pattern)++;
	for (unsigned int c = 1; c < 256; c++)
		if (members[c] != negated)
			accept(globs, position, (unsigned char)c);
	return 0;
}

/* Reads one token at *pattern that stands for one character. */
static int add_token(struct filter_globs *globs, const char **pattern, unsigned int position)
{
	unsigned char character;

	switch (**pattern) {
	case '?':
		(*pattern)++;
		for (unsigned int c = 1; c < 256; c++)
			accept(globs, position, (unsigned char)c);
		return 0;
	case '[':
		(*pattern)++;
		return add_class(globs, pattern, position);
	default:
		if (read_character(pattern, &character))
			return -EINVAL;
		accept(globs, position, character);
		return 0;
	}
}

/* The first position that no pattern has; each pattern's last one is in final. */
static unsigned int free_position(const struct filter_globs *globs)
{
	return globs->final ? 64 - (unsigned int)__builtin_clzll(globs->final) : 0;
}

int glob__add(struct filter_globs *globs, const char *pattern)
{
	struct filter_globs added = *globs;
	unsigned int first = free_position(globs), position = first;
	int err;

	if (!*pattern)
		return -EINVAL;
	while (*pattern) {
		if (*pattern == '*') {
			pattern++;
			if (position < FILTER_GLOB_POSITIONS)
				added.loops |= 1ULL << position;
			continue;
		}
		/* A pattern that is too long is still read to its end: malformed is worse. */
		err = add_token(&added, &pattern, position % FILTER_GLOB_POSITIONS);
		if (err)
			return err;
		position++;
	}
	if (position - first > COMM_BYTES_MAX)
		return -ENAMETOOLONG;
	if (position >= FILTER_GLOB_POSITIONS)
		return -E2BIG;
	added.first |= 1ULL << first;
	added.final |= 1ULL << position;
	*globs = added;
	return 0;
}

bool glob__matches(const struct filter_globs *globs, const char *name, size_t size)
{
	uint64_t state = globs->first;

	for (size_t i = 0; i < size && name[i]; i++)
		state = ((state & globs->accepts[(unsigned char)name[i]]) << 1) |
			(state & globs->loops);
	return state & globs->final;
}
