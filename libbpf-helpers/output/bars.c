// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How a histogram looks to a person. */
#include "output/histogram.h"

#include <inttypes.h>
#include <stdio.h>

#include "run/number.h"

/* Bars where there is no terminal are as wide as bcc's. */
#define BAR_WIDTH 40
#define BAR_WIDTH_MIN 10

/* A row of the table, from the slot `first` up to, and without, the slot `end`. */
struct row {
	uint32_t first;
	uint32_t end;
	uint64_t count;
};

struct rows {
	struct row items[HIST_SLOTS];
	size_t nr;
	uint64_t largest; /* count of a row */
};

/* Whether a new row begins at the slot: a power of two, or 0. */
static bool begins_row(const struct histogram_style *style, uint32_t slot)
{
	if (style->fine || style->config.linear_step || !slot)
		return true;
	if (slot < HIST_ROW_SLOTS)
		return !(slot & (slot - 1));
	return !(slot % HIST_ROW_SLOTS);
}

static void rows__fill(struct rows *rows, const struct hist *hist,
		       const struct histogram_style *style)
{
	rows->nr = 0;
	rows->largest = 0;
	for (uint32_t slot = 0; slot < HIST_SLOTS; slot++) {
		struct row *row;

		if (begins_row(style, slot))
			rows->items[rows->nr++] = (struct row){ .first = slot };
		row = &rows->items[rows->nr - 1];
		row->end = slot + 1;
		row->count += hist->slots[slot];
		if (row->count > rows->largest)
			rows->largest = row->count;
	}
}

/* Binary logarithm of value >= 1 in 1/65536, by repeated squaring. */
static uint32_t log2_fixed(uint64_t value)
{
	uint32_t whole = 63 - (uint32_t)__builtin_clzll(value), result = whole << 16;
	/* value / 2^whole, from 1 up to 2, in 1/2^31. */
	uint64_t part = whole > 31 ? value >> (whole - 31) : value << (31 - whole);

	for (uint32_t bit = 1 << 15; bit; bit >>= 1) {
		part = part * part >> 31;
		if (part >> 32) {
			part >>= 1;
			result |= bit;
		}
	}
	return result;
}

/* Marks for a count, at least one for any that is not 0. */
static size_t marks_for(uint64_t count, uint64_t largest, size_t width, bool log_bars)
{
	size_t marks;

	if (!count)
		return 0;
	if (log_bars) /* of one more: a count of 1 is more than none */
		marks = (uint64_t)width * log2_fixed(count + !!~count) /
			log2_fixed(largest + !!~largest);
	else
		marks = (size_t)((unsigned __int128)count * width / largest);
	return marks ? marks : 1;
}

static int digits_of(uint64_t number)
{
	int digits = 1;

	while (number /= 10)
		digits++;
	return digits;
}

static void append_repeated(struct buffer *out, char c, size_t nr)
{
	char *room = buffer__reserve(out, nr);

	if (!room)
		return;
	memset(room, c, nr);
	out->size += nr;
}

static void append_row(struct buffer *out, const struct row *row, const struct rows *rows,
		       const struct histogram_style *style, int number_width, int count_width,
		       size_t bar_width)
{
	struct hist_bounds first = hist__bounds(&style->config, row->first),
			   last = hist__bounds(&style->config, row->end - 1);
	size_t marks = marks_for(row->count, rows->largest, bar_width, style->log_bars);

	if (last.open)
		buffer__printf(out, "%*" PRIu64 " or more%*s", number_width, first.ge,
			       number_width - 4, "");
	else
		buffer__printf(out, "%*" PRIu64 " -> %-*" PRIu64, number_width, first.ge,
			       number_width, last.lt - 1);
	buffer__printf(out, " : %-*" PRIu64 " |", count_width, row->count);
	append_repeated(out, '*', marks);
	append_repeated(out, ' ', bar_width - marks);
	buffer__append(out, "|\n", 2);
}

void histogram__append_bars(struct buffer *out, const struct hist *hist,
			    const struct histogram_style *style)
{
	int number_width = 10, count_width = 8;
	size_t from = 0, to, bar_width = BAR_WIDTH, used;
	struct rows rows;

	rows__fill(&rows, hist, style);
	to = rows.nr;
	if (!rows.largest)
		return;
	while (!style->all_rows && !rows.items[from].count)
		from++;
	while (!style->all_rows && !rows.items[to - 1].count)
		to--;
	if (number_width < digits_of(hist__bounds(&style->config, rows.items[to - 1].first).ge))
		number_width = 20;
	if (count_width < digits_of(rows.largest))
		count_width = digits_of(rows.largest);
	used = 2 * number_width + 4 + 3 + count_width + 3;
	if (style->width)
		bar_width = style->width > used + BAR_WIDTH_MIN ? style->width - used :
								  BAR_WIDTH_MIN;
	buffer__printf(out, "%*s : %-*s  distribution%s\n", 2 * number_width + 4, style->unit,
		       count_width, "count", style->log_bars ? " (bars by logarithm)" : "");
	for (size_t i = from; i < to; i++)
		append_row(out, &rows.items[i], &rows, style, number_width, count_width, bar_width);
}

static void append_value(struct buffer *out, const struct histogram_style *style, const char *name,
			 bool known, uint64_t value)
{
	char text[32];

	if (known && style->is_plain)
		buffer__printf(out, ", %s %" PRIu64, name, value);
	else if (known)
		buffer__printf(out, ", %s %s", name, number__round_time(value, text));
}

void histogram__append_summary(struct buffer *out, const struct hist *hist,
			       const struct histogram_style *style)
{
	uint64_t defaults[PERCENTILES_DEFAULT], count = hist->stats.count, min, max;
	const uint64_t *percentiles = style->percentiles;
	size_t nr = style->nr_percentiles;
	bool min_known = hist__min(&style->config, hist, &min),
	     max_known = hist__max(&style->config, hist, &max);

	buffer__printf(out, "count %" PRIu64, count);
	if (!count) {
		buffer__append_char(out, '\n');
		return;
	}
	append_value(out, style, "average", true, hist->stats.sum / count);
	append_value(out, style, "min", min_known, min);
	append_value(out, style, "max", max_known, max);
	buffer__append_char(out, ';');
	if (!nr) {
		nr = percentiles__default(count, defaults);
		percentiles = defaults;
	}
	for (size_t i = 0; i < nr; i++) {
		uint32_t slot = hist__percentile(hist, percentiles[i]);
		struct hist_bounds bounds = hist__bounds(&style->config, slot);

		buffer__append_string(out, " p");
		buffer__append_millionths(out, percentiles[i]);
		if (bounds.open)
			buffer__printf(out, " [%" PRIu64 ",)", bounds.ge);
		else
			buffer__printf(out, " [%" PRIu64 ",%" PRIu64 ")", bounds.ge, bounds.lt);
	}
	buffer__printf(out, " %s\n", style->unit);
}
