/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What runqlat writes at the end of an interval and of the run, and meanwhile. */
#ifndef VANTAGE_RUNQLAT_REPORT_H
#define VANTAGE_RUNQLAT_REPORT_H

#include "collect/hist.h"
#include "collect/slowest.h"
#include "output/histogram.h"
#include "records.h"
#include "run/groups.h"
#include "run/session.h"
#include "settings.h"

struct report {
	/* Set by the loader before the run. */
	struct hist_source source;
	struct histogram_style style;

	struct session *session;
	const struct runqlat_options *options;
	struct hist_reader *reader;
	struct histogram_record *record;
	struct slowest slowest;
	struct groups groups;
	uint32_t by; /* bits of enum runqlat_by */
	bool text;
	int err; /* 0, or the first error of the sink in this report */
};

/* When all is attached. Borrows all but the report. 0 or -errno, reported. */
int report__open(struct report *report, struct session *session,
		 const struct runqlat_options *options);

/* A record of the ring. 0 or an error of the sink. */
int report__slow(struct report *report, const struct runqlat_slow *slow);

/* The histograms of an interval or of the run, and the longest waits. 0 or -errno, reported. */
int report__interval(struct report *report, const struct session_span *span);

/* The waits that are open at the end. fd: of the walk over them. 0 or -errno, reported. */
int report__open_waits(struct report *report, int fd);

void report__close(struct report *report);

#endif
