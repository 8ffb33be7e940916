// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "collect/table.h"
#include "collect/walk.h"
#include "run/interval.h"
#include "run/log.h"
#include "run/number.h"
#include "symbols/symbolizer.h"

int report__open(struct report *report, struct session *session,
		 const struct offcputime_options *options)
{
	const struct symbolizer_options symbols = { .kernel = true };

	report->session = session;
	report->options = options;
	return symbolizer__open(&report->symbolizer, &symbols);
}

void report__close(struct report *report)
{
	symbolizer__close(report->symbolizer);
	stacks__free(&report->stacks);
	frames__free(&report->kernel);
	stay_rows__free(&report->rows);
	stay_rows__free(&report->last);
	if (report->open_fd >= 0)
		close(report->open_fd);
}

int report__take(struct report *report, const void *record, size_t size)
{
	int err = stacks__add(&report->stacks, record, size);

	return err ? log_error(err, NULL, "cannot keep a stack") : 0;
}

/* Whose stack never came. */
static void report__forget_missing(struct report *report)
{
	for (size_t i = 0; i < report->rows.nr; i++) {
		__u64 *name = &report->rows.items[i].key.kernel_stack;

		if (*name > STACK_NOT_SEEN && !stacks__find(&report->stacks, *name))
			*name = STACK_NOT_KEPT;
	}
}

static int report__add_open(void *ctx, const void *record)
{
	struct report *report = ctx;

	report->session->account.terms[OFFCPUTIME_STAY].in_flight++;
	return stay_rows__add_open(&report->rows, record);
}

/* All rows that there are now. last: also the stays that have not ended. */
static int report__read(struct report *report, bool last)
{
	uint64_t interval = *report->interval;
	struct table table = {}, rest = {};
	int err = 0;

	__atomic_store_n(report->interval, interval + 1, __ATOMIC_SEQ_CST);
	if (last)
		err = walk__read(report->open_fd, sizeof(struct offcputime_open), report__add_open,
				 report);
	if (err)
		return err;
	err = table__read(&table, report->rows_map, sizeof(struct offcputime_key),
			  sizeof(struct offcputime_row));
	if (!err)
		err = table__read_cpus(&rest, report->rest_map, sizeof(struct offcputime_row));
	/* Also the stacks that the walk has sent. */
	if (!err)
		err = session__take_all(report->session);
	for (size_t i = 0; i < table.nr && !err; i++) {
		const char *entry = table__entry(&table, i);

		err = stay_rows__add(&report->rows, (const void *)entry,
				     (const void *)(entry + table.key_size), interval);
	}
	if (!err)
		err = stay_rows__add_rest(&report->rows, (const void *)rest.data, rest.nr,
					  interval);
	table__free(&table);
	table__free(&rest);
	return err;
}

static int report__write_row(struct report *report, const struct stay_row *row,
			     struct record_values *values)
{
	const struct row_look look = { report->options->split, report->options->offsets };
	struct record record;
	int err = frames__name(&report->kernel, report->symbolizer,
			       stacks__find(&report->stacks, row->key.kernel_stack));

	if (err)
		return log_error(err, NULL, "cannot name a stack");
	record = stay_row__record(row, &report->kernel, &look, values);
	if (values->text.err)
		return log_error(values->text.err, NULL, "cannot write a stack");
	return session__record_events(report->session, OFFCPUTIME_STAY,
				      row->in_flight ? 0 : row->count, &record);
}

static void tell_not_kept(const struct totals *totals)
{
	char time[32];

	if (totals->nr_not_kept)
		log_warning("Raise --stack-storage-size, --max-keys or --ring-size, or use a "
			    "narrower filter.",
			    "%s in %" PRIu64 " stays have no stack: there was no room for it",
			    number__round_time(totals->not_kept_ns, time), totals->nr_not_kept);
}

static int report__write_rows(struct report *report, struct record_values *values)
{
	const struct stay_rows *rows = &report->rows;
	uint64_t top = report->options->top.given ? report->options->top.count : UINT64_MAX;
	size_t first = rows->nr > top ? rows->nr - top : 0;
	struct totals totals = {};
	uint64_t hidden = 0;
	struct record record;
	int err = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct stay_row *row = &rows->items[i];
		int row_err = 0;

		totals__add(&totals, row);
		if (i >= first)
			row_err = report__write_row(report, row, values);
		else if (!row->in_flight)
			hidden += row->count;
		/* What can no longer be written is still counted, as lost. */
		err = err ? err : row_err;
	}
	record = totals__record(&totals, values);
	/* Those that are not shown are in the total. */
	err = session__record_events(report->session, OFFCPUTIME_STAY, hidden, &record) ?: err;
	report->session->account.terms[OFFCPUTIME_STAY].no_stack += totals.nr_not_kept +
								    totals.nr_not_seen +
								    totals.nr_not_seen;
	tell_not_kept(&totals);
	return err;
}

int report__write(struct report *report, const struct session_span *span)
{
	struct record_values values = {};
	struct stay_rows now = {};
	int err, write_err = 0;

	report->rows.nr = 0;
	err = report__read(report, span->last);
	if (!err && report->options->interval.given) {
		stay_rows__merge(&report->rows);
		err = stay_rows__copy(&now, &report->rows);
		stay_rows__subtract(&report->rows, &report->last);
		stay_rows__free(&report->last);
		report->last = now;
		write_err = interval__write(report->session, OFFCPUTIME_STAY, span);
	}
	if (err == -ENOMEM)
		log_error(err, NULL, "cannot keep the rows");
	if (err)
		return err;
	report__forget_missing(report);
	stay_rows__merge(&report->rows);
	stay_rows__sort(&report->rows);
	err = report__write_rows(report, &values);
	buffer__free(&values.text);
	return err ? err : write_err;
}
