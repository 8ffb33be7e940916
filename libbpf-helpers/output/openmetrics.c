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
	uint64_t sum_ns;
};

struct openmetrics_face {
	struct face face;
	const struct metric_names *names;
	void *series; /* a tree of tsearch(), by labels */
	uint32_t nr_rows; /* that have a bucket of their own; what is longer is in +Inf alone */
	uint64_t scale; /* nanoseconds in the unit of the rows */
	struct buffer counters; /* as text, of the latest record that has some */
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

/* Appends name="value" for each part of the key that is there, and a NUL. */
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
	buffer__append_char(out, '\0');
}

static void series__add(struct series *series, struct openmetrics_face *metrics,
			const struct value *values)
{
	const struct value *buckets = &values[HISTOGRAM_BUCKETS];
	uint64_t reach;

	series->count += values[HISTOGRAM_COUNT].number;
	series->sum_ns += values[HISTOGRAM_SUM].number;
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
	series = labels.err ? NULL : find_series(metrics, labels.data);
	buffer__free(&labels);
	if (series)
		series__add(series, metrics, values);
	else
		out->err = -ENOMEM;
}

/* HELP texts are the tools' own words; a backslash or a newline is in none. */
static void append_help(struct buffer *out, const struct metric_names *names,
			const struct field *field)
{
	const char *suffix = field->gauge ? "" : "_total";

	buffer__printf(out, "# HELP %s_%s%s %s\n", names->prefix, field->metric, suffix,
		       field->meaning);
	if (field->gauge)
		buffer__printf(out, "# TYPE %s_%s gauge\n", names->prefix, field->metric);
}

static void append_counter(struct buffer *out, const struct metric_names *names,
			   const struct field *field, const struct value *value)
{
	const char *suffix = field->gauge ? "" : "_total";

	append_help(out, names, field);
	if (value->kind == VALUE_UNSIGNED)
		buffer__printf(out, "%s_%s%s %" PRIu64 "\n", names->prefix, field->metric, suffix,
			       value->number);
	for (size_t i = 0; value->kind == VALUE_COUNTS && i < value->counts.nr; i++) {
		const struct named_count *count = &value->counts.items[i];

		if (count->known)
			buffer__printf(out, "%s_%s%s{%s=\"%s\"} %" PRIu64 "\n", names->prefix,
				       field->metric, suffix, field->label, count->name,
				       count->count);
	}
}

static void openmetrics__record(struct face *face, struct buffer *out, const struct record *record)
{
	struct openmetrics_face *metrics = (struct openmetrics_face *)face;
	struct buffer *counters = &metrics->counters;
	bool first = true;

	if (record->type == &histogram_record_type) {
		add_histogram(metrics, out, record->values);
		return;
	}
	for (size_t i = 0; i < record->type->nr_fields; i++) {
		const struct field *field = &record->type->fields[i];

		if (!field->metric || record->values[i].kind == VALUE_ABSENT)
			continue;
		if (first)
			counters->size = 0;
		first = false;
		append_counter(counters, metrics->names, field, &record->values[i]);
	}
	if (counters->err)
		out->err = counters->err;
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

/* What the walk over the series hands on; twalk_r() has one pointer for it. */
struct walk {
	struct openmetrics_face *metrics;
	struct buffer *out;
};

static void append_name(const struct walk *walk, const char *suffix, const char *labels,
			const char *more)
{
	buffer__printf(walk->out, "%s_%s_seconds%s", walk->metrics->names->prefix,
		       walk->metrics->names->distribution, suffix);
	if (*labels || *more)
		buffer__printf(walk->out, "{%s%s%s", labels, *labels && *more ? "," : "", more);
}

static void append_series(const void *node, VISIT visit, void *ctx)
{
	const struct series *series = *(const struct series *const *)node;
	const struct walk *walk = ctx;
	const char *end = *series->labels ? "} " : " ";
	uint64_t below = 0, reach = 0;

	if (visit != postorder && visit != leaf)
		return;
	for (uint32_t row = 0; row < walk->metrics->nr_rows; row++) {
		below += series->rows[row];
		row__reach(row, walk->metrics->scale, &reach);
		append_name(walk, "_bucket", series->labels, "le=\"");
		append_seconds(walk->out, reach - 1);
		buffer__printf(walk->out, "\"} %" PRIu64 "\n", below);
	}
	append_name(walk, "_bucket", series->labels, "le=\"+Inf\"} ");
	buffer__printf(walk->out, "%" PRIu64 "\n", series->count);
	append_name(walk, "_count", series->labels, "");
	buffer__printf(walk->out, "%s%" PRIu64 "\n", end, series->count);
	append_name(walk, "_sum", series->labels, "");
	buffer__append_string(walk->out, end);
	append_seconds(walk->out, series->sum_ns);
	buffer__append_char(walk->out, '\n');
}

static void openmetrics__state(struct face *face, struct buffer *out)
{
	struct openmetrics_face *metrics = (struct openmetrics_face *)face;
	const struct metric_names *names = metrics->names;
	struct walk walk = { metrics, out };

	buffer__printf(out,
		       "# HELP %1$s_%2$s_seconds %3$s\n"
		       "# TYPE %1$s_%2$s_seconds histogram\n"
		       "# UNIT %1$s_%2$s_seconds seconds\n",
		       names->prefix, names->distribution, names->help);
	twalk_r(metrics->series, append_series, &walk);
	buffer__append(out, metrics->counters.data, metrics->counters.size);
	buffer__append_string(out, "# EOF\n");
}

static void openmetrics__free(struct face *face)
{
	struct openmetrics_face *metrics = (struct openmetrics_face *)face;

	tdestroy(metrics->series, series__free);
	buffer__free(&metrics->counters);
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
