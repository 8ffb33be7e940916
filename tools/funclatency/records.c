// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "records.h"

#include <stdlib.h>
#include <string.h>

#include "output/error_name.h"
#include "run/account.h"
#include "run/interval.h"

const char *const funclatency_by_names[] = {
	[HIST_BY_PID] = "pid",	      [HIST_BY_TID] = "tid",
	[HIST_BY_COMM] = "comm",      [HIST_BY_CGROUP] = "cgroup",
	[HIST_BY_CPU] = "cpu",	      [FUNCLATENCY_BY_FUNC] = "func",
	[FUNCLATENCY_BY_RET] = "ret", NULL,
};

static const struct field frame_fields[FRAME_NR_FIELDS] = {
	FIELD_OPTIONAL("symbol", VALUE_BYTES, "Name of the function."),
	FIELD_OPTIONAL("offset", VALUE_UNSIGNED, "Of the address from its start."),
	FIELD_OPTIONAL("module", VALUE_BYTES,
		       "The module that it is in; absent for the kernel itself."),
	FIELD_OPTIONAL("address", VALUE_UNSIGNED, "Where the callee returns to."),
	FIELD_OPTIONAL("reason", VALUE_BYTES, "Why it has no name."),
};

static const struct record_type frame_type = {
	.name = "frame",
	.meaning = "A function on a stack.",
	.fields = frame_fields,
	.nr_fields = FRAME_NR_FIELDS,
};

static const struct field slow_fields[] = {
	FIELD_TIME("Wall clock of its return, since the epoch."),
	FIELD_SINCE_START,
	{ .name = "duration_ns",
	  .kind = VALUE_UNSIGNED,
	  .unit = UNIT_MILLISECONDS,
	  .column = "CALL(ms)",
	  .width = 9,
	  .required = true,
	  .meaning = "How long it lasted." },
	FIELD_COLUMN("cpu", VALUE_UNSIGNED, "CPU", 3, "The CPU that it returned on."),
	FIELD_COLUMN("comm", VALUE_BYTES, "COMM", -15, "Command name of the thread."),
	FIELD_COLUMN("pid", VALUE_UNSIGNED, "PID", -7, "Process id; 0: an idle CPU."),
	FIELD_COLUMN("tid", VALUE_UNSIGNED, "TID", -7, "Thread id."),
	{ .name = "ret",
	  .kind = VALUE_SIGNED,
	  .column = "RET",
	  .width = 5,
	  .meaning = "What it returned; absent if nothing, or if it cannot be told." },
	FIELD_OPTIONAL("error", VALUE_BYTES, "Name of the error that is."),
	FIELD_COLUMN("target", VALUE_BYTES, "CALL", -4, "What was called."),
	{ .name = "kernel_stack",
	  .kind = VALUE_RECORDS,
	  .of = &frame_type,
	  .meaning = "The function and its callers; absent for a system call." },
	{ .name = "stack",
	  .kind = VALUE_BYTES,
	  .column = "STACK",
	  .width = -4,
	  .text_only = true,
	  .meaning = "kernel_stack, the function first." },
};

const struct record_type slow_record_type = {
	.name = "slow",
	.meaning = "One slow call.",
	.fields = slow_fields,
	.nr_fields = sizeof(slow_fields) / sizeof(slow_fields[0]),
};

static const struct field in_flight_fields[] = {
	FIELD_REQUIRED("target", VALUE_BYTES, "What was called."),
	FIELD_REQUIRED("pid", VALUE_UNSIGNED, "Process id; 0: an idle CPU."),
	FIELD_REQUIRED("tid", VALUE_UNSIGNED, "Thread id."),
	{ .name = "comm", .kind = VALUE_BYTES, .meaning = "Command name of the thread." },
	FIELD_REQUIRED("age_ns", VALUE_UNSIGNED,
		       "How long the call had lasted at the end of the run."),
};

const struct record_type in_flight_record_type = {
	.name = "in_flight",
	.meaning = "A call that had not returned at the end of the run.",
	.fields = in_flight_fields,
	.nr_fields = sizeof(in_flight_fields) / sizeof(in_flight_fields[0]),
};

/* The function, and then its callers: of the first no address is known. */
static struct value frames__value(const char *target, const struct callers *callers,
				  struct record_values *values)
{
	for (size_t i = 0; i <= callers->nr; i++) {
		struct value *value = values->frame_values[i];

		values->frames[i] = (struct record){ &frame_type, value };
		for (int field = 0; field < FRAME_NR_FIELDS; field++)
			value[field] = (struct value){};
		if (!i) {
			value[0] = value__text(target);
			continue;
		}
		if (callers->items[i - 1].symbol.name) {
			value[0] = value__text(callers->items[i - 1].symbol.name);
			/* It was looked up one byte before. */
			value[1] = value__unsigned(callers->items[i - 1].symbol.offset + 1);
			value[2] = value__text(callers->items[i - 1].symbol.module);
		} else {
			value[4] = value__text(
				symbol_reason__name(callers->items[i - 1].symbol.reason));
		}
		value[3] = value__unsigned(callers->items[i - 1].address);
	}
	return value__records(values->frames, callers->nr + 1);
}

struct record slow__record(const struct funclatency_slow *slow, const char *target,
			   const struct callers *callers, const int64_t *result,
			   const struct record_times *times, struct record_values *values)
{
	bool failed = result && *result < 0 && *result >= -ERROR_MAX;
	struct value *value = values->values;

	values->stack = (struct buffer){};
	*value++ = value__unsigned(clock__wall_ns(&times->clock, slow->event.time_ns));
	*value++ = value__unsigned(slow->event.time_ns - times->started_ns);
	*value++ = value__unsigned(slow->event.duration_ns);
	*value++ = value__unsigned(slow->cpu);
	*value++ = value__name(slow->comm, FUNCLATENCY_COMM_SIZE);
	*value++ = value__unsigned(slow->pid);
	*value++ = value__unsigned(slow->tid);
	*value++ = result ? value__signed(*result) : (struct value){};
	*value++ = failed ? value__text(kernel_error__name((uint32_t) - *result)) :
			    (struct value){};
	*value++ = value__text(target);
	if (callers) {
		*value++ = frames__value(target, callers, values);
		callers__append(callers, target, &values->stack);
		*value++ = value__bytes(values->stack.data, values->stack.size);
	} else {
		*value++ = (struct value){};
		*value++ = (struct value){};
	}
	return (struct record){ &slow_record_type, values->values };
}

struct record open_call__record(const struct open_call *call, const char *target,
				struct record_values *values)
{
	struct value *value = values->values;

	*value++ = value__text(target);
	*value++ = value__unsigned(call->pid);
	*value++ = value__unsigned(call->tid);
	*value++ = *call->comm ? value__name(call->comm, sizeof(call->comm)) : (struct value){};
	*value++ = value__unsigned(call->age_ns);
	return (struct record){ &in_flight_record_type, values->values };
}

void key__fill(const struct hist_key *key, const char *func, uint32_t by,
	       struct value values[HISTOGRAM_KEY_NR_FIELDS])
{
	const char *ret = !key->kind			       ? "ok" :
			  key->kind == FUNCLATENCY_RET_UNKNOWN ? "unknown" :
								 kernel_error__name(key->kind);

	if (by & 1U << FUNCLATENCY_BY_FUNC)
		values[HISTOGRAM_KEY_FUNC] = value__text(func);
	if (by & 1U << FUNCLATENCY_BY_RET)
		values[HISTOGRAM_KEY_RET] = value__text(ret);
}

const struct record_type *const funclatency_row_types[] = { &slow_record_type, NULL };
const struct record_type *const funclatency_csv_types[] = { &histogram_record_type,
							    &slow_record_type,
							    &in_flight_record_type, NULL };

const struct record_type *const funclatency_types[] = {
	&start_record_type,
	&interval_record_type,
	&histogram_record_type,
	&slow_record_type,
	&in_flight_record_type,
	&account_record_type,
	NULL,
};

#define WHO_COLUMNS "time_ns", "duration_ns", "cpu", "comm", "pid", "tid", "ret"

const char *const funclatency_columns[] = { WHO_COLUMNS, "target", NULL };
const char *const funclatency_stack_columns[] = { WHO_COLUMNS, "stack", NULL };
