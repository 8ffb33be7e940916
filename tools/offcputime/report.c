// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
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
	const struct symbolizer_options symbols = {
		.kernel = !options->user_stacks_only,
		.user = offcputime_options__user_stacks(options),
		.raw_names = options->raw_names,
	};

	report->session = session;
	report->options = options;
	report->look = (struct row_look){
		.by = options->by ? options->by : STAY_BY_ALL,
		.split = options->split,
		.offsets = options->offsets,
		.delimited = options->delimited,
		.folded = options__face(&options->common) == FACE_FOLDED,
		.kernel_stacks = symbols.kernel,
		.user_stacks = symbols.user,
	};
	return symbolizer__open(&report->symbolizer, &symbols);
}

void report__close(struct report *report)
{
	symbolizer__close(report->symbolizer);
	stacks__free(&report->stacks);
	frames__free(&report->named.kernel);
	frames__free(&report->named.user);
	knowns__free(&report->knowns);
	stay_rows__free(&report->rows);
	stay_rows__free(&report->last);
	if (report->open_fd >= 0)
		close(report->open_fd);
}

int report__take(struct report *report, const void *record, size_t size)
{
	const struct taken_stack *taken = record;
	int err = taken->nr ? stacks__add(&report->stacks, taken, size) : 0;

	return err ? log_error(err, NULL, "cannot keep a stack") : 0;
}

void report__meet(struct report *report, const void *record)
{
	const struct taken_stack *taken = record;
	const struct symbolizer_process process = { taken->pid, taken->start_ns };
	int err;

	if (!taken->pid || !knowns__is_due(&report->knowns, taken->pid, taken->start_ns, !taken->nr,
					   clock__now_ns()))
		return;
	err = symbolizer__remember(report->symbolizer, &process);
	/* Each of its frames has the reason. */
	if (err)
		log_debug("cannot read the maps of process %u: %s", taken->pid, strerror(-err));
}

/* Whose stack never came. */
static void report__forget_missing(struct report *report)
{
	for (size_t i = 0; i < report->rows.nr; i++) {
		struct offcputime_key *key = &report->rows.items[i].key;

		if (key->kernel_stack > STACK_NOT_SEEN &&
		    !stacks__find(&report->stacks, key->kernel_stack))
			key->kernel_stack = STACK_NOT_KEPT;
		if (key->user_stack > STACK_NOT_SEEN &&
		    !stacks__find(&report->stacks, key->user_stack))
			key->user_stack = STACK_NOT_KEPT;
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

static int report__name_kernel(struct report *report, const struct stay_row *row)
{
	int err = frames__name(&report->named.kernel, report->symbolizer,
			       stacks__find(&report->stacks, row->key.kernel_stack));

	return err ? log_error(err, NULL, "cannot name a stack") : 0;
}

/* The file whose code has made the frames of a user stack unsure, if any has. */
static void report__note_unsure(struct report *report)
{
	const struct frames *frames = &report->named.user;
	const char *file;
	size_t at = 1;

	while (at < frames->nr && !frames->items[at].unsure)
		at++;
	if (at >= frames->nr)
		return;
	file = frames->items[at - 1].symbol.module;
	for (size_t i = 0; i < report->nr_no_frames; i++)
		if (file && !strcmp(report->no_frames[i], file))
			return;
	if (file && report->nr_no_frames < REPORT_NO_FRAMES_MAX)
		report->no_frames[report->nr_no_frames++] = file;
}

static int report__write_row(struct report *report, const struct stay_row *row,
			     struct record_values *values)
{
	struct record record;
	int err = report__name_kernel(report, row);

	if (err)
		return err;
	err = frames__name(&report->named.user, report->symbolizer,
			   stacks__find(&report->stacks, row->key.user_stack));
	if (err)
		return log_error(err, NULL, "cannot name a stack");
	report__note_unsure(report);
	record = stay_row__record(row, &report->named, &report->look, values);
	if (values->text.err)
		return log_error(values->text.err, NULL, "cannot write a stack");
	return session__record_events(report->session, OFFCPUTIME_STAY,
				      row->in_flight ? 0 : row->count, &record);
}

static void report__tell_user_stacks(const struct report *report)
{
	struct symbolizer_counts counts;
	struct buffer line = {};

	for (size_t i = 0; i < report->nr_no_frames; i++)
		buffer__printf(&line, "%s%s", i ? ", " : "", report->no_frames[i]);
	if (line.size)
		log_info(
			"frames marked with ? are not sure, and their callers can be missing: there is "
			"code without frame pointers in %.*s%s",
			(int)line.size, line.data,
			report->nr_no_frames == REPORT_NO_FRAMES_MAX ? " and others" : "");
	buffer__free(&line);
	symbolizer__counts(report->symbolizer, &counts);
	if (counts.exited_early)
		log_info("%" PRIu64 " of %" PRIu64 " processes ended before their maps were read: "
			 "their frames have no names",
			 counts.exited_early, counts.processes);
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

/* The reasons that there were, those that took most last. */
static int report__write_reasons(struct report *report, const struct reasons *reasons,
				 struct record_values *values)
{
	struct reason_time times[REASON_TIMES_MAX];
	size_t nr = reasons__list(reasons, times);
	uint64_t whole_ns = 0;
	int err = 0;

	for (size_t i = 0; i < nr; i++)
		whole_ns += times[i].ns;
	for (size_t i = 0; i < nr; i++) {
		struct record record = reason__record(&times[i], whole_ns, i + 1 == nr, values);

		err = session__record_events(report->session, OFFCPUTIME_STAY, 0, &record) ?: err;
	}
	return err;
}

/* Adds up the reasons, and marks the rows of idle waits. */
static int report__find_reasons(struct report *report, struct reasons *reasons)
{
	for (size_t i = 0; i < report->rows.nr; i++) {
		struct stay_row *row = &report->rows.items[i];
		int err = report__name_kernel(report, row);

		if (err)
			return err;
		row->idle = reasons__add(reasons, row, &report->named.kernel);
	}
	return 0;
}

/* How many of the rows that can be shown --top leaves out; they come first. */
static size_t report__nr_not_shown(const struct report *report)
{
	size_t nr = 0;

	for (size_t i = 0; i < report->rows.nr; i++)
		nr += !(report->options->hide_idle && report->rows.items[i].idle);
	if (!report->options->top.given || nr <= report->options->top.count)
		return 0;
	return nr - report->options->top.count;
}

static int report__write_rows(struct report *report, struct totals *totals,
			      struct record_values *values)
{
	const struct stay_rows *rows = &report->rows;
	size_t not_shown = report__nr_not_shown(report);
	uint64_t hidden = 0;
	struct record record;
	int err = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		const struct stay_row *row = &rows->items[i];
		bool is_idle = report->options->hide_idle && row->idle;
		int row_err = 0;

		if (is_idle)
			totals->idle_ns += row->total_ns;
		if (!is_idle && !not_shown)
			row_err = report__write_row(report, row, values);
		else if (!row->in_flight)
			hidden += row->count;
		not_shown -= !is_idle && not_shown;
		/* What can no longer be written is still counted, as lost. */
		err = err ? err : row_err;
	}
	record = totals__record(totals, values);
	/* Those that are not shown are in the total. */
	err = session__record_events(report->session, OFFCPUTIME_STAY, hidden, &record) ?: err;
	report->session->account.terms[OFFCPUTIME_STAY].detail_lost[ACCOUNT_DETAIL_STACK] +=
		totals->nr_not_kept + totals->nr_not_seen;
	tell_not_kept(totals);
	return err;
}

int report__write(struct report *report, const struct session_span *span)
{
	struct record_values values = {};
	struct reasons reasons = {};
	struct totals totals = {};
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
	if (report->options->reasons || report->options->hide_idle)
		err = report__find_reasons(report, &reasons);
	for (size_t i = 0; i < report->rows.nr; i++)
		totals__add(&totals, &report->rows.items[i]);
	/* After what each stack tells. */
	stay_rows__limit(&report->rows, report->look.by);
	stay_rows__merge(&report->rows);
	stay_rows__sort(&report->rows);
	if (!err && report->options->reasons)
		write_err = report__write_reasons(report, &reasons, &values) ?: write_err;
	if (!err)
		err = report__write_rows(report, &totals, &values);
	buffer__free(&values.text);
	if (span->last)
		report__tell_user_stacks(report);
	return err ? err : write_err;
}
