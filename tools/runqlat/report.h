/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What runqlat writes at the end of an interval and of the run, and meanwhile: its distribution,
 * and the waits that are open at the end. */
#ifndef VANTAGE_RUNQLAT_REPORT_H
#define VANTAGE_RUNQLAT_REPORT_H

#include "records.h"
#include "report/distribution.h"
#include "run/session.h"
#include "settings.h"

struct report {
	struct distribution distribution;
	struct session *session;
	int err; /* 0, or the first error of the sink among the open waits */
};

/* When all is attached. Borrows all but the report. 0 or -errno, reported. */
int report__open(struct report *report, struct session *session,
		 const struct runqlat_options *options);

/* The waits that are open at the end. fd: of the walk over them. 0 or -errno, reported. */
int report__open_waits(struct report *report, int fd);

#endif
