// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "names.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Of a name, one character in four may be wrong, and one at least. */
static size_t most_changes(const char *wanted)
{
	size_t most = strlen(wanted) / 4;

	return most ? most : 1;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Characters to insert, delete or replace, and neighbours to swap, to come from one name to the
 * other (optimal string alignment); both shorter than NEAR_NAME_SIZE.
 */
static size_t distance(const char *from, const char *to)
{
	size_t rows[3][NEAR_NAME_SIZE], length = strlen(to);
	size_t *before = rows[0], *last = rows[1], *row = rows[2], *spare;

	for (size_t j = 0; j <= length; j++)
		before[j] = last[j] = j;
	for (size_t i = 1; i <= strlen(from); i++) {
		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			bool differs = from[i - 1] != to[j - 1];

			row[j] = least(least(last[j] + 1, row[j - 1] + 1), last[j - 1] + differs);
			if (i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[length];
}

void near_names__offer(struct near_names *near, const char *name)
{
	size_t most = most_changes(near->wanted), length = strlen(name), place, away;
	size_t wanted = strlen(near->wanted);

	if (length >= NEAR_NAME_SIZE || wanted >= NEAR_NAME_SIZE || length + most < wanted ||
	    wanted + most < length)
		return;
	away = distance(near->wanted, name);
	if (away > most)
		return;
	for (place = near->nr; place && near->items[place - 1].distance > away; place--)
		;
	for (size_t i = 0; i < near->nr; i++)
		if (!strcmp(near->items[i].name, name))
			return;
	if (place == NEAR_NAMES_MAX)
		return;
	if (near->nr < NEAR_NAMES_MAX)
		near->nr++;
	for (size_t i = near->nr - 1; i > place; i--)
		near->items[i] = near->items[i - 1];
	strcpy(near->items[place].name, name);
	near->items[place].distance = away;
}

const char *near_names__text(const struct near_names *near, char *text, size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < near->nr && used < size; i++) {
		const char *before = !i ? "" : i + 1 == near->nr ? " or " : ", ";

		used += (size_t)snprintf(text + used, size - used, "%s%s", before,
					 near->items[i].name);
	}
	return text;
}
