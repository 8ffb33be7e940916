// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "records.h"

#include <stdio.h>
#include <string.h>

#include "output/escape.h"
#include "run/account.h"
#include "run/interval.h"
#include "run/number.h"

const char *const runqlat_by_names[] = {
	[HIST_BY_PID] = "pid",	       [HIST_BY_TID] = "tid",
	[HIST_BY_COMM] = "comm",       [HIST_BY_CGROUP] = "cgroup",
	[HIST_BY_CPU] = "cpu",	       [RUNQLAT_BY_CAUSE] = "cause",
	[RUNQLAT_BY_PIDNS] = "pid_ns", NULL,
};

const char *const runqlat_cause_names[] = {
	[RUNQLAT_WOKEN] = "woken",	   [RUNQLAT_PREEMPTED] = "preempted", [RUNQLAT_NEW] = "new",
	[RUNQLAT_THROTTLED] = "throttled", [RUNQLAT_UNSEEN] = "unseen",
};

static const struct field slow_fields[] = {
	FIELD_TIME("Wall clock of its end, since the epoch."),
	FIELD_SINCE_START,
	{ .name = "duration_ns",
	  .kind = VALUE_UNSIGNED,
	  .unit = UNIT_MILLISECONDS,
	  .column = "WAIT(ms)",
	  .width = 9,
	  .required = true,
	  .meaning = "How long it waited." },
	FIELD_COLUMN("cpu", VALUE_UNSIGNED, "CPU", 3, "The CPU that it got."),
	FIELD_COLUMN("cause", VALUE_BYTES, "CAUSE", -9, "Why the wait began."),
	FIELD_COLUMN("comm", VALUE_BYTES, "COMM", -15, "Command name of the thread."),
	FIELD_COLUMN("pid", VALUE_UNSIGNED, "PID", -7, "Process id."),
	FIELD_COLUMN("tid", VALUE_UNSIGNED, "TID", -7, "Thread id."),
	FIELD_OPTIONAL("prev_pid", VALUE_UNSIGNED,
		       "Process id of who left the CPU; 0: it was idle."),
	FIELD_OPTIONAL("prev_tid", VALUE_UNSIGNED, "Its thread id."),
	FIELD_OPTIONAL("prev_comm", VALUE_BYTES, "Its command name."),
	FIELD_OPTIONAL("prev_ns", VALUE_UNSIGNED,
		       "How long it had held the CPU; less than the wait: others had it before."),
	FIELD_OPTIONAL("waker_pid", VALUE_UNSIGNED, "Process id of who woke the thread."),
	FIELD_OPTIONAL("waker_tid", VALUE_UNSIGNED, "Its thread id."),
	FIELD_OPTIONAL("waker_comm", VALUE_BYTES, "Its command name."),
	{ .name = "waker",
	  .kind = VALUE_BYTES,
	  .column = "WOKEN-BY",
	  .width = -20,
	  .text_only = true,
	  .meaning = "waker_comm and waker_tid." },
	{ .name = "holder",
	  .kind = VALUE_BYTES,
	  .column = "CPU-HELD-BY",
	  .width = -4,
	  .text_only = true,
	  .meaning = "prev_comm, prev_tid and prev_ns." },
};

const struct record_type slow_record_type = {
	.name = "slow",
	.meaning = "One long wait.",
	.fields = slow_fields,
	.nr_fields = sizeof(slow_fields) / sizeof(slow_fields[0]),
};

static const struct field in_flight_fields[] = {
	FIELD_REQUIRED("pid", VALUE_UNSIGNED, "Process id."),
	FIELD_REQUIRED("tid", VALUE_UNSIGNED, "Thread id."),
	FIELD_REQUIRED("comm", VALUE_BYTES, "Command name of the thread."),
	FIELD_REQUIRED("cause", VALUE_BYTES, "Why the wait began."),
	FIELD_REQUIRED("age_ns", VALUE_UNSIGNED, "How long it had waited at the end of the run."),
};

const struct record_type in_flight_record_type = {
	.name = "in_flight",
	.meaning = "A thread that still waited at the end of the run.",
	.fields = in_flight_fields,
	.nr_fields = sizeof(in_flight_fields) / sizeof(in_flight_fields[0]),
};

/* "hog/123 4ms": who held the CPU, and for how long before it was given up. */
static void write_holder(const struct runqlat_slow *slow, char *text, size_t size)
{
	char held[32], who[RUNQLAT_COMM_SIZE + 16];

	if (!slow->prev_seen)
		snprintf(who, sizeof(who), "(not seen)");
	else if (slow->prev_pid)
		snprintf(who, sizeof(who), "%.*s/%u", RUNQLAT_COMM_SIZE, slow->prev_comm,
			 slow->prev_tid);
	else
		snprintf(who, sizeof(who), "(idle)");
	if (!slow->prev_ns)
		snprintf(text, size, "%s", who);
	else
		snprintf(text, size, "%s for %s%s", who, number__round_time(slow->prev_ns, held),
			 slow->prev_ns < slow->event.duration_ns ? ", others before" : "");
}

struct record slow__record(const struct runqlat_slow *slow, const struct record_times *times,
			   struct record_values *values)
{
	const char *cause = runqlat_cause_names[slow->cause];
	struct value *value = values->values;

	*value++ = value__unsigned(clock__wall_ns(&times->clock, slow->event.time_ns));
	*value++ = value__unsigned(slow->event.time_ns - times->started_ns);
	*value++ = value__unsigned(slow->event.duration_ns);
	*value++ = value__unsigned(slow->cpu);
	*value++ = value__text(cause);
	*value++ = value__name(slow->comm, RUNQLAT_COMM_SIZE);
	*value++ = value__unsigned(slow->pid);
	*value++ = value__unsigned(slow->tid);
	if (slow->prev_seen) {
		*value++ = value__unsigned(slow->prev_pid);
		*value++ = value__unsigned(slow->prev_tid);
		*value++ = value__name(slow->prev_comm, RUNQLAT_COMM_SIZE);
	} else {
		*value++ = (struct value){};
		*value++ = (struct value){};
		*value++ = (struct value){};
	}
	*value++ = slow->prev_ns ? value__unsigned(slow->prev_ns) : (struct value){};
	values->more[0] = '\0';
	if (slow->waker_tid) {
		*value++ = value__unsigned(slow->waker_pid);
		*value++ = value__unsigned(slow->waker_tid);
		*value++ = value__name(slow->waker_comm, RUNQLAT_COMM_SIZE);
		snprintf(values->more, sizeof(values->more), "%.*s/%u", RUNQLAT_COMM_SIZE,
			 slow->waker_comm, slow->waker_tid);
	} else {
		*value++ = (struct value){};
		*value++ = (struct value){};
		*value++ = (struct value){};
		snprintf(values->more, sizeof(values->more), "-");
	}
	*value++ = value__name(values->more, sizeof(values->more));
	write_holder(slow, values->text, sizeof(values->text));
	*value++ = value__name(values->text, sizeof(values->text));
	return (struct record){ &slow_record_type, values->values };
}

struct record open__record(const struct runqlat_open *open, struct record_values *values)
{
	const char *cause = runqlat_cause_names[open->cause];
	struct value *value = values->values;

	*value++ = value__unsigned(open->pid);
	*value++ = value__unsigned(open->tid);
	*value++ = value__name(open->comm, RUNQLAT_COMM_SIZE);
	*value++ = value__text(cause);
	*value++ = value__unsigned(open->age_ns);
	return (struct record){ &in_flight_record_type, values->values };
}

void key__fill(const struct hist_key *key, uint32_t by,
	       struct value values[HISTOGRAM_KEY_NR_FIELDS])
{
	const char *cause = runqlat_cause_names[key->cause % RUNQLAT_NR_CAUSES];

	if (by & 1U << RUNQLAT_BY_CAUSE)
		values[HISTOGRAM_KEY_CAUSE] = value__text(cause);
	if (by & 1U << RUNQLAT_BY_PIDNS)
		values[HISTOGRAM_KEY_PID_NS] = value__unsigned(key->pid_ns);
}

const struct record_type *const runqlat_row_types[] = { &slow_record_type, NULL };
const struct record_type *const runqlat_csv_types[] = { &histogram_record_type, &slow_record_type,
							&in_flight_record_type, NULL };

const struct record_type *const runqlat_types[] = {
	&start_record_type,
	&interval_record_type,
	&histogram_record_type,
	&slow_record_type,
	&in_flight_record_type,
	&account_record_type,
	NULL,
};

const char *const runqlat_columns[] = { "time_ns", "duration_ns", "cpu",   "cause",  "comm",
					"pid",	   "tid",	  "waker", "holder", NULL };
