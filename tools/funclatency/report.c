// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include <errno.h>
#include <stdio.h>

#include "collect/table.h"
#include "inflight.h"
#include "run/interval.h"
#include "run/log.h"
#include "syscalls.h"

int report__open(struct report *report, struct session *session,
		 const struct funclatency_options *options, const struct target *target)
{
	struct symbolizer_options symbols = { .kernel = true };
	uint32_t slowest = funclatency_options__slowest(options);

	report->session = session;
	report->options = options;
	report->target = target;
	report->by = funclatency_options__by(options);
	report->text = options__face(&options->common) == FACE_TEXT;
	report->reader = hist_reader__new(&report->source);
	report->record = histogram_record__new();
	if (!report->reader || !report->record ||
	    slowest__open(&report->slowest, slowest, sizeof(struct funclatency_slow)))
		return log_error(ENOMEM, NULL, "cannot prepare the report");
	if ((!slowest && !options->slower_ns) || target->kind != TARGET_FUNCTION)
		return 0;
	function_type__read(&report->type, target->name);
	return symbolizer__open(&report->symbolizer, &symbols);
}

void report__close(struct report *report)
{
	hist_reader__free(report->reader);
	histogram_record__free(report->record);
	groups__free(&report->groups);
	slowest__close(&report->slowest);
	symbolizer__close(report->symbolizer);
}

static const char *report__target(const struct report *report, const struct funclatency_slow *slow,
				  char *text, size_t size)
{
	const char *name;

	if (report->target->kind != TARGET_SYSCALLS)
		return report->target->kind == TARGET_USER ? report->options->target :
							     report->target->name;
	name = syscalls__name(slow->abi, slow->syscall);
	snprintf(text, size, "sys:%s", name ? name : "?");
	return text;
}

static int report__write_slow(struct report *report, const struct funclatency_slow *slow)
{
	const struct record_times times = { report->session->clock, report->session->started_ns };
	bool is_function = report->target->kind == TARGET_FUNCTION;
	int64_t result = function_type__result(&report->type, (uint64_t)slow->result);
	bool has_result = slow->has_result && !report->type.returns_nothing;
	static struct record_values values;
	static struct callers callers;
	struct record record;
	char target[64];
	int err;

	if (is_function)
		callers__name(&callers, report->symbolizer, report->target->name, slow);
	record = slow__record(slow, report__target(report, slow, target, sizeof(target)),
			      is_function ? &callers : NULL, has_result ? &result : NULL, &times,
			      &values);
	err = session__record_events(report->session, FUNCLATENCY_CALL, 0, &record);
	buffer__free(&values.stack);
	return err;
}

int report__slow(struct report *report, const struct funclatency_slow *slow)
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
		histogram_key__values(&reading->key, reading->name, report->by, cgroup, key);
	record = histogram_record__fill(report->record, &reading->hist, &report->style, key,
					report->text);
	/* What can no longer be written is still read, to be counted as lost. */
	err = session__record_events(report->session, FUNCLATENCY_CALL, reading->hist.stats.count,
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
			      interval__write(report->session, FUNCLATENCY_CALL, span) :
			      0;
	err = hist_reader__read(report->reader, &view, report__histogram, report);
	if (!err)
		err = report->err;
	/* Those of this interval that are still on their way. */
	if (!err)
		err = session__take_all(report->session);
	nr = slowest__take(&report->slowest, interval, &slow);
	for (size_t i = 0; i < nr && !err; i++)
		err = report__write_slow(report, (const struct funclatency_slow *)slow + i);
	return err;
}

static int report__frame(struct report *report, const struct funclatency_frame *frame)
{
	struct record_values values;
	struct record record;
	struct open_call call;

	if (!frame->start_ns)
		return 0;
	if (!frame__is_open(frame, "/proc", report->session->ended_ns, &call)) {
		session__count(report->session, FUNCLATENCY_CALL, FATE_NO_END);
		return 0;
	}
	session__count(report->session, FUNCLATENCY_CALL, FATE_IN_FLIGHT);
	record = open_call__record(&call, report->options->target, &values);
	return session__record_events(report->session, FUNCLATENCY_CALL, 0, &record);
}

int report__open_calls(struct report *report)
{
	struct table table = {};
	int err = table__read(&table, report->frames, sizeof(__u64),
			      sizeof(struct funclatency_frame)),
	    write_err;

	report->err = 0;
	for (size_t i = 0; i < table.nr; i++) {
		const char *entry = table__entry(&table, i);

		write_err = report__frame(report, (const void *)(entry + sizeof(__u64)));
		if (!report->err)
			report->err = write_err;
	}
	table__free(&table);
	for (size_t i = 0; i < FUNCLATENCY_NR_SLOTS; i++) {
		write_err = report__frame(report, &report->slots[i].frame);
		if (!report->err)
			report->err = write_err;
	}
	return err ? err : report->err;
}
