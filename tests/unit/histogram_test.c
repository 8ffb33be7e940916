// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Slots, bounds, percentiles and bars of histograms. */
#include "output/histogram.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/test.h"

static const struct hist_config log_ns = { .unit = 1 };
static const struct hist_config log_us = { .unit = 1000 };

static bool contains(const struct hist_config *config, uint32_t slot, uint64_t value)
{
	struct hist_bounds bounds = hist__bounds(config, slot);
	uint64_t scaled = value / config->unit;

	return scaled >= bounds.ge && (bounds.open || scaled < bounds.lt);
}

/* Whether the value is in the slot whose bounds hold it, and that slot is as narrow as promised. */
static void check_value(uint64_t value, unsigned long *wrong, unsigned long *wide)
{
	static const struct hist_config configs[] = {
		{ .unit = 1 },
		{ .unit = 1000 },
		{ .unit = 1000000 },
		{ .unit = 1000, .linear_step = 10 },
	};

	for (size_t i = 0; i < sizeof(configs) / sizeof(configs[0]); i++) {
		uint32_t slot = hist__slot(&configs[i], value);
		struct hist_bounds bounds;

		if (slot >= HIST_SLOTS || !contains(&configs[i], slot, value)) {
			++*wrong;
			continue;
		}
		bounds = hist__bounds(&configs[i], slot);
		if (!configs[i].linear_step && !bounds.open && bounds.lt - bounds.ge > 1)
			*wide += (bounds.lt - bounds.ge) * 16 > bounds.ge;
	}
}

static void test_slots(void)
{
	static const uint64_t borders[] = { 1000, 1000000, 1000000000, 16000, 10000, 9760000 };
	unsigned long wrong = 0, wide = 0, gaps = 0;

	check_value(0, &wrong, &wide);
	for (int bit = 0; bit < 64; bit++)
		for (int64_t off = -1; off <= 1; off++)
			check_value((UINT64_C(1) << bit) + (uint64_t)off, &wrong, &wide);
	check_value(UINT64_MAX, &wrong, &wide);
	for (size_t i = 0; i < sizeof(borders) / sizeof(borders[0]); i++)
		for (uint64_t times = 1; times < 40; times++)
			for (int64_t off = -1; off <= 1; off++)
				check_value(borders[i] * times + (uint64_t)off, &wrong, &wide);
	test__equal("slots: each value at a border is in its bucket", wrong, 0);
	test__equal("slots: no bucket is wider than 1/16 of its lower bound", wide, 0);
	for (uint32_t slot = 0; slot + 1 < HIST_SLOTS; slot++)
		gaps += hist__bounds(&log_ns, slot).lt != hist__bounds(&log_ns, slot + 1).ge;
	test__equal("slots: each bucket begins where the one before ends", gaps, 0);
	test__check(hist__slot(&log_ns, 0) != hist__slot(&log_ns, 1), "slots: 0 is apart from 1",
		    "one slot");
	test__equal("slots: 2^64 - 1 is in the last one", hist__slot(&log_ns, UINT64_MAX),
		    HIST_SLOTS - 1);
	test__check(hist__bounds(&log_ns, HIST_SLOTS - 1).open, "slots: the last one is open",
		    "it is not");
	test__check(hist__slot(&log_us, 10000000) != hist__slot(&log_us, 13000000),
		    "slots: 10 ms and 13 ms are apart", "one slot");
}

static void hist__put(struct hist *hist, const struct hist_config *config, uint64_t value)
{
	struct hist_extremes *extremes = &hist->stats.extremes[0];

	hist->slots[hist__slot(config, value)]++;
	hist->stats.count++;
	hist->stats.sum += value;
	if (!extremes->interval || value < extremes->min)
		extremes->min = value;
	if (!extremes->interval || value > extremes->max)
		extremes->max = value;
	extremes->interval = 1;
}

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

enum { UNIFORM, SKEWED, TWO_HUMPS, CONSTANT, NR_DISTRIBUTIONS };

static uint64_t draw(int distribution, uint64_t *state)
{
	uint64_t random = next_random(state);

	switch (distribution) {
	case UNIFORM:
		return random % 1000000;
	case SKEWED:
		return random >> (random % 64);
	case TWO_HUMPS:
		return random % 1000 ? 3000 + random % 500 : 4000000 + random % 100000;
	default:
		return 4000000;
	}
}

static int compare_numbers(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static void test_percentiles(int distribution, const char *name)
{
	static const uint64_t wanted[] = { 0,	     1000000,  50000000, 90000000,
					   99000000, 99900000, 99999000, 100000000 };
	enum { NR = 300000 };
	struct hist *hist = calloc(1, sizeof(*hist));
	uint64_t *values = calloc(NR, sizeof(*values)), state = 88172645463325252;
	unsigned long wrong = 0;
	char check[96];

	for (int i = 0; i < NR; i++) {
		values[i] = draw(distribution, &state);
		hist__put(hist, &log_ns, values[i]);
	}
	qsort(values, NR, sizeof(*values), compare_numbers);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		uint64_t rank = (NR * wanted[i] + 99999999) / 100000000;
		uint32_t slot = hist__percentile(hist, wanted[i]);

		wrong += !contains(&log_ns, slot, values[rank ? rank - 1 : 0]);
	}
	snprintf(check, sizeof(check), "percentiles: %s: each exact one is in its bucket", name);
	test__equal(check, wrong, 0);
	free(values);
	free(hist);
}

static void test_default_percentiles(void)
{
	uint64_t percentiles[PERCENTILES_DEFAULT];

	test__equal("percentiles: 300,000 reach 99.999", percentiles__default(300000, percentiles),
		    6);
	test__equal("percentiles: the last of them", percentiles[5], 99999000);
	test__equal("percentiles: 1 has three", percentiles__default(1, percentiles), 3);
	test__equal("percentiles: 999 has three", percentiles__default(999, percentiles), 3);
	test__equal("percentiles: 1,000 has 99.9", percentiles__default(1000, percentiles), 4);
	test__check(percentiles__default(UINT64_MAX, percentiles) <= PERCENTILES_DEFAULT,
		    "percentiles: never more than there is room for", "more");
}

static void test_extremes(void)
{
	struct hist hist = {};
	uint64_t value;

	hist__put(&hist, &log_us, 5000);
	hist__put(&hist, &log_us, 700000);
	test__check(hist__min(&log_us, &hist, &value) && value == 5000, "extremes: least", "%lu",
		    value);
	test__check(hist__max(&log_us, &hist, &value) && value == 700000, "extremes: greatest",
		    "%lu", value);
	hist.stats.extremes[1] = hist.stats.extremes[0];
	hist.stats.extremes[0].max = 90;
	test__check(hist__max(&log_us, &hist, &value) && value == 700000,
		    "extremes: the neighbour's, when only it fits the last bucket", "%lu", value);
	hist.stats.extremes[1].interval = 0;
	test__check(!hist__max(&log_us, &hist, &value), "extremes: unknown when none fits", "%lu",
		    value);
}

/* What histograms by key are put in order by. */
static void test_measures(void)
{
	struct hist *hist = calloc(1, sizeof(*hist));

	for (uint64_t i = 0; i < 100; i++)
		hist__put(hist, &log_us, i < 60 ? 5000 : 90000);
	hist__put(hist, &log_us, 700123);
	test__equal("measure: count", hist__measure(&log_us, hist, HISTOGRAM_BY_COUNT), 101);
	test__equal("measure: sum", hist__measure(&log_us, hist, HISTOGRAM_BY_SUM),
		    60 * 5000 + 40 * 90000 + 700123);
	test__equal("measure: max", hist__measure(&log_us, hist, HISTOGRAM_BY_MAX), 700123);
	test__equal("measure: the bucket of p50", hist__measure(&log_us, hist, HISTOGRAM_BY_P50),
		    hist__slot(&log_us, 5000));
	test__equal("measure: the bucket of p99", hist__measure(&log_us, hist, HISTOGRAM_BY_P99),
		    hist__slot(&log_us, 90000));
	hist->stats.extremes[0].interval = 0;
	test__equal("measure: the least that max can be, where it is not known",
		    hist__measure(&log_us, hist, HISTOGRAM_BY_MAX),
		    1000 * hist__bounds(&log_us, hist__slot(&log_us, 700123)).ge);
	free(hist);
}

/* The text of bars; static room. */
static const char *bars_of(const struct hist *hist, const struct histogram_style *style)
{
	static struct buffer out;

	out.size = 0;
	histogram__append_bars(&out, hist, style);
	histogram__append_summary(&out, hist, style);
	buffer__append_char(&out, '\0');
	return out.data;
}

static void test_bars(void)
{
	struct histogram_style style = { .config = { .unit = 1 }, .unit = "nsecs" };
	struct hist *hist = calloc(1, sizeof(*hist));
	const char *text;

	test__same("bars: an empty histogram", bars_of(hist, &style), "count 0\n");
	hist->slots[hist__slot(&style.config, 3)] = 300000;
	hist->slots[hist__slot(&style.config, 40)] = 1;
	hist->stats.count = 300001;
	text = bars_of(hist, &style);
	test__check(strstr(text, "         2 -> 3          : 300000   |********************"
				 "********************|\n"),
		    "bars: the largest row is full", "%s", text);
	test__check(strstr(text, "        32 -> 63         : 1        |* "),
		    "bars: a count of 1 beside 300,000 has a mark", "%s", text);
	test__check(strstr(text, "         4 -> 7          : 0        |  "),
		    "bars: a row between is there, without a mark", "%s", text);
	test__check(!strstr(text, "0 -> 0 "), "bars: empty rows at the ends are not", "%s", text);
	style.log_bars = true;
	test__check(strstr(bars_of(hist, &style), ": 1        |** "),
		    "bars: by logarithm 1 is seen", "%s", bars_of(hist, &style));
	style.all_rows = true;
	test__check(strstr(bars_of(hist, &style), "0 -> 0 "), "bars: all rows on demand", "%s",
		    bars_of(hist, &style));
	memset(hist, 0, sizeof(*hist));
	style.all_rows = style.log_bars = false;
	hist->slots[HIST_SLOTS - 1] = hist->stats.count = 5000000000;
	text = bars_of(hist, &style);
	test__check(strstr(text, "or more") && strstr(text, ": 5000000000 |*****"),
		    "bars: only the open row, with a count beyond 32 bits", "%s", text);
	style.config.linear_step = 10;
	text = bars_of(hist, &style);
	test__check(strstr(text, "      9750 or more"), "bars: linear, only the open row", "%s",
		    text);
	style.fine = true;
	style.config.linear_step = 0;
	memset(hist, 0, sizeof(*hist));
	hist->slots[hist__slot(&style.config, 33)] = hist->stats.count = 7;
	test__check(strstr(bars_of(hist, &style), "        32 -> 33         : 7 "),
		    "bars: fine rows", "%s", bars_of(hist, &style));
	free(hist);
}

/* Bars take the rest of a terminal's line, and no row is longer, but in a very narrow one. */
static void test_width(void)
{
	struct histogram_style style = { .config = { .unit = 1 }, .unit = "nsecs" };
	static const size_t widths[] = { 60, 80, 132, 500 };
	struct hist *hist = calloc(1, sizeof(*hist));
	unsigned long wrong = 0;

	hist__put(hist, &style.config, 5);
	hist__put(hist, &style.config, UINT64_C(1) << 62);
	hist->slots[hist__slot(&style.config, 5)] = 12345678901;
	hist->stats.count = 12345678902;
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		const char *line;

		style.width = widths[i];
		for (line = strchr(bars_of(hist, &style), '\n') + 1; strchr(line, '|');
		     line = strchr(line, '\n') + 1)
			wrong += strcspn(line, "\n") != (widths[i] < 71 ? 71 : widths[i]);
	}
	test__equal("width: each row is as wide as the terminal", wrong, 0);
	free(hist);
}

/* The row that a line of text is about, and its count. */
static bool read_line(const char *line, uint64_t *low, uint64_t *high, uint64_t *count)
{
	return sscanf(line, " %lu -> %lu : %lu |", low, high, count) == 3;
}

/* Each value is in the row whose printed bounds hold it, and bounds are plain numbers. */
static void test_labels(void)
{
	struct histogram_style style = { .config = { .unit = 1 }, .unit = "nsecs" };
	struct hist *hist = calloc(1, sizeof(*hist));
	unsigned long outside = 0, unread = 0, rows = 0;

	for (uint64_t value = 1; value <= 100000; value += value < 10 ? 1 : value / 3) {
		uint64_t low, high, count;
		char *line;

		memset(hist, 0, sizeof(*hist));
		hist__put(hist, &style.config, value);
		line = strchr(bars_of(hist, &style), '\n') + 1;
		rows++;
		if (!read_line(line, &low, &high, &count))
			unread++;
		else
			outside += count != 1 || value < low || value > high;
	}
	test__check(rows > 30 && !unread, "labels: bounds are plain numbers, without suffixes",
		    "%lu of %lu are not", unread, rows);
	test__equal("labels: a value is in the row with low <= value <= high", outside, 0);
	free(hist);
}

/* Sizes are numbers, and so are their least, greatest and average. */
static void test_plain(void)
{
	const struct histogram_style style = { .config = { .unit = 1 },
					       .unit = "bytes",
					       .is_plain = true };
	struct hist *hist = calloc(1, sizeof(*hist));
	struct buffer out = {};

	hist__put(hist, &style.config, 1);
	hist__put(hist, &style.config, 4096);
	hist->stats.sum = 4097;
	hist->stats.extremes[0] = (struct hist_extremes){ 1, 1, 4096 };
	histogram__append_summary(&out, hist, &style);
	buffer__append_char(&out, '\0');
	test__check(!strncmp(out.data, "count 2, average 2048, min 1, max 4096; p50 [1,2)", 49) &&
			    strstr(out.data, " bytes\n"),
		    "plain: a summary of sizes", "%s", out.data);
	buffer__free(&out);
	free(hist);
}

int main(void)
{
	test_slots();
	test_percentiles(UNIFORM, "uniform");
	test_percentiles(SKEWED, "over all powers of two");
	test_percentiles(TWO_HUMPS, "two humps");
	test_percentiles(CONSTANT, "constant");
	test_default_percentiles();
	test_extremes();
	test_measures();
	test_bars();
	test_labels();
	test_width();
	test_plain();
	return test__done();
}
