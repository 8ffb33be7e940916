/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What funclatency writes at the end of an interval and of the run: its distribution, and the calls
 * that have not returned at the end. */
#ifndef VANTAGE_FUNCLATENCY_REPORT_H
#define VANTAGE_FUNCLATENCY_REPORT_H

#include "callers.h"
#include "records.h"
#include "report/distribution.h"
#include "run/session.h"
#include "settings.h"
#include "target.h"

struct report {
	struct distribution distribution;

	/* Set by the loader before the run. */
	struct bpf_map *frames;

	const struct funclatency_slot *slots; /* FUNCLATENCY_NR_SLOTS of them */
	struct session *session;
	const struct funclatency_options *options;
	const struct target *target;
	struct symbolizer *symbolizer; /* where slow calls of functions are told */
	char func[64]; /* of the histogram that is written */
	int err; /* 0, or the first error of the sink among the open calls */
};

/* When all is attached. slots_fd: of the table of calls on idle CPUs and in interrupts. Borrows all
 * but the report. 0 or -errno, reported. */
int report__open(struct report *report, struct session *session,
		 const struct funclatency_options *options, const struct target *target,
		 int slots_fd);

/* The calls whose frames are left at the end. 0 or -errno, reported. */
int report__open_calls(struct report *report);

void report__close(struct report *report);

#endif
