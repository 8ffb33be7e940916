// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "output/histogram.h"
#include "records.h"
#include "run/account.h"

#define NR_BUCKETS 1024 /* power of two */

/* Longest command that is told apart; file names have at most 255 bytes. */
#define COMMAND_SIZE 64

struct summary_key {
	char command[COMMAND_SIZE]; /* NUL-filled: keys are compared as bytes */
	char parent[EXECSNOOP_COMM_SIZE];
	bool forked; /* never executed */
};

struct summary_row {
	struct summary_row *next; /* of the bucket */
	struct summary_key key;
	bool is_others; /* all that had no room */
	uint64_t count;
	uint64_t failed;
	uint64_t cpu_ns;
	struct hist *lifetimes; /* NULL: none ended */
	uint64_t min_ns;
	uint64_t max_ns;
	/* Of the latest one, when they are asked for. */
	struct execsnoop_ancestor ancestors[EXECSNOOP_ANCESTORS_MAX];
	size_t nr_ancestors;
};

struct summary {
	struct summary_row *buckets[NR_BUCKETS];
	size_t nr;
	size_t max_keys;
	struct summary_row others;
};

/* Nanoseconds, as they are. */
static const struct hist_config hist_config = { .unit = 1 };

const char *const summary_sort_names[] = {
	[SUMMARY_BY_COUNT] = "count", [SUMMARY_BY_FAILED] = "failed", [SUMMARY_BY_MEDIAN] = "p50",
	[SUMMARY_BY_P99] = "p99",     [SUMMARY_BY_CPU] = "cpu",	      NULL,
};

struct summary *summary__new(size_t max_keys)
{
	struct summary *summary = calloc(1, sizeof(*summary));

	if (!summary)
		return NULL;
	summary->max_keys = max_keys;
	summary->others.is_others = true;
	return summary;
}

static struct summary_key key__of(const struct exec_event *event)
{
	struct text name = path__name(event->filename);
	struct summary_key key = { .forked = !event->filename.data && !event->ret };

	if (name.data)
		memcpy(key.command, name.data,
		       name.size < COMMAND_SIZE - 1 ? name.size : COMMAND_SIZE - 1);
	else
		memcpy(key.command, event->process.comm,
		       strnlen(event->process.comm, EXECSNOOP_COMM_SIZE - 1));
	memcpy(key.parent, event->process.pcomm,
	       strnlen(event->process.pcomm, EXECSNOOP_COMM_SIZE - 1));
	return key;
}

/* FNV-1a (RFC 9923). */
static size_t key__bucket(const struct summary_key *key)
{
	const unsigned char *bytes = (const unsigned char *)key;
	uint32_t hash = 2166136261U;

	for (size_t i = 0; i < sizeof(*key); i++)
		hash = (hash ^ bytes[i]) * 16777619U;
	return hash % NR_BUCKETS;
}

/* The event's row, made if need be; NULL when out of memory. */
static struct summary_row *summary__row(struct summary *summary, const struct exec_event *event)
{
	struct summary_key key = key__of(event);
	struct summary_row **at = &summary->buckets[key__bucket(&key)];

	while (*at && memcmp(&(*at)->key, &key, sizeof(key)))
		at = &(*at)->next;
	if (*at)
		return *at;
	if (summary->nr == summary->max_keys)
		return &summary->others;
	*at = calloc(1, sizeof(**at));
	if (*at) {
		(*at)->key = key;
		summary->nr++;
	}
	return *at;
}

int summary__add(struct summary *summary, const struct exec_event *event)
{
	struct summary_row *row = summary__row(summary, event);

	if (!row)
		return -ENOMEM;
	if (event->ret)
		row->failed++;
	else
		row->count++;
	if (event->nr_ancestors && !row->is_others) {
		row->nr_ancestors = event->nr_ancestors;
		memcpy(row->ancestors, event->ancestors,
		       event->nr_ancestors * sizeof(*event->ancestors));
	}
	return 0;
}

int summary__end(struct summary *summary, const struct exec_event *event,
		 const struct summary_end *end)
{
	struct summary_row *row = summary__row(summary, event);

	if (row && !row->lifetimes)
		row->lifetimes = calloc(1, sizeof(*row->lifetimes));
	if (!row || !row->lifetimes)
		return -ENOMEM;
	if (!row->lifetimes->stats.count || end->lifetime_ns < row->min_ns)
		row->min_ns = end->lifetime_ns;
	if (end->lifetime_ns > row->max_ns)
		row->max_ns = end->lifetime_ns;
	row->lifetimes->stats.count++;
	row->lifetimes->stats.sum += end->lifetime_ns;
	row->lifetimes->slots[hist__slot(&hist_config, end->lifetime_ns)]++;
	if (end->cpu_known)
		row->cpu_ns += end->cpu_ns;
	return 0;
}

/* Bounds of a percentile, which the least and the greatest lifetime narrow. */
static struct hist_bounds row__percentile(const struct summary_row *row, unsigned int percent)
{
	struct hist_bounds bounds;

	if (!row->lifetimes)
		return (struct hist_bounds){};
	bounds = hist__bounds(&hist_config,
			      hist__percentile(row->lifetimes, percent * PERCENTILE_SCALE));
	if (bounds.ge < row->min_ns)
		bounds.ge = row->min_ns;
	if (bounds.open || bounds.lt > row->max_ns)
		bounds.lt = row->max_ns + 1;
	return bounds;
}

static uint64_t row__measure(const struct summary_row *row, enum summary_sort sort)
{
	switch (sort) {
	case SUMMARY_BY_COUNT:
		return row->count;
	case SUMMARY_BY_FAILED:
		return row->failed;
	case SUMMARY_BY_MEDIAN:
		return row__percentile(row, 50).ge;
	case SUMMARY_BY_P99:
		return row__percentile(row, 99).ge;
	case SUMMARY_BY_CPU:
		return row->cpu_ns;
	}
	return 0;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

/* Rows that are equal keep one order: by both counts, then by name. */
static int compare_rows(const void *left, const void *right, void *ctx)
{
	const struct summary_row *a = *(const struct summary_row *const *)left;
	const struct summary_row *b = *(const struct summary_row *const *)right;
	enum summary_sort sort = *(const enum summary_sort *)ctx;
	int order = compare_numbers(row__measure(b, sort), row__measure(a, sort));

	if (!order)
		order = compare_numbers(b->count, a->count);
	if (!order)
		order = compare_numbers(b->failed, a->failed);
	return order ? order : memcmp(&a->key, &b->key, sizeof(a->key));
}

#define COLUMN(field_name, field_kind, field_unit, heading, least_width, text)                     \
	{                                                                                          \
		.name = field_name, .kind = field_kind, .unit = field_unit, .column = heading,     \
		.width = least_width, .text_only = true, .meaning = text                           \
	}

static const struct field key_fields[] = {
	FIELD_OPTIONAL("command", VALUE_BYTES,
		       "Last part of the path; of a fork, its command name."),
	FIELD_OPTIONAL("parent", VALUE_BYTES, "Command name of the parent process."),
	FIELD_OPTIONAL("forked", VALUE_BOOL, "True: forked and never exec'ed."),
};

static const struct record_type key_type = {
	.name = "key",
	.meaning = "What the row is about; empty: all that had no row of its own.",
	.fields = key_fields,
	.nr_fields = sizeof(key_fields) / sizeof(key_fields[0]),
};

static const struct field summary_fields[] = {
	{ .name = "key",
	  .kind = VALUE_OBJECT,
	  .required = true,
	  .meaning = "What the row is about.",
	  .of = &key_type },
	{ .name = "count",
	  .kind = VALUE_UNSIGNED,
	  .column = "COUNT",
	  .width = 7,
	  .required = true,
	  .meaning = "Successful execs, or forks." },
	{ .name = "failed",
	  .kind = VALUE_UNSIGNED,
	  .column = "FAILED",
	  .width = 7,
	  .required = true,
	  .meaning = "Failed calls of exec." },
	FIELD_REQUIRED("ended", VALUE_UNSIGNED,
		       "How many of count have ended: those with a lifetime."),
	FIELD_REQUIRED("unit", VALUE_BYTES, "Of the bounds: ns."),
	FIELD_OPTIONAL("sum_ns", VALUE_UNSIGNED, "All lifetimes together."),
	FIELD_OPTIONAL("min_ns", VALUE_UNSIGNED, "The shortest lifetime."),
	FIELD_OPTIONAL("max_ns", VALUE_UNSIGNED, "The longest lifetime."),
	{ .name = "percentiles",
	  .kind = VALUE_RECORDS,
	  .meaning = "Of the lifetimes.",
	  .of = &percentile_record_type },
	{ .name = "cpu_ns",
	  .kind = VALUE_UNSIGNED,
	  .unit = UNIT_MILLISECONDS,
	  .column = "CPU(ms)",
	  .width = 9,
	  .required = true,
	  .meaning = "CPU time of all that have ended." },
	{ .name = "ancestors",
	  .kind = VALUE_RECORDS,
	  .meaning = "The processes above the latest one (--ancestors).",
	  .of = &ancestor_record_type },
	COLUMN("chain", VALUE_BYTES, UNIT_NONE, "ANCESTORS", -30, "ancestors in text."),
	COLUMN("p50", VALUE_BYTES, UNIT_NONE, "P50(ms)", 13, "Bounds of the median lifetime."),
	COLUMN("p99", VALUE_BYTES, UNIT_NONE, "P99(ms)", 13, "Bounds of that percentile."),
	COLUMN("parent", VALUE_BYTES, UNIT_NONE, "PCOMM", -15, "Parent of the key."),
	COLUMN("command", VALUE_BYTES, UNIT_NONE, "COMMAND", -15, "Command of the key."),
};

const struct record_type summary_record_type = {
	.name = "summary",
	.meaning = "What of one command and parent there was in the run (--summary).",
	.fields = summary_fields,
	.nr_fields = sizeof(summary_fields) / sizeof(summary_fields[0]),
};

const char *const summary_columns[] = {
	"count", "failed", "p50", "p99", "cpu_ns", "parent", "command", NULL,
};

/* Room for the values of one row. */
struct summary_values {
	struct value values[sizeof(summary_fields) / sizeof(summary_fields[0])];
	struct value key[3];
	struct record key_record;
	struct value percentiles[2][3];
	struct record percentile_records[2];
	struct ancestors_values ancestors;
	char bounds[2][64];
	char command[COMMAND_SIZE + 8];
};

/* "0.512-0.543" in milliseconds, or one number where the bounds are the same in print. */
static struct value bounds__text(const struct hist_bounds *bounds, char *text, size_t size)
{
	uint64_t from = bounds->ge / 1000, to = (bounds->lt - 1) / 1000;
	int used = snprintf(text, size, "%" PRIu64 ".%03" PRIu64, from / 1000, from % 1000);

	if (to > from)
		snprintf(text + used, size - used, "-%" PRIu64 ".%03" PRIu64, to / 1000, to % 1000);
	return value__text(text);
}

static void row__key_values(const struct summary_row *row, struct summary_values *values)
{
	values->key[0] = values->key[1] = values->key[2] = (struct value){};
	if (!row->is_others) {
		values->key[0] = value__text(row->key.command);
		values->key[1] = value__text(row->key.parent);
		values->key[2] = row->key.forked ? value__bool(true) : (struct value){};
	}
	values->key_record = (struct record){ &key_type, values->key };
	snprintf(values->command, sizeof(values->command), "%s%s",
		 row->is_others ? "[others]" : row->key.command, row->key.forked ? " (fork)" : "");
}

static struct record row__record(const struct summary_row *row, struct summary_values *values)
{
	static const unsigned int percents[] = { 50, 99 };
	const struct hist *lifetimes = row->lifetimes;
	struct value *value = values->values, texts[2] = {};

	row__key_values(row, values);
	for (int i = 0; lifetimes && i < 2; i++) {
		struct hist_bounds bounds = row__percentile(row, percents[i]);

		values->percentiles[i][0] = value__decimal(percents[i] * PERCENTILE_SCALE);
		values->percentiles[i][1] = value__unsigned(bounds.ge);
		values->percentiles[i][2] = value__unsigned(bounds.lt);
		values->percentile_records[i] = (struct record){ &percentile_record_type,
								 values->percentiles[i] };
		texts[i] = bounds__text(&bounds, values->bounds[i], sizeof(values->bounds[i]));
	}
	*value++ = value__object(&values->key_record);
	*value++ = value__unsigned(row->count);
	*value++ = value__unsigned(row->failed);
	*value++ = value__unsigned(lifetimes ? lifetimes->stats.count : 0);
	*value++ = value__text("ns");
	*value++ = lifetimes ? value__unsigned(lifetimes->stats.sum) : (struct value){};
	*value++ = lifetimes ? value__unsigned(row->min_ns) : (struct value){};
	*value++ = lifetimes ? value__unsigned(row->max_ns) : (struct value){};
	*value++ = lifetimes ? value__records(values->percentile_records, 2) : (struct value){};
	*value++ = value__unsigned(row->cpu_ns);
	ancestors__values(row->ancestors, row->nr_ancestors, &values->ancestors, &value[0],
			  &value[1]);
	value += 2;
	*value++ = texts[0];
	*value++ = texts[1];
	*value++ = row->is_others ? (struct value){} : value__text(row->key.parent);
	*value++ = value__text(values->command);
	return (struct record){ &summary_record_type, values->values };
}

int summary__each(struct summary *summary, enum summary_sort sort, size_t top, summary_fn fn,
		  void *ctx, size_t *nr_rows)
{
	struct summary_row **rows = calloc(summary->nr + 1, sizeof(*rows));
	const struct summary_row *others = &summary->others;
	struct summary_values values;
	struct record record;
	size_t nr = 0;
	int err = 0;

	if (!rows)
		return -ENOMEM;
	for (size_t i = 0; i < NR_BUCKETS; i++)
		for (struct summary_row *row = summary->buckets[i]; row; row = row->next)
			rows[nr++] = row;
	*nr_rows = nr;
	qsort_r(rows, nr, sizeof(*rows), compare_rows, &sort);
	for (size_t i = 0; i < nr && i < top && !err; i++) {
		record = row__record(rows[i], &values);
		err = fn(ctx, &record);
	}
	free(rows);
	if (!err && (others->count || others->failed || others->lifetimes)) {
		record = row__record(others, &values);
		err = fn(ctx, &record);
	}
	return err;
}

void summary__free(struct summary *summary)
{
	if (!summary)
		return;
	for (size_t i = 0; i < NR_BUCKETS; i++) {
		while (summary->buckets[i]) {
			struct summary_row *row = summary->buckets[i];

			summary->buckets[i] = row->next;
			free(row->lifetimes);
			free(row);
		}
	}
	free(summary->others.lifetimes);
	free(summary);
}

const struct record_type *const execsnoop_row_types[] = { &exec_record_type, &exit_record_type,
							  NULL };
const struct record_type *const execsnoop_row_types_with_summary[] = {
	&exec_record_type,
	&exit_record_type,
	&summary_record_type,
	NULL,
};

const struct record_type *const execsnoop_types[] = {
	&start_record_type,   &exec_record_type,    &exit_record_type,
	&summary_record_type, &account_record_type, NULL,
};
