/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The report of a tool that keeps histograms of how long its events last, and tells the slowest of
 * them: what is written at the end of an interval and of the run. It knows neither the events'
 * records nor what the tool's own keys mean.
 */
#ifndef VANTAGE_REPORT_DISTRIBUTION_H
#define VANTAGE_REPORT_DISTRIBUTION_H

#include "collect/hist.h"
#include "collect/slowest.h"
#include "output/histogram.h"
#include "run/groups.h"
#include "run/options.h"
#include "run/session.h"

/* What the tool hands to distribution__open(); all of it is borrowed. */
struct distribution_config {
	struct session *session;
	uint32_t kind; /* of events, of the session's tool */
	uint32_t by; /* bits of enum hist_by, and of the tool's own keys behind them; 0: one */
	int order; /* enum histogram_order; of keys */
	uint64_t top; /* so many keys, after all others as one; 0: all */
	bool intervals; /* each begins with its heading */
	uint32_t slowest; /* so many of an interval are told; 0: each event that comes */
	size_t slow_size; /* of an event's record, which begins with a struct slow_event */
	/* Writes an event's record. 0 or an error of the sink. */
	int (*write_slow)(void *ctx, const void *slow);
	/* NULL, or fills in the tool's own parts of a key; what they borrow has to stay until the
	 * next call. */
	void (*fill_key)(void *ctx, const struct hist_key *key, uint32_t by,
			 struct value values[HISTOGRAM_KEY_NR_FIELDS]);
	void *ctx;
};

struct distribution {
	/* Set by the loader before the run. */
	struct hist_source source;
	struct histogram_style style;

	struct distribution_config config;
	struct hist_reader *reader;
	struct histogram_record *record;
	struct slowest slowest;
	struct groups groups;
	int err; /* 0, or the first error of the sink in this report */
};

/* When all is attached. 0 or -errno, reported. */
int distribution__open(struct distribution *distribution, const struct distribution_config *config);

/* *distribution may be all zero. */
void distribution__close(struct distribution *distribution);

/* An event's record from the ring: kept, or written. 0 or an error of the sink. */
int distribution__slow(struct distribution *distribution, const void *slow);

/* The histograms of an interval or of the run, and its slowest events. 0 or -errno, reported. */
int distribution__report(struct distribution *distribution, const struct session_span *span);

/* What the options of such tools mean. */

/* How many of the slowest events are told: 3 by the text face, unless something else was asked
 * for. */
uint32_t distribution__slowest(const struct common_options *options,
			       const struct optional_count *slowest, uint64_t slower_ns);

/* Refuses what is about keys where there are none. 0 or -EINVAL, reported as a usage error. */
int distribution__check_keys(uint32_t by, const struct optional_count *top, int order,
			     const struct optional_count *max_keys);

/* "each longer than 10ms told", or NULL when slower_ns is 0. size: at least 64. */
const char *distribution__aside(uint64_t slower_ns, char *text, size_t size);

#endif
