/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What vfswrite-count writes at the end of an interval and of the run. */
#ifndef VANTAGE_VFSWRITE_COUNT_REPORT_H
#define VANTAGE_VFSWRITE_COUNT_REPORT_H

#include "records.h"
#include "rows.h"
#include "run/groups.h"
#include "run/session.h"
#include "settings.h"

struct bpf_link;

struct report {
	/* The loader's own. */
	struct bpf_link *rows_walk;
	struct bpf_link *errors_walk;
	struct bpf_link *hot_walk; /* when has_hot */
	bool has_hot;
	size_t nr_cpus;

	struct session *session;
	const struct vfswrite_options *options;
	struct groups groups;
	struct rows last; /* what was counted up to the last report */
};

/* Borrows all but the report. */
void report__open(struct report *report, struct session *session,
		  const struct vfswrite_options *options);

/* The rows of an interval or of the run, and their total. 0 or -errno, reported. */
int report__interval(struct report *report, const struct session_span *span);

/* The number of calls by enum vfswrite_func that were counted aside. 0 or -errno, reported. */
int report__aside(struct report *report, const uint64_t calls[VFSWRITE_NR_FUNCS]);

void report__close(struct report *report);

#endif
