// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The state of a run as text for Prometheus: histograms that count from its start, folded to
 * powers of two, and the counters of the account. It is valid both by the Prometheus text format
 * and by OpenMetrics 1.0. Those differ in which name a counter's TYPE has (with "_total", and
 * without), so that a counter can have none here; its HELP and its name say what it is.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

#include "output/face.h"
#include "output/histogram.h"
#include "output/text.h"
#include "run/log.h"

#define NS_PER_SECOND UINT64_C(1000000000)

/* Buckets reach at least this far, so that the series of all keys have the same ones. */
#define LEAST_REACH_NS (UINT64_C(1) << 36)

/* One for 0, then one for each power of two. */
#define ROWS_MAX 65

/* The histogram of one key since the start of the run. */
struct series {
	char *labels; /* pid="1",comm="init"; "" for the whole */
	uint64_t rows[ROWS_MAX];
	uint64_t count;
	uint64_t sum; /* unscaled: nanoseconds, or bytes */
};

/* The number of a counter or gauge for one set of labels. */
struct counter {
	const struct field *field;
	char *labels;
	uint64_t number;
};

struct openmetrics_face {
	struct face face;
	const struct metric_names *names;
	void *series; /* a tree of tsearch(), by labels */
	void *counters; /* another one, by metric and labels */
	uint32_t nr_rows; /* that have a bucket of their own; what is longer is in +Inf alone */
	uint64_t scale; /* nanoseconds in the unit of the rows */
};

static int compare_series(const void *left, const void *right)
{
	const struct series *a = left, *b = right;

	return strcmp(a->labels, b->labels);
}

static void series__free(void *node)
{
	struct series *series = node;

	free(series->labels);
	free(series);
}

/* The series of these labels, made if need be; NULL when out of memory. */
static struct series *find_series(struct openmetrics_face *metrics, const char *labels)
{
	struct series *new = calloc(1, sizeof(*new)), **node;

	if (!new)
		return NULL;
	new->labels = strdup(labels);
	node = new->labels ? tsearch(new, &metrics->series, compare_series) : NULL;
	if (!node || *node != new)
		series__free(new);
	return node ? *node : NULL;
}

static int compare_counters(const void *left, const void *right)
{
	const struct counter *a = left, *b = right;
	int order = strcmp(a->field->metric, b->field->metric);

	return order ? order : strcmp(a->labels, b->labels);
}

static void counter__free(void *node)
{
	struct counter *counter = node;

	free(counter->labels);
	free(counter);
}

/* The counter of these labels, made if need be; NULL when out of memory. */
static struct counter *find_counter(struct openmetrics_face *metrics, const struct field *field,
				    const char *labels)
{
	struct counter *new = calloc(1, sizeof(*new)), **node;

	if (!new)
		return NULL;
	new->field = field;
	new->labels = strdup(labels);
	node = new->labels ? tsearch(new, &metrics->counters, compare_counters) : NULL;
	if (!node || *node != new)
		counter__free(new);
	return node ? *node : NULL;
}

/* The largest value of a row, without scale - 1; false when no number of 64 bits is as large. */
static bool row__reach(uint32_t row, uint64_t scale, uint64_t *ns)
{
	return !__builtin_mul_overflow(row < 64 ? UINT64_C(1) << row : 0, scale, ns) && *ns;
}

/* By the suite's rule first, after which no control character is left; then as both formats want
 * a backslash and a quote. */
static void append_label_value(struct buffer *out, const struct field *field,
			       const struct value *value)
{
	struct buffer text = {};

	text__append_value(&text, field, value, false);
	for (size_t i = 0; i < text.size; i++) {
		if (text.data[i] == '\\' || text.data[i] == '"')
			buffer__append_char(out, '\\');
		buffer__append_char(out, text.data[i]);
	}
	if (text.err)
		out->err = text.err;
	buffer__free(&text);
}

/* Appends name="value" for each part of the key that is there. */
static void append_labels(struct buffer *out, const struct record *key)
{
	for (size_t i = 0; i < key->type->nr_fields; i++) {
		const struct field *field = &key->type->fields[i];

		if (key->values[i].kind == VALUE_ABSENT)
			continue;
		buffer__printf(out, "%s%s=\"", out->size ? "," : "", field->name);
		append_label_value(out, field, &key->values[i]);
		buffer__append_char(out, '"');
	}
}

static void series__add(struct series *series, struct openmetrics_face *metrics,
			const struct value *values)
{
	const struct value *buckets = &values[HISTOGRAM_BUCKETS];
	uint64_t reach;

	series->count += values[HISTOGRAM_COUNT].number;
	series->sum += values[HISTOGRAM_SUM].number;
	for (size_t i = 0; i < buckets->records.nr; i++) {
		const struct value *bucket = buckets->records.items[i].values;
		uint64_t ge = bucket[BUCKET_GE].number;
		uint32_t row = ge ? 64 - (uint32_t)__builtin_clzll(ge) : 0;

		series->rows[row] += bucket[BUCKET_COUNT].number;
		if (row >= metrics->nr_rows && row__reach(row, metrics->scale, &reach))
			metrics->nr_rows = row + 1;
	}
}

static void add_histogram(struct openmetrics_face *metrics, struct buffer *out,
			  const struct value *values)
{
	struct buffer labels = {};
	struct series *series;
	uint64_t reach;

	metrics->scale = values[HISTOGRAM_SCALE].number;
	while (row__reach(metrics->nr_rows, metrics->scale, &reach) &&
	       (!metrics->nr_rows || reach < 2 * LEAST_REACH_NS))
		metrics->nr_rows++;
	append_labels(&labels, values[HISTOGRAM_KEY].records.items);
	buffer__append_char(&labels, '\0');
	series = labels.err ? NULL : find_series(metrics, labels.data);
	buffer__free(&labels);
	if (series)
		series__add(series, metrics, values);
	else
		out->err = -ENOMEM;
}

/* Takes one number; key: labels. adds: to what was there. */
static void take_number(struct openmetrics_face *metrics, struct buffer *out,
			const struct field *field, const struct buffer *key,
			const struct named_count *count, bool adds)
{
	struct buffer labels = {};
	struct counter *counter;

	buffer__append(&labels, key->data, key->size);
	if (count->name)
		buffer__printf(&labels, "%s%s=\"%s\"", key->size ? "," : "", field->label,
			       count->name);
	buffer__append_char(&labels, '\0');
	counter = labels.err ? NULL : find_counter(metrics, field, labels.data);
	buffer__free(&labels);
	if (counter)
		counter->number = count->count + (adds ? counter->number : 0);
	else
		out->err = -ENOMEM;
}

/* The key of a type whose metrics add up: its object. */
static void append_key(struct buffer *out, const struct record *record)
{
	for (size_t i = 0; i < record->type->nr_fields; i++)
		if (record->values[i].kind == VALUE_OBJECT)
			append_labels(out, record->values[i].records.items);
}

static void openmetrics__record(struct face *face, struct buffer *out, const struct record *record)
{
	struct openmetrics_face *metrics = (struct openmetrics_face *)face;
	const struct record_type *type = record->type;
	struct buffer key = {};

	if (record_type__is_histogram(type)) {
		add_histogram(metrics, out, record->values);
		return;
	}
	if (type->adds_up)
		append_key(&key, record);
	for (size_t i = 0; i < type->nr_fields && !out->err; i++) {
		const struct field *field = &type->fields[i];
		const struct value *value = &record->values[i];
		struct named_count one = { .count = value->number, .known = true };

		if (!field->metric)
			continue;
		if (value->kind == VALUE_UNSIGNED)
			take_number(metrics, out, field, &key, &one, type->adds_up);
		for (size_t j = 0; value->kind == VALUE_COUNTS && j < value->counts.nr; j++)
			if (value->counts.items[j].known)
				take_number(metrics, out, field, &key, &value->counts.items[j],
					    type->adds_up);
	}
	if (key.err)
		out->err = key.err;
	buffer__free(&key);
}

/* Exactly, in the shortest form of C's "%g": below a ten-thousandth with an exponent, else with a
 * point. */
static void append_seconds(struct buffer *out, uint64_t ns)
{
	uint64_t fraction = ns % NS_PER_SECOND, unit = NS_PER_SECOND;
	int exponent = 0;

	if (!ns || ns >= NS_PER_SECOND / 10000) {
		buffer__append_unsigned(out, ns / NS_PER_SECOND);
	} else {
		for (; ns < unit; unit /= 10)
			exponent--;
		buffer__append_unsigned(out, ns / unit);
		fraction = ns % unit;
	}
	if (!exponent || fraction)
		buffer__append_char(out, '.');
	if (!exponent && !fraction)
		buffer__append_char(out, '0');
	for (unit /= 10; fraction; unit /= 10) {
		buffer__append_char(out, (char)('0' + fraction / unit));
		fraction %= unit;
	}
	if (exponent)
		buffer__printf(out, "e-%02d", -exponent);
}

/* The quantity of a distribution, and its base unit. */
static const char *unit_of(const struct metric_names *names)
{
	return names->in_bytes ? "bytes" : "seconds";
}

static void append_quantity(struct buffer *out, const struct metric_names *names, uint64_t value)
{
	if (names->in_bytes)
		buffer__printf(out, "%" PRIu64 ".0", value);
	else
		append_seconds(out, value);
}

/* What a walk over a tree hands on; twalk_r() has one pointer for it. */
struct walk {
	struct openmetrics_face *metrics;
	struct buffer *out;
	const char *metric; /* of the last counter */
};

static void append_name(const struct walk *walk, const char *suffix, const char *labels,
			const char *more)
{
	const struct metric_names *names = walk->metrics->names;

	buffer__printf(walk->out, "%s_%s_%s%s", names->prefix, names->distribution, unit_of(names),
		       suffix);
	if (*labels || *more)
		buffer__printf(walk->out, "{%s%s%s", labels, *labels && *more ? "," : "", more);
}

static void append_series(const void *node, VISIT visit, void *ctx)
{
	const struct series *series = *(const struct series *const *)node;
	const struct walk *walk = ctx;
	const struct metric_names *names = walk->metrics->names;
	const char *end = *series->labels ? "} " : " ";
	uint64_t below = 0, reach = 0;

	if (visit != postorder && visit != leaf)
		return;
	for (uint32_t row = 0; row < walk->metrics->nr_rows; row++) {
		below += series->rows[row];
		row__reach(row, walk->metrics->scale, &reach);
		append_name(walk, "_bucket", series->labels, "le=\"");
		append_quantity(walk->out, names, reach - 1);
		buffer__printf(walk->out, "\"} %" PRIu64 "\n", below);
	}
	append_name(walk, "_bucket", series->labels, "le=\"+Inf\"} ");
	buffer__printf(walk->out, "%" PRIu64 "\n", series->count);
	append_name(walk, "_count", series->labels, "");
	buffer__printf(walk->out, "%s%" PRIu64 "\n", end, series->count);
	append_name(walk, "_sum", series->labels, "");
	buffer__append_string(walk->out, end);
	append_quantity(walk->out, names, series->sum);
	buffer__append_char(walk->out, '\n');
}

/* HELP texts are the tools' own words; a backslash or a newline is in none. */
static void append_counter(const void *node, VISIT visit, void *ctx)
{
	const struct counter *counter = *(const struct counter *const *)node;
	const struct field *field = counter->field;
	struct walk *walk = ctx;
	const char *prefix = walk->metrics->names->prefix, *suffix = field->gauge ? "" : "_total";

	if (visit != postorder && visit != leaf)
		return;
	if (!walk->metric || strcmp(walk->metric, field->metric)) {
		buffer__printf(walk->out, "# HELP %s_%s%s %s\n", prefix, field->metric, suffix,
			       field->meaning);
		if (field->gauge)
			buffer__printf(walk->out, "# TYPE %s_%s gauge\n", prefix, field->metric);
	}
	walk->metric = field->metric;
	buffer__printf(walk->out, "%s_%s%s", prefix, field->metric, suffix);
	if (*counter->labels)
		buffer__printf(walk->out, "{%s}", counter->labels);
	buffer__printf(walk->out, " %" PRIu64 "\n", counter->number);
}

static void openmetrics__state(struct face *face, struct buffer *out)
{
	struct openmetrics_face *metrics = (struct openmetrics_face *)face;
	const struct metric_names *names = metrics->names;
	struct walk walk = { .metrics = metrics, .out = out };

	if (names->distribution)
		buffer__printf(out,
			       "# HELP %1$s_%2$s_%4$s %3$s\n"
			       "# TYPE %1$s_%2$s_%4$s histogram\n"
			       "# UNIT %1$s_%2$s_%4$s %4$s\n",
			       names->prefix, names->distribution, names->help, unit_of(names));
	twalk_r(metrics->series, append_series, &walk);
	twalk_r(metrics->counters, append_counter, &walk);
	buffer__append_string(out, "# EOF\n");
}

static void openmetrics__free(struct face *face)
{
	struct openmetrics_face *metrics = (struct openmetrics_face *)face;

	tdestroy(metrics->series, series__free);
	tdestroy(metrics->counters, counter__free);
	free(face);
}

int openmetrics__open(struct face **face, const struct sink_config *config)
{
	static const struct face_operations operations = {
		.record = openmetrics__record,
		.state = openmetrics__state,
		.free = openmetrics__free,
	};
	struct openmetrics_face *metrics = calloc(1, sizeof(*metrics));

	if (!metrics)
		return log_error(ENOMEM, NULL, "cannot prepare the OpenMetrics output");
	metrics->face.operations = &operations;
	metrics->names = config->metrics;
	*face = &metrics->face;
	return 0;
}
