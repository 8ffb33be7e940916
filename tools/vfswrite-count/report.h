/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What vfswrite-count writes at the end of an interval and of the run. */
#ifndef VANTAGE_VFSWRITE_COUNT_REPORT_H
#define VANTAGE_VFSWRITE_COUNT_REPORT_H

#include "records.h"
#include "rows.h"
#include "run/groups.h"
#include "run/session.h"
#include "settings.h"
#include "tables.h"

struct report {
	struct tables tables; /* the loader's own */
	struct session *session;
	const struct vfswrite_options *options;
	struct histogram_record *histogram;
	struct histogram_style style;
	bool has_reading; /* of the whole, in this report */
	struct groups groups;
	struct places places;
	struct rows last; /* what was counted up to the last report */
};

/* Borrows all but the report. 0 or -errno, reported. */
int report__open(struct report *report, struct session *session,
		 const struct vfswrite_options *options);

/* A record of the ring. 0 or -errno, reported. */
int report__place(struct report *report, const struct vfswrite_place *place);

/* The rows of an interval or of the run, and their total; histograms; at the end of the run what
 * was counted aside. 0 or -errno, reported. */
int report__interval(struct report *report, const struct session_span *span);

void report__close(struct report *report);

#endif
