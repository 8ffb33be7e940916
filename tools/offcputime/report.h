/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What offcputime writes at the end of an interval and of the run, and keeps meanwhile. */
#ifndef VANTAGE_OFFCPUTIME_REPORT_H
#define VANTAGE_OFFCPUTIME_REPORT_H

#include "collect/stacks.h"
#include "frames.h"
#include "known.h"
#include "records.h"
#include "stays.h"
#include "run/session.h"
#include "settings.h"

#define REPORT_NO_FRAMES_MAX 8

struct report {
	/* Set by the loader before the run. */
	struct bpf_map *rows_map;
	struct bpf_map *rest_map;
	__u64 *interval; /* offcputime_interval in the object's data */
	int open_fd; /* the walk over the stays that have not ended; -1: none */

	struct session *session;
	const struct offcputime_options *options;
	struct symbolizer *symbolizer;
	struct stacks stacks;
	struct row_stacks named;
	struct row_look look;
	struct knowns knowns;
	const char *no_frames[REPORT_NO_FRAMES_MAX]; /* files whose code keeps no frame pointers */
	size_t nr_no_frames;
	struct stay_rows rows;
	struct stay_rows last; /* at the end of the interval before */
};

/* When all is attached, before privileges are given up. Borrows all but the report. 0 or -errno,
 * reported. */
int report__open(struct report *report, struct session *session,
		 const struct offcputime_options *options);

/* A record of the ring. size: of it. 0 or -errno, reported. */
int report__take(struct report *report, const void *record, size_t size);

/* The same as soon as it comes: reads the maps of its process. */
void report__meet(struct report *report, const void *record);

/* The rows of an interval or of the run. 0 or -errno, reported. */
int report__write(struct report *report, const struct session_span *span);

void report__close(struct report *report);

#endif
