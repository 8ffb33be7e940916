/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a histogram (shared/hist.h) says: bounds, percentiles, extremes, and the record of
 * type "histogram" that every face shows. It reads no map and decides no key.
 */
#ifndef VANTAGE_OUTPUT_HISTOGRAM_H
#define VANTAGE_OUTPUT_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/buffer.h"
#include "output/sink.h"
#include "shared/hist.h"

/* The slot of an unscaled value; the same as the kernel side's hist__slot(). */
uint32_t hist__slot(const struct hist_config *config, uint64_t value);

/* A bucket holds the scaled values from ge up to, and without, lt. */
struct hist_bounds {
	uint64_t ge;
	uint64_t lt;
	bool open; /* no upper bound; lt is 0 */
};

/* slot: below HIST_SLOTS. */
struct hist_bounds hist__bounds(const struct hist_config *config, uint32_t slot);

/* A percentile in millionths of a percent: 99.9 is 99900000. */
#define PERCENTILE_SCALE 1000000ULL
#define PERCENTILE_MAX (100 * PERCENTILE_SCALE)

/*
 * The slot that holds the percentile by the nearest rank: the first one up to which at least
 * that part of all values lies. stats.count: the sum of the slots, not 0. percentile: 0 (the
 * least value) to PERCENTILE_MAX (the greatest).
 */
uint32_t hist__percentile(const struct hist *hist, uint64_t percentile);

/* Room for 50, 90, 99 and one more nine each up to 99.999999. */
#define PERCENTILES_DEFAULT 9

/* 50, 90, 99, and one more nine as long as at least one of count values lies above it.
 * Returns how many. */
size_t percentiles__default(uint64_t count, uint64_t percentiles[PERCENTILES_DEFAULT]);

/*
 * The least or greatest value, unscaled: the one among the extremes (of collect/hist.h: [0] of the
 * interval's own number, [1] of its neighbours') that lies in the first or last bucket
 * with values. False when neither does.
 */
bool hist__min(const struct hist_config *config, const struct hist *hist, uint64_t *min);
bool hist__max(const struct hist_config *config, const struct hist *hist, uint64_t *max);

/* What histograms by key are put in order by; names for --sort, NULL-terminated. */
enum histogram_order {
	HISTOGRAM_BY_COUNT,
	HISTOGRAM_BY_SUM,
	HISTOGRAM_BY_MAX,
	HISTOGRAM_BY_P50, /* by the bucket that holds it */
	HISTOGRAM_BY_P99,
};
extern const char *const histogram_order_names[];

/* How much of it a histogram has; stats.count is not 0. */
uint64_t hist__measure(const struct hist_config *config, const struct hist *hist,
		       enum histogram_order order);

/* The parts of the member "key", in this order; VALUE_ABSENT where a key has none. */
enum histogram_key_field {
	HISTOGRAM_KEY_PID,
	HISTOGRAM_KEY_TID,
	HISTOGRAM_KEY_COMM,
	HISTOGRAM_KEY_CGROUP_ID,
	HISTOGRAM_KEY_CGROUP,
	HISTOGRAM_KEY_CPU,
	HISTOGRAM_KEY_CAUSE,
	HISTOGRAM_KEY_PID_NS,
	HISTOGRAM_KEY_FUNC,
	HISTOGRAM_KEY_RET,
	HISTOGRAM_KEY_OTHERS,
	HISTOGRAM_KEY_NR_FIELDS,
};

extern const struct record_type histogram_record_type;

/* The parts of the key of a histogram kept by these (bits of enum hist_by). cgroup: the path of the
 * key's, or NULL. key and name are borrowed. */
void histogram_key__values(const struct hist_key *key, const char *name, uint32_t by,
			   const char *cgroup, struct value values[HISTOGRAM_KEY_NR_FIELDS]);

/* The same of the keys, so many, that have no histogram of their own. */
void histogram_key__of_others(size_t nr, struct value values[HISTOGRAM_KEY_NR_FIELDS]);

/* Its fields, in their order. */
enum histogram_field {
	HISTOGRAM_KEY,
	HISTOGRAM_UNIT,
	HISTOGRAM_COUNT,
	HISTOGRAM_SUM,
	HISTOGRAM_MIN,
	HISTOGRAM_MAX,
	HISTOGRAM_PERCENTILES,
	HISTOGRAM_BUCKETS,
	HISTOGRAM_TEXT, /* text_only */
	HISTOGRAM_SCALE, /* text_only: nanoseconds in the unit */
	HISTOGRAM_NR_FIELDS,
};

/* Fields of a bucket. */
enum histogram_bucket_field { BUCKET_GE, BUCKET_LT, BUCKET_COUNT };
extern const struct record_type bucket_record_type;

/* The bounds of a percentile: p (in millionths), ge, and lt, absent if there is no upper bound. */
extern const struct record_type percentile_record_type;

/*
 * The fields of a record type "histogram", by enum histogram_field. key: the record type of its
 * keys; quantity: what its sum, least and greatest values are in, "ns" or "bytes".
 */
#define HISTOGRAM_FIELDS(key_type, quantity)                                                       \
	[HISTOGRAM_KEY] = { .name = "key",                                                         \
			    .kind = VALUE_OBJECT,                                                  \
			    .required = true,                                                      \
			    .meaning = "What the histogram is of; empty for the whole.",           \
			    .of = (key_type) },                                                    \
	[HISTOGRAM_UNIT] = FIELD_REQUIRED("unit", VALUE_BYTES, "The unit of ge and lt."),          \
	[HISTOGRAM_COUNT] = FIELD_REQUIRED("count", VALUE_UNSIGNED, "How many values."),           \
	[HISTOGRAM_SUM] = FIELD_REQUIRED("sum_" quantity, VALUE_UNSIGNED, "Sum of all values."),   \
	[HISTOGRAM_MIN] = FIELD_OPTIONAL("min_" quantity, VALUE_UNSIGNED, "The least value."),     \
	[HISTOGRAM_MAX] = FIELD_OPTIONAL("max_" quantity, VALUE_UNSIGNED, "The greatest value."),  \
	[HISTOGRAM_PERCENTILES] = { .name = "percentiles",                                         \
				    .kind = VALUE_RECORDS,                                         \
				    .required = true,                                              \
				    .meaning = "Percentiles, each as the bounds of its bucket.",   \
				    .of = &percentile_record_type },                               \
	[HISTOGRAM_BUCKETS] = { .name = "buckets",                                                 \
				.kind = VALUE_RECORDS,                                             \
				.required = true,                                                  \
				.meaning = "The buckets that have values.",                        \
				.of = &bucket_record_type },                                       \
	[HISTOGRAM_TEXT] = { .name = "text",                                                       \
			     .kind = VALUE_BYTES,                                                  \
			     .text_only = true,                                                    \
			     .meaning = "Bars and summary." },                                     \
	[HISTOGRAM_SCALE] = { .name = "scale",                                                     \
			      .kind = VALUE_UNSIGNED,                                              \
			      .text_only = true,                                                   \
			      .meaning = "What a value is divided by to be in the unit." }

/* A record type with these fields. */
#define HISTOGRAM_RECORD_TYPE(type_fields, text)                                                   \
	{                                                                                          \
		.name = "histogram", .meaning = text, .fields = type_fields,                       \
		.nr_fields = HISTOGRAM_NR_FIELDS, .block = &(type_fields)[HISTOGRAM_TEXT]          \
	}

/* Whether it is such a type, of whatever keys and quantity. */
static inline bool record_type__is_histogram(const struct record_type *type)
{
	return type->nr_fields == HISTOGRAM_NR_FIELDS &&
	       type->fields[HISTOGRAM_BUCKETS].of == &bucket_record_type;
}

/* How histograms of a run look. */
struct histogram_style {
	struct hist_config config;
	const char *unit; /* of the bounds, as bcc heads its table: "usecs" */
	bool fine; /* text: every bucket; else folded to powers of two */
	bool all_rows; /* text: also the empty rows at both ends */
	bool log_bars; /* text: bars by the logarithm of the count */
	/* The record type of HISTOGRAM_FIELDS(); NULL: histogram_record_type, of times. */
	const struct record_type *type;
	bool is_plain; /* text: values are numbers of the unit, no times */
	size_t width; /* characters of the terminal's line; 0: none */
	const uint64_t *percentiles;
	size_t nr_percentiles; /* 0: the default ones */
};

/* Room for the values of one record. */
struct histogram_record;

/* NULL when out of memory. */
struct histogram_record *histogram_record__new(void);
void histogram_record__free(struct histogram_record *record);

/* The most percentiles one record has room for. */
#define PERCENTILES_MAX 32

/*
 * Makes the record of a histogram. key: a value for each field of the key of its type. with_text:
 * also what the text face shows. The result borrows from record and key until the next call.
 */
struct record histogram_record__fill(struct histogram_record *record, const struct hist *hist,
				     const struct histogram_style *style, const struct value *key,
				     bool with_text);

/* Appends the table of bars: one row for each bucket, as style says. */
void histogram__append_bars(struct buffer *out, const struct hist *hist,
			    const struct histogram_style *style);

/* Appends the line below the bars: count, average, least, greatest and percentiles. */
void histogram__append_summary(struct buffer *out, const struct hist *hist,
			       const struct histogram_style *style);

#endif
