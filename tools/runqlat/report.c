// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include "collect/walk.h"

/* A record that stands for no event of its own. */
static int report__write(struct report *report, const struct record *record)
{
	return session__record_events(report->session, RUNQLAT_WAIT, 0, record);
}

static int report__write_slow(void *ctx, const void *slow)
{
	struct report *report = ctx;
	const struct record_times times = { report->session->clock, report->session->started_ns };
	struct record_values values;
	struct record record = slow__record(slow, &times, &values);

	return report__write(report, &record);
}

static void report__fill_key(void *ctx, const struct hist_key *key, uint32_t by,
			     struct value values[HISTOGRAM_KEY_NR_FIELDS])
{
	(void)ctx; /* the key alone tells */
	key__fill(key, by, values);
}

int report__open(struct report *report, struct session *session,
		 const struct runqlat_options *options)
{
	const struct distribution_config config = {
		.session = session,
		.kind = RUNQLAT_WAIT,
		.by = runqlat_options__by(options),
		.order = options->sort,
		.top = options->top.count,
		.intervals = options->interval.given,
		.slowest = runqlat_options__slowest(options),
		.slow_size = sizeof(struct runqlat_slow),
		.write_slow = report__write_slow,
		.fill_key = report__fill_key,
		.ctx = report,
	};

	report->session = session;
	return distribution__open(&report->distribution, &config);
}

static int report__open_wait(void *ctx, const void *open)
{
	struct report *report = ctx;
	struct record_values values;
	struct record record = open__record(open, &values);
	int err;

	report->session->account.terms[RUNQLAT_WAIT].in_flight++;
	err = report__write(report, &record);
	if (!report->err)
		report->err = err;
	return 0;
}

int report__open_waits(struct report *report, int fd)
{
	int err;

	report->err = 0;
	err = walk__read(fd, sizeof(struct runqlat_open), report__open_wait, report);
	return err ? err : report->err;
}
