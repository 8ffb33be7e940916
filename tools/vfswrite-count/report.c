// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "funcs.h"
#include "output/buffer.h"
#include "run/interval.h"
#include "run/log.h"

/* The largest errno (the kernel's include/linux/err.h). */
#define MAX_ERRNO 4095

int report__open(struct report *report, struct session *session,
		 const struct vfswrite_options *options)
{
	const enum vfswrite_distribution distribution = vfswrite_options__distribution(options);

	report->session = session;
	report->options = options;
	report->style = distribution__style(distribution);
	if (vfswrite_options__by(options) & 1U << VFSWRITE_BY_CGROUP)
		groups__learn(&report->groups);
	if (!distribution)
		return 0;
	report->histogram = histogram_record__new();
	return report->histogram ? 0 : log_error(ENOMEM, NULL, "cannot prepare the report");
}

void report__close(struct report *report)
{
	tables__close(&report->tables);
	histogram_record__free(report->histogram);
	rows__free(&report->last);
	groups__free(&report->groups);
	places__free(&report->places);
}

int report__place(struct report *report, const struct vfswrite_place *place)
{
	int err = places__add(&report->places, place);

	return err ? log_error(err, NULL, "cannot keep the name of a file") : 0;
}

static struct key_names report__names(struct report *report, uint32_t by, uint64_t cgroup_id,
				      uint32_t place)
{
	return (struct key_names){
		.cgroup = by & 1U << VFSWRITE_BY_CGROUP ? groups__path(&report->groups, cgroup_id) :
							  NULL,
		.place = by & VFSWRITE_BY_PLACE ? places__find(&report->places, place) : NULL,
	};
}

/* The places of rows that were read come before or with them. */
static int report__read(struct report *report, struct rows *rows)
{
	struct tables_reading reading;
	int err = tables__read(&report->tables, &reading);

	if (err)
		return err;
	if (report->tables.by & VFSWRITE_BY_PLACE) {
		reading.source.places = &report->places;
		err = session__take_all(report->session);
	}
	if (!err) {
		err = rows__read(rows, &reading.source);
		if (err)
			log_error(err, NULL, "cannot keep the rows");
	}
	tables_reading__free(&reading);
	return err;
}

/* Adds up the causes of all rows into total, which borrows them from causes. */
static void total__add_causes(struct row *total, const struct rows *rows,
			      struct row_error causes[MAX_ERRNO + 1])
{
	for (size_t i = 0; i < rows->nr; i++)
		for (size_t j = 0; j < rows->items[i].nr_causes; j++)
			causes[rows->items[i].causes[j].error % (MAX_ERRNO + 1)].count +=
				rows->items[i].causes[j].count;
	total->causes = causes;
	for (uint32_t error = 0; error <= MAX_ERRNO; error++)
		if (causes[error].count)
			causes[total->nr_causes++] = (struct row_error){ error,
									 causes[error].count };
}

/* How many rows are shown: on a terminal that is redrawn, no more than it has lines for, beside the
 * heading, the total, the line with the time and that of the cursor. */
static uint64_t report__top(const struct report *report)
{
	const uint64_t top = report->options->top.given ? report->options->top.count : UINT64_MAX;
	const size_t other_lines = 4;
	size_t height;

	if (!report->options->live)
		return top;
	height = sink__height(report->session->sink);
	height = height > other_lines ? height - other_lines : 1;
	return top < height ? top : height;
}

static int report__write_rows(struct report *report, const struct rows *rows,
			      const struct count_scale *scale, struct count_values *values)
{
	const uint64_t top = report__top(report);
	size_t first = rows->nr > top ? rows->nr - top : 0;
	struct row_error *causes = calloc(MAX_ERRNO + 1, sizeof(*causes));
	struct row total = rows__total(rows);
	struct key_names names;
	uint64_t hidden = 0;
	struct record record;
	int err = 0;

	if (!causes)
		return log_error(ENOMEM, NULL, "cannot add up the errors");
	for (size_t n = 0; n < rows->nr; n++) {
		size_t i = report->options->live ? rows->nr - 1 - n : n;
		const struct row *row = &rows->items[i];

		/* The calls of a row that is not shown are in the total. */
		if (i < first) {
			hidden += row->calls;
			continue;
		}
		names = report__names(report, scale->by, row->key.cgroup_id, row->key.place);
		record = count__record(row, scale, &names, values);
		/* What can no longer be written is still counted, as lost. */
		err = session__record_events(report->session, VFSWRITE_CALL, row->calls, &record);
	}
	total__add_causes(&total, rows, causes);
	record = total__record(&total, scale, values);
	err = session__record_events(report->session, VFSWRITE_CALL, hidden, &record) ?: err;
	free(causes);
	return err;
}

static int report__write(struct report *report, const struct rows *rows,
			 const struct session_span *span)
{
	const struct row total = rows__total(rows);
	const struct count_scale scale = {
		.by = vfswrite_options__by(report->options),
		.calls = total.calls,
		.span_ns = span->end_ns - span->start_ns,
	};
	struct count_values values = { .errors = calloc(MAX_ERRNO + 1, sizeof(*values.errors)) };
	int err;

	if (!values.errors)
		return log_error(ENOMEM, NULL, "cannot write the report");
	err = report__write_rows(report, rows, &scale, &values);
	free(values.errors);
	buffer__free(&values.causes);
	return err;
}

/* By kprobe a result comes after its call was counted; those that have not come are told. */
static void report__note_missing(struct report *report, const struct rows *now)
{
	const struct row total = rows__total(now);

	if (report->session->attachment.mechanism == ATTACH_KPROBE && total.calls > total.results)
		report->session->account.terms[VFSWRITE_CALL].detail_lost[ACCOUNT_DETAIL_RESULT] =
			total.calls - total.results;
}

/* Calls from which on small writes are told, the bytes of one below which they are small, and how
 * many rows are told at most. A wake-up by an eventfd writes 8 bytes, which is as it should be. */
#define SMALL_CALLS 1000
#define SMALL_BYTES 8
#define SMALL_ROWS 3
#define BATCH_BYTES 4096

static void report__tell_small(const struct row *row, uint32_t by)
{
	uint64_t wrote = row->calls - row->errors;
	char pid[32] = "";

	if (by & 1U << VFSWRITE_BY_PID)
		snprintf(pid, sizeof(pid), " (%u)", row->key.pid);
	log_info("%.*s%s: %" PRIu64 " writes of %.1f bytes on average; in pieces of 4 KiB they "
		 "would be %" PRIu64,
		 VFSWRITE_COMM_SIZE, row->key.comm, pid, wrote, (double)row->bytes / (double)wrote,
		 (row->bytes + BATCH_BYTES - 1) / BATCH_BYTES);
}

/* The programs that write very little very often: a fault that is easy to mend. */
static void report__note_small(const struct report *report, const struct rows *now)
{
	const uint32_t by = vfswrite_options__by(report->options);
	const struct rows none = {};
	struct rows sorted;
	size_t told = 0;

	if (!(by & (1U << VFSWRITE_BY_COMM | 1U << VFSWRITE_BY_PID)) ||
	    rows__subtract(&sorted, now, &none, ROWS_BY_CALLS))
		return;
	for (size_t i = sorted.nr; i > 0 && told < SMALL_ROWS; i--) {
		const struct row *row = &sorted.items[i - 1];

		if (vfswrite_funcs[row->key.func % VFSWRITE_NR_FUNCS].reads || !row->bytes ||
		    row->errors >= row->calls || row->calls - row->errors < SMALL_CALLS ||
		    row->bytes >= SMALL_BYTES * (row->calls - row->errors))
			continue;
		report__tell_small(row, by);
		told++;
	}
	rows__free(&sorted);
}

static int report__histogram(void *ctx, const struct hist_reading *reading)
{
	struct report *report = ctx;
	const uint32_t by = vfswrite_options__distribution_by(report->options);
	const struct key_names names = report__names(report, by, reading->key.cgroup_id,
						     reading->key.place);
	struct value key[KEY_NR_FIELDS];
	struct record record;

	report->has_reading = true;
	key__values_of_reading(reading, by, &names, key);
	record = histogram_record__fill(report->histogram, &reading->hist, &report->style, key,
					options__face(&report->options->common) == FACE_TEXT);
	return session__record_events(report->session, VFSWRITE_CALL, 0, &record);
}

static uint64_t report__sum(void *ctx, const struct hist_reading *reading)
{
	(void)ctx;
	return reading->hist.stats.sum;
}

static int report__histograms(struct report *report)
{
	const struct hist_view view = {
		.measure = report->options->sort == ROWS_BY_BYTES ? report__sum : NULL,
		.top = report->options->top.count,
	};
	const struct hist_reading none = {};
	int err;

	if (!report->tables.reader)
		return 0;
	report->style.width = sink__width(report->session->sink);
	report->has_reading = false;
	err = hist_reader__read(report->tables.reader, &view, report__histogram, report);
	/* In a table of keys, the whole is only there when it has values. */
	if (!err && !report->has_reading && !vfswrite_options__distribution_by(report->options))
		err = report__histogram(report, &none);
	return err;
}

/* The writes that went other ways, of which nothing but their number was kept. */
static int report__aside(struct report *report)
{
	uint64_t calls[VFSWRITE_NR_FUNCS] = {};
	struct named_count counts[VFSWRITE_NR_FUNCS];
	const struct value value = value__counts(counts, 0);
	struct value values[] = { value };
	struct buffer line = {};
	uint64_t sum = 0;
	size_t nr = 0;
	int err = tables__read_aside(&report->tables, calls);

	if (err)
		return err;
	for (size_t i = 0; i < VFSWRITE_NR_FUNCS; i++) {
		if (!calls[i])
			continue;
		buffer__printf(&line, "%s%s %" PRIu64, nr ? ", " : "", vfswrite_funcs[i].name,
			       calls[i]);
		counts[nr++] = (struct named_count){ vfswrite_funcs[i].name, calls[i], true };
		sum += calls[i];
	}
	if (line.err)
		log_error(line.err, NULL, "cannot tell the other writes");
	else if (nr)
		log_info("%" PRIu64 " writes went other ways in this time, and are not in these "
			 "rows: %.*s (--paths all counts them by who writes)",
			 sum, (int)line.size, line.data);
	else
		log_info("no write went another way in this time (vectors, splice, copies, "
			 "asynchronous ones; stores to mapped memory are not seen)");
	buffer__free(&line);
	values[0].counts.nr = nr;
	return session__record_events(report->session, VFSWRITE_CALL, 0,
				      &(struct record){ &other_paths_record_type, values });
}

static int report__write_interval(struct report *report, const struct rows *difference,
				  const struct session_span *span)
{
	int err = 0, write_err, hist_err;

	if (report->options->interval.given)
		err = interval__write(report->session, VFSWRITE_CALL, span);
	/* What can no longer be written is still counted, as lost. */
	write_err = report__write(report, difference, span);
	hist_err = report__histograms(report);
	return err ?: write_err ?: hist_err;
}

/* What is told once, when all is counted. */
static int report__finish(struct report *report, const struct rows *now)
{
	int err, aside_err = 0;

	report->session->account.terms[VFSWRITE_CALL].detail_lost[ACCOUNT_DETAIL_PATH] =
		report->places.nr_unnamed;
	report__note_missing(report, now);
	/* Messages that follow must not be drawn over. */
	err = session__take_all(report->session);
	report__note_small(report, now);
	if (!report->options->paths)
		aside_err = report__aside(report);
	return err ?: aside_err;
}

int report__interval(struct report *report, const struct session_span *span)
{
	struct rows now, difference;
	int err = report__read(report, &now);

	if (err)
		return err;
	err = rows__subtract(&difference, &now, &report->last,
			     (enum rows_order)report->options->sort);
	if (err) {
		rows__free(&now);
		return log_error(err, NULL, "cannot keep the rows");
	}
	err = report__write_interval(report, &difference, span);
	if (span->last)
		err = report__finish(report, &now) ?: err;
	rows__free(&difference);
	rows__free(&report->last);
	report->last = now;
	return err;
}
