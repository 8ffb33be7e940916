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
	[VFSWRITE_BY_COMM] = "comm",
	[VFSWRITE_BY_PID] = "pid",
	[VFSWRITE_BY_TID] = "tid",
	[VFSWRITE_BY_UID] = "uid",
	[VFSWRITE_BY_CGROUP] = "cgroup",
	[VFSWRITE_BY_CPU] = "cpu",
	[VFSWRITE_BY_FUNC] = "func",
	[VFSWRITE_BY_FILE] = "file",
	[VFSWRITE_BY_DEVICE] = "device",
	[VFSWRITE_BY_FS] = "fs",
	NULL,
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
	FIELD_OPTIONAL("fs", VALUE_BYTES, "The type of the file system."),
	FIELD_OPTIONAL("device", VALUE_BYTES,
		       "The device of the file system, or the device file's: MAJOR:MINOR."),
	FIELD_OPTIONAL("device_name", VALUE_BYTES, "The name of that device, if it has one."),
	FIELD_OPTIONAL("file_type", VALUE_BYTES,
		       "regular, pipe, socket, char, block or other; by device: of device files."),
	FIELD_OPTIONAL("file", VALUE_BYTES,
		       "The file's path as the process saw it when it first wrote."),
	FIELD_OPTIONAL("others", VALUE_UNSIGNED,
		       "Of a histogram: so many keys that --top leaves out, together."),
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
		COLUMN("fs", VALUE_BYTES, "FS", -10, "Type of file system."),                      \
		COLUMN("device", VALUE_BYTES, "DEVICE", -8, "Device."),                            \
		COLUMN("file_type", VALUE_BYTES, "TYPE", -7, "Type of the file."),                 \
		COLUMN("file", VALUE_BYTES, "FILE", -5, "File."),                                  \
		COLUMN("causes", VALUE_BYTES, "FAILED-BY", -9, "Failed calls by error.")
#define NR_FIGURES 19

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

static const struct field size_fields[] = { HISTOGRAM_FIELDS(&key_type, "bytes") };
static const struct field time_fields[] = { HISTOGRAM_FIELDS(&key_type, "ns") };

const struct record_type size_record_type = HISTOGRAM_RECORD_TYPE(size_fields,
								  "How many bytes calls wrote.");
const struct record_type time_record_type = HISTOGRAM_RECORD_TYPE(time_fields,
								  "How long calls took.");

static const struct field other_paths_fields[] = {
	FIELD_REQUIRED("calls", VALUE_COUNTS, "Calls inside the filters, by what was called."),
};

const struct record_type other_paths_record_type = {
	.name = "other_paths",
	.meaning = "Writes of the run that vfs_write does not see.",
	.fields = other_paths_fields,
	.nr_fields = 1,
};

/*
 * The key's columns by enum vfswrite_by, in the order in which they stand, and what they show:
 * names rather than numbers where there are any. The last ones can be long, and stand behind the
 * figures.
 */
static const struct {
	enum vfswrite_by by;
	const char *column;
	enum key_field field;
	bool behind;
} key_columns[] = {
	{ VFSWRITE_BY_COMM, "comm", KEY_COMM, false },
	{ VFSWRITE_BY_PID, "pid", KEY_PID, false },
	{ VFSWRITE_BY_TID, "tid", KEY_TID, false },
	{ VFSWRITE_BY_UID, "uid", KEY_UID, false },
	{ VFSWRITE_BY_CGROUP, "group", KEY_CGROUP, false },
	{ VFSWRITE_BY_CPU, "cpu", KEY_CPU, false },
	{ VFSWRITE_BY_FUNC, "func", KEY_FUNC, false },
	{ VFSWRITE_BY_FS, "fs", KEY_FS, false },
	{ VFSWRITE_BY_DEVICE, "device", KEY_DEVICE_NAME, false },
	{ VFSWRITE_BY_FILE, "file_type", KEY_FILE_TYPE, true },
	{ VFSWRITE_BY_FILE, "file", KEY_FILE, true },
};

#define NR_KEY_COLUMNS (sizeof(key_columns) / sizeof(key_columns[0]))

/* A process is shown with its name. */
static uint32_t shown(uint32_t by)
{
	return by & 1U << VFSWRITE_BY_PID ? by | 1U << VFSWRITE_BY_COMM : by;
}

static size_t add_key_columns(uint32_t by, bool behind, const char **columns)
{
	size_t nr = 0;

	for (size_t i = 0; i < NR_KEY_COLUMNS; i++)
		if (shown(by) & 1U << key_columns[i].by && key_columns[i].behind == behind)
			columns[nr++] = key_columns[i].column;
	return nr;
}

void count__columns(uint32_t by, bool causes, const char *columns[COLUMNS_MAX])
{
	static const char *const figures[] = { "calls", "share", "rate", "bytes", "mean", "failed" };
	size_t nr = add_key_columns(by, false, columns);

	for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++)
		columns[nr++] = figures[i];
	if (causes)
		columns[nr++] = "causes";
	nr += add_key_columns(by, true, &columns[nr]);
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

static void fill_place(const struct place *place, uint32_t by, struct value *value)
{
	if (!place)
		return;
	if (by & 1U << VFSWRITE_BY_FS)
		value[KEY_FS] = value__text(place->fs);
	if (by & (1U << VFSWRITE_BY_DEVICE | 1U << VFSWRITE_BY_FILE)) {
		value[KEY_DEVICE] = value__text(place->device_number);
		if (*place->device_name)
			value[KEY_DEVICE_NAME] = value__text(place->device_name);
		if (place->type)
			value[KEY_FILE_TYPE] = value__text(place->type);
	}
	if (place->file)
		value[KEY_FILE] = value__text(place->file);
}

void key__values(const struct vfswrite_key *key, uint32_t by, const struct key_names *names,
		 struct value values[KEY_NR_FIELDS])
{
	for (size_t i = 0; i < KEY_NR_FIELDS; i++)
		values[i] = (struct value){};
	by = shown(by);
	if (by & 1U << VFSWRITE_BY_COMM)
		values[KEY_COMM] = value__bytes(key->comm, strnlen(key->comm, sizeof(key->comm)));
	if (by & 1U << VFSWRITE_BY_PID)
		values[KEY_PID] = value__unsigned(key->pid);
	if (by & 1U << VFSWRITE_BY_TID)
		values[KEY_TID] = value__unsigned(key->tid);
	if (by & 1U << VFSWRITE_BY_UID)
		values[KEY_UID] = value__unsigned(key->uid);
	if (by & 1U << VFSWRITE_BY_CGROUP)
		values[KEY_CGROUP_ID] = value__unsigned(key->cgroup_id);
	if (names->cgroup)
		values[KEY_CGROUP] = value__text(names->cgroup);
	if (by & 1U << VFSWRITE_BY_CPU)
		values[KEY_CPU] = value__unsigned(key->cpu);
	if (by & 1U << VFSWRITE_BY_FUNC)
		values[KEY_FUNC] = value__text(vfswrite_funcs[key->func % VFSWRITE_NR_FUNCS].name);
	fill_place(names->place, by, values);
}

void key__values_of_reading(const struct hist_reading *reading, uint32_t by,
			    const struct key_names *names, struct value values[KEY_NR_FIELDS])
{
	const struct hist_key *of = &reading->key;
	struct vfswrite_key key = {
		.pid = of->pid,
		.tid = of->tid,
		.func = of->cause,
		.cpu = of->cpu,
		.uid = of->uid,
		.place = of->place,
		.cgroup_id = of->cgroup_id,
	};

	memcpy(key.comm, by & 1U << VFSWRITE_BY_COMM ? of->comm : reading->name, sizeof(key.comm));
	key__values(&key, reading->nr_others ? 0 : by, names, values);
	/* Borrowed: the key here is gone after the return. */
	if (values[KEY_COMM].kind != VALUE_ABSENT)
		values[KEY_COMM].bytes.data = by & 1U << VFSWRITE_BY_COMM ? of->comm :
									    reading->name;
	if (reading->nr_others)
		values[KEY_OTHERS] = value__unsigned(reading->nr_others);
}

/* What a column shows of a key. */
static struct value key_column(const struct value *key, enum key_field field)
{
	const enum key_field number = field == KEY_CGROUP      ? KEY_CGROUP_ID :
				      field == KEY_DEVICE_NAME ? KEY_DEVICE :
								 field;

	return key[field].kind != VALUE_ABSENT ? key[field] : key[number];
}

/* The key once more, for the columns of the text, in the order of their fields. */
static void fill_columns(const struct value *key, struct value *value)
{
	static const enum key_field fields[] = { KEY_COMM,	KEY_PID, KEY_TID,
						 KEY_UID,	KEY_CPU, KEY_FUNC,
						 KEY_CGROUP,	KEY_FS,	 KEY_DEVICE_NAME,
						 KEY_FILE_TYPE, KEY_FILE };

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		value[i] = key_column(key, fields[i]);
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
			    const struct key_names *names, struct count_values *values)
{
	key__values(&row->key, scale->by, names, values->key);
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
		if (!(shown(scale->by) & 1U << key_columns[i].by))
			continue;
		values->key[key_columns[i].field] = value__text("total");
		named = true;
	}
	fill_columns(values->key, &values->values[FIRST_COLUMN]);
	values->values[NR_FIGURES - 1] = causes_value(values, &values->values[2]);
	return (struct record){ &total_record_type, values->values };
}

struct histogram_style distribution__style(enum vfswrite_distribution distribution)
{
	const bool sizes = distribution == VFSWRITE_SIZES;

	return (struct histogram_style){
		.config = { .unit = 1 },
		.unit = sizes ? "bytes" : "nsecs",
		.type = sizes ? &size_record_type : &time_record_type,
		.is_plain = sizes,
	};
}

const struct record_type *const *vfswrite_row_types(const struct vfswrite_options *options)
{
	static const struct record_type *const types[][4] = {
		[VFSWRITE_NO_DISTRIBUTION] = { &count_record_type, &total_record_type },
		[VFSWRITE_SIZES] = { &count_record_type, &total_record_type, &size_record_type },
		[VFSWRITE_TIMES] = { &count_record_type, &total_record_type, &time_record_type },
	};

	if (options__face(&options->common) != FACE_CSV)
		return types[VFSWRITE_NO_DISTRIBUTION];
	return types[vfswrite_options__distribution(options)];
}

const struct record_type *const vfswrite_types[] = {
	&start_record_type,	  &interval_record_type, &count_record_type,
	&total_record_type,	  &size_record_type,	 &time_record_type,
	&other_paths_record_type, &account_record_type,	 NULL,
};
