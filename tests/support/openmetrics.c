// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "openmetrics.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/escape.h"

struct judge {
	char family[128];
	bool is_histogram;
	bool is_gauge;
	bool has_samples;
	char group[1024]; /* labels of the histogram that is read, without le */
	double le; /* of its last bucket */
	double count; /* of its last bucket */
	bool complete; /* +Inf was there */
	bool counted, summed;
	void *seen; /* tsearch() trees of names of families, and of whole samples */
	void *samples;
};

/* One sample, cut into its parts. */
struct sample {
	char name[128];
	char labels[1024]; /* without le */
	bool has_le;
	double le;
	double value;
};

static int compare(const void *left, const void *right)
{
	return strcmp(left, right);
}

/* False when the string was there already. */
static bool remember(void **tree, const char *string)
{
	char *copy = strdup(string), **node = tsearch(copy, tree, compare);
	bool is_new = *node == copy;

	if (!is_new)
		free(copy);
	return is_new;
}

static size_t name_length(const char *text, bool colons)
{
	size_t length = 0;

	if (isdigit((unsigned char)*text))
		return 0;
	while (isalnum((unsigned char)text[length]) || text[length] == '_' ||
	       (colons && text[length] == ':'))
		length++;
	return length;
}

/* The bytes up to the closing quote of a label's value, or 0. */
static size_t quoted_length(const char *text)
{
	size_t length = 1, character;

	if (*text != '"')
		return 0;
	while (text[length] != '"') {
		if (text[length] == '\\') {
			if (!text[length + 1] || !strchr("\\\"n", text[length + 1]))
				return 0;
			length += 2;
			continue;
		}
		character = utf8__length(text + length, strlen(text + length));
		if (!text[length] || !character || (unsigned char)text[length] < 0x20)
			return 0;
		length += character;
	}
	return length + 1;
}

/* Reads {a="b",c="d"}. The text behind it, or NULL. */
static const char *read_labels(const char *text, struct sample *sample)
{
	char names[256] = ",";
	size_t used = 0;

	for (;;) {
		size_t name = name_length(text, false), value;
		char wrapped[64];

		if (!name || text[name] != '=')
			return NULL;
		value = quoted_length(text + name + 1);
		if (!value)
			return NULL;
		snprintf(wrapped, sizeof(wrapped), ",%.*s,", (int)name, text);
		if (strstr(names, wrapped))
			return NULL;
		strncat(names, wrapped + 1, sizeof(names) - strlen(names) - 1);
		if (name == 2 && !strncmp(text, "le", 2)) {
			sample->has_le = true;
			sample->le = strtod(text + 4, NULL);
		} else {
			used += snprintf(sample->labels + used, sizeof(sample->labels) - used,
					 "%.*s,", (int)(name + 1 + value), text);
		}
		text += name + 1 + value;
		if (*text == '}')
			return text + 1;
		if (*text++ != ',')
			return NULL;
	}
}

static const char *read_sample(const char *line, struct sample *sample)
{
	size_t length = name_length(line, true);
	char *end;

	*sample = (struct sample){};
	if (!length || length >= sizeof(sample->name))
		return "a sample without a name";
	memcpy(sample->name, line, length);
	line += length;
	if (*line == '{')
		line = read_labels(line + 1, sample);
	if (!line || *line != ' ')
		return "labels that cannot be read";
	errno = 0;
	sample->value = strtod(line + 1, &end);
	if (end == line + 1 || *end || !isfinite(sample->value) || sample->value < 0)
		return "no number";
	return NULL;
}

static const char *judge__end_group(struct judge *judge)
{
	if (!judge->is_histogram || !judge->has_samples)
		return NULL;
	return judge->complete && judge->counted && judge->summed ? NULL :
								    "a histogram that is not whole";
}

/* What the family's name has in addition, or NULL: it is of another one. */
static const char *suffix_of(const struct judge *judge, const struct sample *sample)
{
	size_t length = strlen(judge->family);

	return strncmp(sample->name, judge->family, length) ? NULL : sample->name + length;
}

static const char *judge__bucket(struct judge *judge, const struct sample *sample)
{
	if (!sample->has_le)
		return "a bucket without le";
	if (!judge->has_samples || strcmp(judge->group, sample->labels)) {
		const char *why = judge__end_group(judge);

		if (why)
			return why;
		strcpy(judge->group, sample->labels);
		judge->complete = judge->counted = judge->summed = false;
		judge->count = 0;
	} else if (sample->le <= judge->le) {
		return "buckets out of order";
	}
	if (sample->value < judge->count)
		return "buckets that are not cumulative";
	judge->le = sample->le;
	judge->count = sample->value;
	judge->complete = isinf(sample->le);
	return NULL;
}

static const char *judge__sample(struct judge *judge, const char *line)
{
	struct sample sample;
	const char *why = read_sample(line, &sample), *suffix;
	char series[1280];

	if (why)
		return why;
	suffix = suffix_of(judge, &sample);
	if (!suffix)
		return "a sample of another family";
	snprintf(series, sizeof(series), "%s{%s%g", sample.name, sample.labels,
		 sample.has_le ? sample.le : -1);
	if (!remember(&judge->samples, series))
		return "a series that was there before";
	if (!judge->is_histogram) {
		size_t length = strlen(sample.name);
		bool total = length > 6 && !strcmp(sample.name + length - 6, "_total");

		judge->has_samples = true;
		return *suffix || sample.has_le || total == judge->is_gauge ? "a wrong name" : NULL;
	}
	if (!strcmp(suffix, "_bucket")) {
		why = judge__bucket(judge, &sample);
		judge->has_samples = true;
		return why;
	}
	if (sample.has_le || !judge->has_samples || strcmp(judge->group, sample.labels))
		return "a sum or count apart from its buckets";
	if (!strcmp(suffix, "_sum"))
		judge->summed = true;
	else if (strcmp(suffix, "_count") || !judge->complete || sample.value != judge->count)
		return "a count that is not that of +Inf";
	else
		judge->counted = true;
	return NULL;
}

static const char *judge__comment(struct judge *judge, const char *line)
{
	char keyword[8], name[128], rest[512];
	const char *why = NULL;

	if (sscanf(line, "# %7s %127s %511[^\n]", keyword, name, rest) != 3)
		return "a comment";
	if (!strcmp(keyword, "HELP")) {
		why = judge__end_group(judge);
		if (!remember(&judge->seen, name))
			why = "a family that was there before";
		strcpy(judge->family, name);
		judge->is_histogram = judge->is_gauge = judge->has_samples = false;
		return strchr(rest, '\\') ? "an escape in HELP" : why;
	}
	if (strcmp(name, judge->family) || judge->has_samples)
		return "a comment about another family";
	if (!strcmp(keyword, "UNIT"))
		return strlen(name) > strlen(rest) &&
				       !strcmp(name + strlen(name) - strlen(rest), rest) ?
			       NULL :
			       "a unit that the name does not have";
	if (strcmp(keyword, "TYPE") || judge->is_histogram || judge->is_gauge)
		return "a comment";
	judge->is_histogram = !strcmp(rest, "histogram");
	judge->is_gauge = !strcmp(rest, "gauge");
	return judge->is_histogram || judge->is_gauge ? NULL : "a type that is not for both";
}

bool openmetrics__is_valid(const char *text, char *why, size_t why_size)
{
	struct judge judge = {};
	const char *wrong = NULL;
	bool ended = false;
	size_t nr = 0;

	while (*text && !wrong) {
		size_t length = strcspn(text, "\n");
		char *line = strndup(text, length);

		nr++;
		if (ended || !text[length])
			wrong = "text behind the end, or no newline there";
		else if (!strcmp(line, "# EOF"))
			ended = true;
		else
			wrong = *line == '#' ? judge__comment(&judge, line) :
					       judge__sample(&judge, line);
		text += length + (text[length] == '\n');
		free(line);
	}
	if (!wrong)
		wrong = ended ? judge__end_group(&judge) : "no end";
	if (wrong)
		snprintf(why, why_size, "line %zu: %s", nr, wrong);
	tdestroy(judge.seen, free);
	tdestroy(judge.samples, free);
	return !wrong;
}

int64_t openmetrics__value(const char *text, const char *sample)
{
	size_t length = strlen(sample);

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		if (!strncmp(text, sample, length) && text[length] == ' ')
			return strtoll(text + length, NULL, 10);
	}
	return -1;
}

int64_t openmetrics__sum(const char *text, const char *start)
{
	int64_t sum = 0;

	for (; text; text = strchr(text, '\n')) {
		const char *end;

		text += *text == '\n';
		if (strncmp(text, start, strlen(start)))
			continue;
		/* The number is behind the last blank. */
		for (end = text + strcspn(text, "\n"); end[-1] != ' '; end--)
			continue;
		sum += strtoll(end, NULL, 10);
	}
	return sum;
}

size_t openmetrics__count(const char *text, const char *start)
{
	size_t nr = 0;

	for (; text; text = strchr(text, '\n')) {
		text += *text == '\n';
		nr += !strncmp(text, start, strlen(start));
	}
	return nr;
}
