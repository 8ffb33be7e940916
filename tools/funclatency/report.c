// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>

#include "collect/table.h"
#include "inflight.h"
#include "run/log.h"
#include "syscalls.h"

#define SLOTS_BYTES (FUNCLATENCY_NR_SLOTS * sizeof(struct funclatency_slot))

/* Of a system call by its ABI and number; else the target itself. size: at least 64. */
static const char *report__target(const struct report *report, uint32_t abi, uint32_t number,
				  char *text, size_t size)
{
	const char *name;

	if (report->target->kind != TARGET_SYSCALLS)
		return report->target->kind == TARGET_USER ? report->options->target :
							     report->target->name;
	name = syscalls__name(abi, number);
	snprintf(text, size, "sys:%s", name ? name : "?");
	return text;
}

static int report__write_slow(void *ctx, const void *data)
{
	struct report *report = ctx;
	const struct funclatency_slow *slow = data;
	const struct record_times times = { report->session->clock, report->session->started_ns };
	bool is_function = report->target->kind == TARGET_FUNCTION;
	int64_t result = function_type__result(&report->target->type, (uint64_t)slow->result);
	bool has_result = slow->has_result && !report->target->type.returns_nothing;
	static struct record_values values;
	static struct callers callers;
	struct record record;
	char target[64];
	int err;

	if (is_function)
		callers__name(&callers, report->symbolizer, report->target->name, slow);
	record = slow__record(
		slow, report__target(report, slow->abi, slow->syscall, target, sizeof(target)),
		is_function ? &callers : NULL, has_result ? &result : NULL, &times, &values);
	err = session__record_events(report->session, FUNCLATENCY_CALL, 0, &record);
	buffer__free(&values.stack);
	return err;
}

static void report__fill_key(void *ctx, const struct hist_key *key, uint32_t by,
			     struct value values[HISTOGRAM_KEY_NR_FIELDS])
{
	struct report *report = ctx;

	key__fill(key,
		  report__target(report, FUNCLATENCY_FUNC_ABI(key->cause),
				 FUNCLATENCY_FUNC_NUMBER(key->cause), report->func,
				 sizeof(report->func)),
		  by, values);
}

int report__open(struct report *report, struct session *session,
		 const struct funclatency_options *options, const struct target *target,
		 int slots_fd)
{
	struct symbolizer_options symbols = { .kernel = true };
	const struct distribution_config config = {
		.session = session,
		.kind = FUNCLATENCY_CALL,
		.by = funclatency_options__by(options),
		.order = options->sort,
		.top = options->top.count,
		.intervals = options->interval.given,
		.slowest = funclatency_options__slowest(options),
		.slow_size = sizeof(struct funclatency_slow),
		.write_slow = report__write_slow,
		.fill_key = report__fill_key,
		.ctx = report,
	};
	void *slots = mmap(NULL, SLOTS_BYTES, PROT_READ, MAP_SHARED, slots_fd, 0);
	int err;

	if (slots == MAP_FAILED)
		return log_error(errno, NULL, "cannot map the table of calls");
	report->slots = slots;
	err = distribution__open(&report->distribution, &config);
	if (err)
		return err;
	report->session = session;
	report->options = options;
	report->target = target;
	if ((!config.slowest && !options->slower_ns) || target->kind != TARGET_FUNCTION)
		return 0;
	return symbolizer__open(&report->symbolizer, &symbols);
}

void report__close(struct report *report)
{
	distribution__close(&report->distribution);
	if (report->slots)
		munmap((void *)report->slots, SLOTS_BYTES);
	symbolizer__close(report->symbolizer);
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
