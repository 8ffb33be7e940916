// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "records.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "funcs.h"
#include "output/error_name.h"
#include "run/account.h"
#include "run/interval.h"

#define NS_PER_SECOND 1000000000.0

const char *const vfswrite_by_names[] = {
	[VFSWRITE_BY_COMM] = "comm",	 [VFSWRITE_BY_PID] = "pid",
	[VFSWRITE_BY_TID] = "tid",	 [VFSWRITE_BY_UID] = "uid",
	[VFSWRITE_BY_CGROUP] = "cgroup", [VFSWRITE_BY_CPU] = "cpu",
	[VFSWRITE_BY_FUNC] = "func",	 NULL,
};

#define COLUMN(field_name, field_kind, heading, least_width, text)                                 \
	{                                                                                          \
		.name = field_name, .kind = field_kind, .column = heading, .width = least_width,   \
		.text_only = true, .meaning = text                                                 \
	}
#define FIGURE(field_name, heading, least_width, metric_name, text)                                \
	{                                                                                          \
		.name = field_name, .kind = VALUE_UNSIGNED, .column = heading,                     \
		.width = least_width, .required = true, .metric = metric_name, .meaning = text     \
	}

/* The parts of the member "key", in this order. */
enum key_field {
	KEY_COMM,
	KEY_PID,
	KEY_TID,
	KEY_UID,
	KEY_CGROUP_ID,
	KEY_CGROUP,
	KEY_CPU,
	KEY_FUNC,
	KEY_NR_FIELDS,
};

static const struct field key_fields[] = {
	FIELD_OPTIONAL("comm", VALUE_BYTES,
		       "Command name: of the process, or of the thread with tid."),
	FIELD_OPTIONAL("pid", VALUE_UNSIGNED, "Process id."),
	FIELD_OPTIONAL("tid", VALUE_UNSIGNED, "Thread id."),
	FIELD_OPTIONAL("uid", VALUE_UNSIGNED, "Real user id."),
	FIELD_OPTIONAL("cgroup_id", VALUE_UNSIGNED, "Id of the control group (cgroup2)."),
	FIELD_OPTIONAL("cgroup", VALUE_BYTES, "Its path, if it is known."),
	FIELD_OPTIONAL("cpu", VALUE_UNSIGNED, "The CPU that the call was counted on."),
	FIELD_OPTIONAL("func", VALUE_BYTES, "The function of the kernel, or the system call."),
};

static const struct record_type key_type = {
	.name = "key",
	.meaning = "Who writes.",
	.fields = key_fields,
	.nr_fields = KEY_NR_FIELDS,
};

/* The fields of both kinds of rows from here on, and where they begin; with their metrics, or
 * NULL. */
#define FIGURES(calls, bytes, errors)                                                              \
	FIGURE("calls", "CALLS", 9, calls, "Calls."),                                              \
		FIGURE("bytes", "BYTES", 11, bytes,                                                \
		       "Bytes written, by the results of the calls."),                             \
		{ .name = "errors",                                                                \
		  .kind = VALUE_COUNTS,                                                            \
		  .required = true,                                                                \
		  .metric = errors,                                                                \
		  .label = "error",                                                                \
		  .meaning = "Failed calls, by the name of the error." },                          \
		COLUMN("share", VALUE_BYTES, "%CALLS", 6, "Percent of all calls."),                \
		COLUMN("rate", VALUE_BYTES, "CALLS/s", 10, "Calls in a second."),                  \
		COLUMN("mean", VALUE_BYTES, "MEAN", 7, "Bytes of a call that wrote, on average."), \
		COLUMN("failed", VALUE_UNSIGNED, "ERRORS", 7, "Failed calls."),                    \
		COLUMN("comm", VALUE_BYTES, "COMM", -15, "Command name."),                         \
		COLUMN("pid", VALUE_UNSIGNED, "PID", -7, "Process id."),                           \
		COLUMN("tid", VALUE_UNSIGNED, "TID", -7, "Thread id."),                            \
		COLUMN("uid", VALUE_UNSIGNED, "UID", -6, "Real user id."),                         \
		COLUMN("cpu", VALUE_UNSIGNED, "CPU", -3, "CPU."),                                  \
		COLUMN("func", VALUE_BYTES, "FUNC", -22, "What was called."),                      \
		COLUMN("group", VALUE_BYTES, "CGROUP", -20, "Control group."),                     \
		COLUMN("causes", VALUE_BYTES, "FAILED-BY", -9, "Failed calls by error.")
#define NR_FIGURES 15

static const struct field count_fields[] = {
	{ .name = "key",
	  .kind = VALUE_OBJECT,
	  .required = true,
	  .meaning = "Who writes.",
	  .of = &key_type },
	FIGURES("calls", "bytes", "errors"),
};

const struct record_type count_record_type = {
	.name = "count",
	.meaning = "The calls of one key in the run or interval.",
	.fields = count_fields,
	.nr_fields = 1 + NR_FIGURES,
	.adds_up = true,
};

static const struct field total_fields[] = { FIGURES(NULL, NULL, NULL) };

const struct record_type total_record_type = {
	.name = "total",
	.meaning = "All calls inside what was asked in the run or interval.",
	.fields = total_fields,
	.nr_fields = NR_FIGURES,
};

static const struct field other_paths_fields[] = {
	FIELD_REQUIRED("calls", VALUE_COUNTS, "Calls inside the filters, by what was called."),
};

const struct record_type other_paths_record_type = {
	.name = "other_paths",
	.meaning = "Writes of the run that vfs_write does not see.",
	.fields = other_paths_fields,
	.nr_fields = 1,
};

/* The key's columns by enum vfswrite_by, in the order in which they stand. */
static const struct {
	enum vfswrite_by by;
	const char *column;
} key_columns[] = {
	{ VFSWRITE_BY_COMM, "comm" }, { VFSWRITE_BY_PID, "pid" },      { VFSWRITE_BY_TID, "tid" },
	{ VFSWRITE_BY_UID, "uid" },   { VFSWRITE_BY_CGROUP, "group" }, { VFSWRITE_BY_CPU, "cpu" },
	{ VFSWRITE_BY_FUNC, "func" },
};

#define NR_KEY_COLUMNS (sizeof(key_columns) / sizeof(key_columns[0]))

/* A process is shown with its name. */
static uint32_t shown(uint32_t by)
{
	return by & 1U << VFSWRITE_BY_PID ? by | 1U << VFSWRITE_BY_COMM : by;
}

void count__columns(uint32_t by, bool causes, const char *columns[COLUMNS_MAX])
{
	static const char *const figures[] = { "calls", "share", "rate", "bytes", "mean", "failed" };
	size_t nr = 0;

	for (size_t i = 0; i < NR_KEY_COLUMNS; i++)
		if (shown(by) & 1U << key_columns[i].by)
			columns[nr++] = key_columns[i].column;
	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		columns[nr++] = figures[i];
	if (causes)
		columns[nr++] = "causes";
	columns[nr] = NULL;
}

static struct value errors_value(const struct row *row, struct named_count *errors)
{
	size_t nr = 0, same;

	for (size_t i = 0; i < row->nr_causes; i++) {
		const char *name = kernel_error__name(row->causes[i].error);

		for (same = 0; same < nr && strcmp(errors[same].name, name); same++)
			continue;
		if (same == nr)
			errors[nr++] = (struct named_count){ name, 0, true };
		errors[same].count += row->causes[i].count;
	}
	return value__counts(errors, nr);
}

static void fill_figures(const struct row *row, const struct count_scale *scale,
			 struct count_values *values, struct value *value)
{
	uint64_t wrote = row->calls - (row->errors < row->calls ? row->errors : row->calls);

	snprintf(values->share, sizeof(values->share), "%.1f",
		 scale->calls ? 100.0 * (double)row->calls / (double)scale->calls : 0);
	snprintf(values->rate, sizeof(values->rate), "%.1f",
		 scale->span_ns ? (double)row->calls * NS_PER_SECOND / (double)scale->span_ns : 0);
	if (wrote)
		snprintf(values->mean, sizeof(values->mean), "%.1f",
			 (double)row->bytes / (double)wrote);
	*value++ = value__unsigned(row->calls);
	*value++ = value__unsigned(row->bytes);
	*value++ = errors_value(row, values->errors);
	*value++ = value__text(values->share);
	*value++ = value__text(values->rate);
	*value++ = wrote ? value__text(values->mean) : (struct value){};
	*value++ = value__unsigned(row->errors);
}

static void fill_key(const struct vfswrite_key *key, const struct count_scale *scale,
		     const char *cgroup, struct value *value)
{
	const uint32_t by = shown(scale->by);

	for (size_t i = 0; i < KEY_NR_FIELDS; i++)
		value[i] = (struct value){};
	if (by & 1U << VFSWRITE_BY_COMM)
		value[KEY_COMM] = value__bytes(key->comm, strnlen(key->comm, sizeof(key->comm)));
	if (by & 1U << VFSWRITE_BY_PID)
		value[KEY_PID] = value__unsigned(key->pid);
	if (by & 1U << VFSWRITE_BY_TID)
		value[KEY_TID] = value__unsigned(key->tid);
	if (by & 1U << VFSWRITE_BY_UID)
		value[KEY_UID] = value__unsigned(key->uid);
	if (by & 1U << VFSWRITE_BY_CGROUP)
		value[KEY_CGROUP_ID] = value__unsigned(key->cgroup_id);
	if (cgroup)
		value[KEY_CGROUP] = value__text(cgroup);
	if (by & 1U << VFSWRITE_BY_CPU)
		value[KEY_CPU] = value__unsigned(key->cpu);
	if (by & 1U << VFSWRITE_BY_FUNC)
		value[KEY_FUNC] = value__text(vfswrite_funcs[key->func % VFSWRITE_NR_FUNCS].name);
}

/* The key once more, for the columns of the text. */
static void fill_columns(const struct value *key, struct value *value)
{
	*value++ = key[KEY_COMM];
	*value++ = key[KEY_PID];
	*value++ = key[KEY_TID];
	*value++ = key[KEY_UID];
	*value++ = key[KEY_CPU];
	*value++ = key[KEY_FUNC];
	*value++ = key[KEY_CGROUP].kind != VALUE_ABSENT ? key[KEY_CGROUP] : key[KEY_CGROUP_ID];
}

/* "ENOSPC 100, EPIPE 50", or a dash. */
static struct value causes_value(struct count_values *values, const struct value *errors)
{
	values->causes.size = 0;
	for (size_t i = 0; i < errors->counts.nr; i++)
		buffer__printf(&values->causes, "%s%s %" PRIu64, i ? ", " : "",
			       errors->counts.items[i].name, errors->counts.items[i].count);
	if (!values->causes.size)
		return (struct value){};
	return value__bytes(values->causes.data, values->causes.size);
}

#define FIRST_COLUMN 7 /* of the key, among the figures */

struct record count__record(const struct row *row, const struct count_scale *scale,
			    const char *cgroup, struct count_values *values)
{
	fill_key(&row->key, scale, cgroup, values->key);
	values->key_record = (struct record){ &key_type, values->key };
	values->values[0] = value__object(&values->key_record);
	fill_figures(row, scale, values, &values->values[1]);
	fill_columns(values->key, &values->values[1 + FIRST_COLUMN]);
	values->values[NR_FIGURES] = causes_value(values, &values->values[3]);
	return (struct record){ &count_record_type, values->values };
}

struct record total__record(const struct row *total, const struct count_scale *scale,
			    struct count_values *values)
{
	bool named = false;

	fill_figures(total, scale, values, values->values);
	for (size_t i = 0; i < KEY_NR_FIELDS; i++)
		values->key[i] = value__text("");
	for (size_t i = 0; i < NR_KEY_COLUMNS && !named; i++) {
		static const enum key_field fields[] = {
			[VFSWRITE_BY_COMM] = KEY_COMM,	   [VFSWRITE_BY_PID] = KEY_PID,
			[VFSWRITE_BY_TID] = KEY_TID,	   [VFSWRITE_BY_UID] = KEY_UID,
			[VFSWRITE_BY_CGROUP] = KEY_CGROUP, [VFSWRITE_BY_CPU] = KEY_CPU,
			[VFSWRITE_BY_FUNC] = KEY_FUNC,
		};

		if (!(shown(scale->by) & 1U << key_columns[i].by))
			continue;
		values->key[fields[key_columns[i].by]] = value__text("total");
		named = true;
	}
	fill_columns(values->key, &values->values[FIRST_COLUMN]);
	values->values[NR_FIGURES - 1] = causes_value(values, &values->values[2]);
	return (struct record){ &total_record_type, values->values };
}

const struct record_type *const vfswrite_row_types[] = { &count_record_type, &total_record_type,
							 NULL };

const struct record_type *const vfswrite_types[] = {
	&start_record_type,
	&interval_record_type,
	&count_record_type,
	&total_record_type,
	&other_paths_record_type,
	&account_record_type,
	NULL,
};
