// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include <errno.h>

#include "collect/walk.h"
#include "run/interval.h"
#include "run/log.h"

int report__open(struct report *report, struct session *session,
		 const struct runqlat_options *options)
{
	report->session = session;
	report->options = options;
	report->by = runqlat_options__by(options);
	report->text = options__face(&options->common) == FACE_TEXT;
	report->reader = hist_reader__new(&report->source);
	report->record = histogram_record__new();
	if (!report->reader || !report->record ||
	    slowest__open(&report->slowest, runqlat_options__slowest(options),
			  sizeof(struct runqlat_slow)))
		return log_error(ENOMEM, NULL, "cannot prepare the report");
	return 0;
}

void report__close(struct report *report)
{
	hist_reader__free(report->reader);
	histogram_record__free(report->record);
	slowest__close(&report->slowest);
	groups__free(&report->groups);
}

/* A record that stands for no event of its own. */
static int report__write(struct report *report, const struct record *record)
{
	return session__record_events(report->session, RUNQLAT_WAIT, 0, record);
}

static int report__write_slow(struct report *report, const struct runqlat_slow *slow)
{
	const struct record_times times = { report->session->clock, report->session->started_ns };
	struct record_values values;
	struct record record = slow__record(slow, &times, &values);

	return report__write(report, &record);
}

int report__slow(struct report *report, const struct runqlat_slow *slow)
{
	if (report->slowest.limit) {
		slowest__add(&report->slowest, slow);
		return 0;
	}
	return report__write_slow(report, slow);
}

static int report__histogram(void *ctx, const struct hist_reading *reading)
{
	struct report *report = ctx;
	struct value key[HISTOGRAM_KEY_NR_FIELDS];
	const char *cgroup = NULL;
	struct record record;
	int err;

	if (report->by & 1U << HIST_BY_CGROUP && !reading->nr_others)
		cgroup = groups__path(&report->groups, reading->key.cgroup_id);
	if (reading->nr_others)
		histogram_key__of_others(reading->nr_others, key);
	else
		key__values(&reading->key, reading->name, report->by, cgroup, key);
	record = histogram_record__fill(report->record, &reading->hist, &report->style, key,
					report->text);
	/* What can no longer be written is still read, to be counted as lost. */
	err = session__record_events(report->session, RUNQLAT_WAIT, reading->hist.stats.count,
				     &record);
	if (!report->err)
		report->err = err;
	return 0;
}

static uint64_t report__measure(void *ctx, const struct hist_reading *reading)
{
	const struct report *report = ctx;

	return hist__measure(&report->style.config, &reading->hist, report->options->sort);
}

int report__interval(struct report *report, const struct session_span *span)
{
	const struct hist_view view = {
		.measure = report->options->sort ? report__measure : NULL,
		.ctx = report,
		.top = report->options->top.count,
	};
	uint64_t interval = *report->source.interval;
	const void *slow;
	size_t nr;
	int err;

	report->style.width = sink__width(report->session->sink);
	report->err = report->options->interval.given ?
			      interval__write(report->session, RUNQLAT_WAIT, span) :
			      0;
	err = hist_reader__read(report->reader, &view, report__histogram, report);
	if (!err)
		err = report->err;
	/* Those of this interval that are still on their way. */
	if (!err)
		err = session__take_all(report->session);
	nr = slowest__take(&report->slowest, interval, &slow);
	for (size_t i = 0; i < nr && !err; i++)
		err = report__write_slow(report, (const struct runqlat_slow *)slow + i);
	return err;
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
