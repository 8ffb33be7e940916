// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/histogram.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "output/text.h"

static uint32_t log2_of(uint64_t value)
{
	return 63 - (uint32_t)__builtin_clzll(value);
}

uint32_t hist__slot(const struct hist_config *config, uint64_t value)
{
	uint64_t scaled = value / config->unit;
	uint32_t shift;

	if (config->linear_step) {
		scaled /= config->linear_step;
		return scaled < HIST_SLOTS ? (uint32_t)scaled : HIST_SLOTS - 1;
	}
	shift = log2_of(scaled | HIST_ROW_SLOTS) - HIST_SUB_BITS;
	return shift * HIST_ROW_SLOTS + (uint32_t)(scaled >> shift);
}

/* The least scaled value of a slot. */
static uint64_t lower_bound(const struct hist_config *config, uint32_t slot)
{
	uint32_t row = slot / HIST_ROW_SLOTS;

	if (config->linear_step)
		return slot * config->linear_step;
	if (!row)
		return slot;
	return (uint64_t)(HIST_ROW_SLOTS + slot % HIST_ROW_SLOTS) << (row - 1);
}

struct hist_bounds hist__bounds(const struct hist_config *config, uint32_t slot)
{
	bool open = slot == HIST_SLOTS - 1;

	return (struct hist_bounds){
		.ge = lower_bound(config, slot),
		.lt = open ? 0 : lower_bound(config, slot + 1),
		.open = open,
	};
}

uint32_t hist__percentile(const struct hist *hist, uint64_t percentile)
{
	unsigned __int128 part = (unsigned __int128)hist->stats.count * percentile;
	uint64_t rank = (uint64_t)((part + PERCENTILE_MAX - 1) / PERCENTILE_MAX), below = 0;
	uint32_t slot;

	if (!rank)
		rank = 1;
	for (slot = 0; slot < HIST_SLOTS - 1; slot++) {
		below += hist->slots[slot];
		if (below >= rank)
			break;
	}
	return slot;
}

size_t percentiles__default(uint64_t count, uint64_t percentiles[PERCENTILES_DEFAULT])
{
	uint64_t above = PERCENTILE_SCALE;
	size_t nr = 0;

	percentiles[nr++] = 50 * PERCENTILE_SCALE;
	percentiles[nr++] = 90 * PERCENTILE_SCALE;
	percentiles[nr++] = 99 * PERCENTILE_SCALE;
	for (above /= 10; above && nr < PERCENTILES_DEFAULT; above /= 10) {
		if ((unsigned __int128)count * above < PERCENTILE_MAX)
			break;
		percentiles[nr++] = PERCENTILE_MAX - above;
	}
	return nr;
}

static int first_slot(const struct hist *hist)
{
	for (int slot = 0; slot < HIST_SLOTS; slot++)
		if (hist->slots[slot])
			return slot;
	return -1;
}

static int last_slot(const struct hist *hist)
{
	for (int slot = HIST_SLOTS - 1; slot >= 0; slot--)
		if (hist->slots[slot])
			return slot;
	return -1;
}

bool hist__min(const struct hist_config *config, const struct hist *hist, uint64_t *min)
{
	for (int i = 0; i < 2; i++) {
		const struct hist_extremes *extremes = &hist->stats.extremes[i];

		*min = extremes->min;
		if (extremes->interval && (int)hist__slot(config, *min) == first_slot(hist))
			return true;
	}
	return false;
}

bool hist__max(const struct hist_config *config, const struct hist *hist, uint64_t *max)
{
	for (int i = 0; i < 2; i++) {
		const struct hist_extremes *extremes = &hist->stats.extremes[i];

		*max = extremes->max;
		if (extremes->interval && (int)hist__slot(config, *max) == last_slot(hist))
			return true;
	}
	return false;
}

const char *const histogram_order_names[] = {
	[HISTOGRAM_BY_COUNT] = "count", [HISTOGRAM_BY_SUM] = "sum", [HISTOGRAM_BY_MAX] = "max",
	[HISTOGRAM_BY_P50] = "p50",	[HISTOGRAM_BY_P99] = "p99", NULL,
};

uint64_t hist__measure(const struct hist_config *config, const struct hist *hist,
		       enum histogram_order order)
{
	uint64_t max;

	switch (order) {
	case HISTOGRAM_BY_COUNT:
		return hist->stats.count;
	case HISTOGRAM_BY_SUM:
		return hist->stats.sum;
	case HISTOGRAM_BY_MAX:
		/* Where it is not known, the least that it can be. */
		if (hist__max(config, hist, &max))
			return max;
		return hist__bounds(config, hist__percentile(hist, PERCENTILE_MAX)).ge *
		       config->unit;
	case HISTOGRAM_BY_P50:
		return hist__percentile(hist, 50 * PERCENTILE_SCALE);
	case HISTOGRAM_BY_P99:
		return hist__percentile(hist, 99 * PERCENTILE_SCALE);
	}
	return 0;
}

#define KEY_FIELD(field_name, field_kind, text)                                                    \
	{                                                                                          \
		.name = field_name, .kind = field_kind, .meaning = text                            \
	}

static const struct field key_fields[HISTOGRAM_KEY_NR_FIELDS] = {
	[HISTOGRAM_KEY_PID] = KEY_FIELD("pid", VALUE_UNSIGNED, "Process id."),
	[HISTOGRAM_KEY_TID] = KEY_FIELD("tid", VALUE_UNSIGNED, "Thread id."),
	[HISTOGRAM_KEY_COMM] = KEY_FIELD("comm", VALUE_BYTES, "Command name."),
	[HISTOGRAM_KEY_CGROUP_ID] = KEY_FIELD("cgroup_id", VALUE_UNSIGNED, "Id of a cgroup."),
	[HISTOGRAM_KEY_CGROUP] = KEY_FIELD("cgroup", VALUE_BYTES,
					   "Its path below the mount of cgroup2."),
	[HISTOGRAM_KEY_CPU] = KEY_FIELD("cpu", VALUE_UNSIGNED, "The CPU of the event."),
	[HISTOGRAM_KEY_CAUSE] = KEY_FIELD("cause", VALUE_BYTES, "Why the event began."),
	[HISTOGRAM_KEY_PID_NS] = KEY_FIELD("pid_ns", VALUE_UNSIGNED,
					   "Inode number of a PID namespace."),
	[HISTOGRAM_KEY_FUNC] = KEY_FIELD("func", VALUE_BYTES, "What was called."),
	[HISTOGRAM_KEY_RET] = KEY_FIELD("ret", VALUE_BYTES,
					"What it returned: ok, the name of an error, or unknown."),
	[HISTOGRAM_KEY_OTHERS] = KEY_FIELD("others", VALUE_UNSIGNED,
					   "So many keys that --top leaves out, together."),
};

static const struct record_type key_type = {
	.name = "key",
	.meaning = "What the histogram is of; empty for the whole.",
	.fields = key_fields,
	.nr_fields = HISTOGRAM_KEY_NR_FIELDS,
};

static const struct field percentile_fields[] = {
	FIELD_REQUIRED("p", VALUE_DECIMAL, "The percentile."),
	FIELD_REQUIRED("ge", VALUE_UNSIGNED, "It is not below this."),
	FIELD_OPTIONAL("lt", VALUE_UNSIGNED, "It is below this; absent if the bucket is open."),
};

const struct record_type percentile_record_type = {
	.name = "percentile",
	.meaning = "The bounds of the bucket that holds a percentile.",
	.fields = percentile_fields,
	.nr_fields = 3,
};

static const struct field bucket_fields[] = {
	FIELD_REQUIRED("ge", VALUE_UNSIGNED, "Values are not below this."),
	FIELD_OPTIONAL("lt", VALUE_UNSIGNED,
		       "Values are below this; absent if the bucket is open."),
	FIELD_REQUIRED("count", VALUE_UNSIGNED, "How many values."),
};

const struct record_type bucket_record_type = {
	.name = "bucket",
	.meaning = "A bucket that has values.",
	.fields = bucket_fields,
	.nr_fields = 3,
};

static const struct field histogram_fields[HISTOGRAM_NR_FIELDS] = { HISTOGRAM_FIELDS(&key_type,
										     "ns") };

const struct record_type histogram_record_type = HISTOGRAM_RECORD_TYPE(histogram_fields,
								       "A distribution.");

struct histogram_record {
	struct value values[HISTOGRAM_NR_FIELDS];
	struct record key;
	struct value percentile_values[PERCENTILES_MAX][3];
	struct record percentiles[PERCENTILES_MAX];
	struct value bucket_values[HIST_SLOTS][3];
	struct record buckets[HIST_SLOTS];
	struct buffer text;
};

void histogram_key__values(const struct hist_key *key, const char *name, uint32_t by,
			   const char *cgroup, struct value values[HISTOGRAM_KEY_NR_FIELDS])
{
	memset(values, 0, HISTOGRAM_KEY_NR_FIELDS * sizeof(*values));
	if (by & (1U << HIST_BY_PID | 1U << HIST_BY_TID)) {
		values[HISTOGRAM_KEY_PID] = value__unsigned(key->pid);
		values[HISTOGRAM_KEY_COMM] = value__bytes(name, strnlen(name, HIST_NAME_SIZE));
	}
	if (by & 1U << HIST_BY_TID)
		values[HISTOGRAM_KEY_TID] = value__unsigned(key->tid);
	if (by & 1U << HIST_BY_COMM)
		values[HISTOGRAM_KEY_COMM] = value__bytes(key->comm,
							  strnlen(key->comm, HIST_NAME_SIZE));
	if (by & 1U << HIST_BY_CGROUP)
		values[HISTOGRAM_KEY_CGROUP_ID] = value__unsigned(key->cgroup_id);
	if (cgroup)
		values[HISTOGRAM_KEY_CGROUP] = value__text(cgroup);
	if (by & 1U << HIST_BY_CPU)
		values[HISTOGRAM_KEY_CPU] = value__unsigned(key->cpu);
}

void histogram_key__of_others(size_t nr, struct value values[HISTOGRAM_KEY_NR_FIELDS])
{
	memset(values, 0, HISTOGRAM_KEY_NR_FIELDS * sizeof(*values));
	values[HISTOGRAM_KEY_OTHERS] = value__unsigned(nr);
}

struct histogram_record *histogram_record__new(void)
{
	return calloc(1, sizeof(struct histogram_record));
}

void histogram_record__free(struct histogram_record *record)
{
	if (record)
		buffer__free(&record->text);
	free(record);
}

static struct value upper_value(const struct hist_bounds *bounds)
{
	return bounds->open ? (struct value){} : value__unsigned(bounds->lt);
}

/* The percentiles of a style; defaults has room for the default ones. */
static const uint64_t *style__percentiles(const struct histogram_style *style, uint64_t count,
					  uint64_t defaults[PERCENTILES_DEFAULT], size_t *nr)
{
	*nr = style->nr_percentiles;
	if (*nr)
		return style->percentiles;
	*nr = percentiles__default(count, defaults);
	return defaults;
}

static struct value fill_percentiles(struct histogram_record *record, const struct hist *hist,
				     const struct histogram_style *style)
{
	uint64_t defaults[PERCENTILES_DEFAULT];
	size_t nr;
	const uint64_t *wanted = style__percentiles(style, hist->stats.count, defaults, &nr);

	if (!hist->stats.count)
		return value__records(record->percentiles, 0);
	if (nr > PERCENTILES_MAX)
		nr = PERCENTILES_MAX;
	for (size_t i = 0; i < nr; i++) {
		uint32_t slot = hist__percentile(hist, wanted[i]);
		struct hist_bounds bounds = hist__bounds(&style->config, slot);
		struct value *values = record->percentile_values[i];

		values[0] = value__decimal(wanted[i]);
		values[1] = value__unsigned(bounds.ge);
		values[2] = upper_value(&bounds);
		record->percentiles[i] = (struct record){ &percentile_record_type, values };
	}
	return value__records(record->percentiles, nr);
}

static struct value fill_buckets(struct histogram_record *record, const struct hist *hist,
				 const struct histogram_style *style)
{
	size_t nr = 0;

	for (uint32_t slot = 0; slot < HIST_SLOTS; slot++) {
		struct hist_bounds bounds = hist__bounds(&style->config, slot);
		struct value *values = record->bucket_values[nr];

		if (!hist->slots[slot])
			continue;
		values[0] = value__unsigned(bounds.ge);
		values[1] = upper_value(&bounds);
		values[2] = value__unsigned(hist->slots[slot]);
		record->buckets[nr++] = (struct record){ &bucket_record_type, values };
	}
	return value__records(record->buckets, nr);
}

/* "pid = 12, comm = nginx": the parts of a key that are there. */
static void append_key(struct buffer *out, const struct record *key)
{
	const char *separator = "";

	for (size_t i = 0; i < key->type->nr_fields; i++) {
		const struct field *field = &key->type->fields[i];

		if (key->values[i].kind == VALUE_ABSENT)
			continue;
		buffer__printf(out, "%s%s = ", separator, field->name);
		text__append_value(out, field, &key->values[i], false);
		separator = ", ";
	}
	if (*separator)
		buffer__append_char(out, '\n');
}

struct record histogram_record__fill(struct histogram_record *record, const struct hist *hist,
				     const struct histogram_style *style, const struct value *key,
				     bool with_text)
{
	const struct record_type *type = style->type ? style->type : &histogram_record_type;
	struct value *values = record->values;
	uint64_t min, max;

	record->key = (struct record){ type->fields[HISTOGRAM_KEY].of, key };
	values[HISTOGRAM_KEY] = value__object(&record->key);
	values[HISTOGRAM_UNIT] = value__bytes(style->unit, strlen(style->unit));
	values[HISTOGRAM_COUNT] = value__unsigned(hist->stats.count);
	values[HISTOGRAM_SUM] = value__unsigned(hist->stats.sum);
	values[HISTOGRAM_MIN] = hist__min(&style->config, hist, &min) ? value__unsigned(min) :
									(struct value){};
	values[HISTOGRAM_MAX] = hist__max(&style->config, hist, &max) ? value__unsigned(max) :
									(struct value){};
	values[HISTOGRAM_PERCENTILES] = fill_percentiles(record, hist, style);
	values[HISTOGRAM_BUCKETS] = fill_buckets(record, hist, style);
	values[HISTOGRAM_SCALE] = value__unsigned(style->config.unit);
	values[HISTOGRAM_TEXT] = (struct value){};
	if (with_text) {
		record->text.size = 0;
		append_key(&record->text, &record->key);
		histogram__append_bars(&record->text, hist, style);
		histogram__append_summary(&record->text, hist, style);
		values[HISTOGRAM_TEXT] = value__bytes(record->text.data, record->text.size);
		values[HISTOGRAM_TEXT].kind = record->text.err ? VALUE_ABSENT : VALUE_BYTES;
	}
	return (struct record){ type, values };
}
