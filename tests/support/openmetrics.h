/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Judges text of --format openmetrics by what both the Prometheus text format and OpenMetrics 1.0
 * ask for, as far as the two agree; what they contradict each other in (a TYPE of a counter)
 * must not be there.
 */
#ifndef VANTAGE_TESTS_OPENMETRICS_H
#define VANTAGE_TESTS_OPENMETRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the text is valid: names, escapes, one family after another with HELP and TYPE, no series
 * twice, histograms that are cumulative and end with +Inf, and the end. why says what is wrong. */
bool openmetrics__is_valid(const char *text, char *why, size_t why_size);

/* The whole number behind a sample, as it is written: "a_total{b=\"c\"}". -1 when there is none. */
int64_t openmetrics__value(const char *text, const char *sample);

/* The sum of the whole numbers behind all samples that begin with this. */
int64_t openmetrics__sum(const char *text, const char *start);

/* How many samples begin with this. */
size_t openmetrics__count(const char *text, const char *start);

#endif
