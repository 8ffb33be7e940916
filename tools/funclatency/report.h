/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What funclatency writes at the end of an interval and of the run. */
#ifndef VANTAGE_FUNCLATENCY_REPORT_H
#define VANTAGE_FUNCLATENCY_REPORT_H

#include "callers.h"
#include "collect/hist.h"
#include "collect/slowest.h"
#include "output/histogram.h"
#include "records.h"
#include "run/function_type.h"
#include "run/groups.h"
#include "run/session.h"
#include "settings.h"
#include "target.h"

struct report {
	/* Set by the loader before the run. */
	struct hist_source source;
	struct histogram_style style;
	struct bpf_map *frames;
	const struct funclatency_slot *slots; /* FUNCLATENCY_NR_SLOTS */

	struct session *session;
	const struct funclatency_options *options;
	const struct target *target;
	struct function_type type; /* of the target */
	struct symbolizer *symbolizer; /* where slow calls of functions are told */
	struct slowest slowest;
	struct hist_reader *reader;
	struct histogram_record *record;
	struct groups groups;
	uint32_t by; /* bits of enum hist_by */
	bool text;
	int err; /* 0, or the first error of the sink in this report */
};

/* When all is attached. Borrows all but the report. 0 or -errno, reported. */
int report__open(struct report *report, struct session *session,
		 const struct funclatency_options *options, const struct target *target);

/* A record of the ring. 0 or an error of the sink. */
int report__slow(struct report *report, const struct funclatency_slow *slow);

/* The histograms of an interval or of the run, and the slowest calls. 0 or -errno, reported. */
int report__interval(struct report *report, const struct session_span *span);

/* The calls whose frames are left at the end. 0 or -errno, reported. */
int report__open_calls(struct report *report);

void report__close(struct report *report);

#endif
