// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "collect/table.h"
#include "funcs.h"
#include "output/buffer.h"
#include "run/interval.h"
#include "run/log.h"

/* The largest errno (the kernel's include/linux/err.h). */
#define MAX_ERRNO 4095

void report__open(struct report *report, struct session *session,
		  const struct vfswrite_options *options)
{
	report->session = session;
	report->options = options;
	if (vfswrite_options__by(options) & 1U << VFSWRITE_BY_CGROUP)
		groups__learn(&report->groups);
}

void report__close(struct report *report)
{
	rows__free(&report->last);
	groups__free(&report->groups);
}

static const char *report__group(struct report *report, const struct row *row)
{
	if (!(vfswrite_options__by(report->options) & 1U << VFSWRITE_BY_CGROUP))
		return NULL;
	return groups__path(&report->groups, row->key.cgroup_id);
}

static int report__read(const struct report *report, struct rows *rows)
{
	const size_t head = offsetof(struct vfswrite_error_key, key);
	struct rows_source source = {
		.key_size = vfswrite_options__key_size(report->options),
		.nr_cpus = report->nr_cpus,
		.by = vfswrite_options__by(report->options),
	};
	struct table counts = {}, errors = {}, hot = {};
	int err;

	err = table__walk(&counts, report->rows_walk, source.key_size,
			  report->nr_cpus * sizeof(struct vfswrite_row));
	if (!err)
		err = table__walk(&errors, report->errors_walk, head + source.key_size,
				  sizeof(uint64_t));
	if (!err && report->has_hot)
		err = table__walk(&hot, report->hot_walk, 0,
				  report->nr_cpus * sizeof(struct vfswrite_hot));
	if (!err) {
		source.hot = (const struct vfswrite_hot *)hot.data;
		source.nr_hot = hot.nr * report->nr_cpus;
		source.rows = counts.data;
		source.nr_rows = counts.nr;
		source.errors = errors.data;
		source.nr_errors = errors.nr;
		err = rows__read(rows, &source);
		if (err)
			log_error(err, NULL, "cannot keep the rows");
	}
	table__free(&counts);
	table__free(&errors);
	table__free(&hot);
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
		record = count__record(row, scale, report__group(report, row), values);
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
		report->session->account.terms[VFSWRITE_CALL]
			.detail_lost[ACCOUNT_DETAIL_RESULT] = total.calls - total.results;
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

int report__interval(struct report *report, const struct session_span *span)
{
	struct rows now, difference;
	int err = report__read(report, &now), write_err = 0;

	if (err)
		return err;
	err = rows__subtract(&difference, &now, &report->last,
			     (enum rows_order)report->options->sort);
	if (err) {
		rows__free(&now);
		return log_error(err, NULL, "cannot keep the rows");
	}
	if (report->options->interval.given)
		write_err = interval__write(report->session, VFSWRITE_CALL, span);
	err = report__write(report, &difference, span);
	if (span->last) {
		report__note_missing(report, &now);
		/* Messages that follow must not be drawn over. */
		err = session__take_all(report->session) ?: err;
		report__note_small(report, &now);
	}
	rows__free(&difference);
	rows__free(&report->last);
	report->last = now;
	return err ? err : write_err;
}

int report__aside(struct report *report, const uint64_t calls[VFSWRITE_NR_FUNCS])
{
	struct named_count counts[VFSWRITE_NR_FUNCS];
	const struct value value = value__counts(counts, 0);
	struct value values[] = { value };
	struct buffer line = {};
	uint64_t sum = 0;
	size_t nr = 0;

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
