// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "execsnoop/summary.h"
#include "test.h"

#define MS 1000000ULL

/* Copies of the rows that come out, as far as they are looked at. */
struct row {
	char command[80];
	char parent[32];
	bool keyed;
	uint64_t count, failed, ended, sum_ns, cpu_ns, p50_ge, p50_lt, p99_ge, p99_lt;
};

static struct row rows[64];
static size_t nr_rows;

static const struct value *find(const struct record *record, const char *name)
{
	for (size_t i = 0; i < record->type->nr_fields; i++)
		if (!strcmp(record->type->fields[i].name, name))
			return &record->values[i];
	return NULL;
}

static int take(void *ctx, const struct record *record)
{
	struct row *row = &rows[nr_rows++];
	const struct value *key = find(record, "key")->records.items->values;
	const struct value *percentiles = find(record, "percentiles");

	*row = (struct row){
		.keyed = key[0].kind == VALUE_BYTES,
		.count = find(record, "count")->number,
		.failed = find(record, "failed")->number,
		.ended = find(record, "ended")->number,
		.cpu_ns = find(record, "cpu_ns")->number,
	};
	memcpy(row->command, find(record, "command")->bytes.data,
	       find(record, "command")->bytes.size);
	if (row->keyed)
		memcpy(row->parent, key[1].bytes.data, key[1].bytes.size);
	if (percentiles->kind == VALUE_RECORDS) {
		row->sum_ns = find(record, "sum_ns")->number;
		row->p50_ge = percentiles->records.items[0].values[1].number;
		row->p50_lt = percentiles->records.items[0].values[2].number;
		row->p99_ge = percentiles->records.items[1].values[1].number;
		row->p99_lt = percentiles->records.items[1].values[2].number;
	}
	return *(int *)ctx;
}

static size_t collect(struct summary *summary, enum summary_sort sort, size_t top)
{
	size_t nr = 0;
	int go_on = 0;

	nr_rows = 0;
	memset(rows, 0, sizeof(rows));
	test__equal("the rows come out", -summary__each(summary, sort, top, take, &go_on, &nr), 0);
	return nr;
}

static struct exec_event event__of(const char *path, const char *comm, const char *parent, int ret)
{
	struct exec_event event = { .ret = ret };

	if (path)
		event.filename = (struct text){ path, strlen(path) };
	strncpy(event.process.comm, comm, EXECSNOOP_COMM_SIZE - 1);
	strncpy(event.process.pcomm, parent, EXECSNOOP_COMM_SIZE - 1);
	return event;
}

static void add(struct summary *summary, const char *path, const char *comm, const char *parent,
		int ret)
{
	struct exec_event event = event__of(path, comm, parent, ret);

	if (summary__add(summary, &event))
		test__fatal("summary", "an event is not taken");
}

static void end(struct summary *summary, const char *path, const char *parent, uint64_t lifetime_ns)
{
	struct exec_event event = event__of(path, "x", parent, 0);
	struct summary_end how = { .lifetime_ns = lifetime_ns, .cpu_known = true, .cpu_ns = 5 };

	if (summary__end(summary, &event, &how))
		test__fatal("summary", "an end is not taken");
}

/* What execvp() does: a failed call for each place, then the one that succeeds. */
static void test_path_search(void)
{
	struct summary *summary = summary__new(10);

	add(summary, "/usr/local/bin/tool", "sh", "sh", -2);
	add(summary, "/usr/bin/tool", "sh", "sh", -2);
	add(summary, "/bin/tool", "tool", "sh", 0);
	add(summary, "/bin/tool", "tool", "cron", 0);
	add(summary, NULL, "sh", "sh", -14);
	test__equal("a search through PATH is one row", collect(summary, SUMMARY_BY_FAILED, 9), 3);
	test__same("its command is what the path ends with", rows[0].command, "tool");
	test__same("its parent", rows[0].parent, "sh");
	test__check(rows[0].count == 1 && rows[0].failed == 2, "its counts", "%lu and %lu",
		    rows[0].count, rows[0].failed);
	test__same("a path that is not known: the caller's name", rows[1].command, "sh");
	test__same("another parent is another row", rows[2].parent, "cron");
	summary__free(summary);
}

static void test_lifetimes(void)
{
	struct summary *summary = summary__new(10);

	for (int i = 1; i <= 100; i++) {
		add(summary, "/x", "x", "p", 0);
		end(summary, "/x", "p", (uint64_t)i * MS);
	}
	add(summary, "/x", "x", "p", 0);
	collect(summary, SUMMARY_BY_COUNT, 9);
	test__check(rows[0].count == 101 && rows[0].ended == 100, "one has not ended", "%lu of %lu",
		    rows[0].ended, rows[0].count);
	test__equal("sum", rows[0].sum_ns, 5050 * MS);
	test__equal("CPU time", rows[0].cpu_ns, 500);
	test__check(rows[0].p50_ge <= 50 * MS && rows[0].p50_lt > 50 * MS &&
			    rows[0].p50_lt - rows[0].p50_ge <= rows[0].p50_ge / 16,
		    "the median is inside its bounds, which are narrow", "%lu to %lu",
		    rows[0].p50_ge, rows[0].p50_lt);
	test__check(rows[0].p99_ge <= 99 * MS && rows[0].p99_lt > 99 * MS, "the 99th, too",
		    "%lu to %lu", rows[0].p99_ge, rows[0].p99_lt);
	summary__free(summary);

	summary = summary__new(10);
	end(summary, "/x", "p", 12345678);
	collect(summary, SUMMARY_BY_COUNT, 9);
	test__check(rows[0].p50_ge == 12345678 && rows[0].p99_lt == 12345679,
		    "of a single one they are exact", "%lu to %lu", rows[0].p50_ge, rows[0].p99_lt);
	summary__free(summary);
}

static void test_forks(void)
{
	struct summary *summary = summary__new(10);

	add(summary, NULL, "sh", "sh", 0);
	add(summary, "/bin/sh", "sh", "sh", 0);
	test__equal("a fork and a command of one name are two rows",
		    collect(summary, SUMMARY_BY_COUNT, 9), 2);
	test__check(!strcmp(rows[0].command, "sh (fork)") || !strcmp(rows[1].command, "sh (fork)"),
		    "text tells them apart", "%s and %s", rows[0].command, rows[1].command);
	summary__free(summary);
}

static void test_order(void)
{
	struct summary *summary = summary__new(10);

	for (int i = 0; i < 3; i++)
		add(summary, "/often", "x", "p", 0);
	add(summary, "/long", "x", "p", 0);
	end(summary, "/long", "p", 100 * MS);
	add(summary, "/failing", "x", "p", -2);
	add(summary, "/failing", "x", "p", -2);
	collect(summary, SUMMARY_BY_COUNT, 9);
	test__same("by count", rows[0].command, "often");
	collect(summary, SUMMARY_BY_FAILED, 9);
	test__same("by failures", rows[0].command, "failing");
	collect(summary, SUMMARY_BY_MEDIAN, 9);
	test__same("by median lifetime", rows[0].command, "long");
	collect(summary, SUMMARY_BY_P99, 9);
	test__same("by 99th percentile", rows[0].command, "long");
	collect(summary, SUMMARY_BY_CPU, 9);
	test__same("by CPU time", rows[0].command, "long");
	test__equal("equal ones by count", !strcmp(rows[1].command, "often"), 1);
	test__equal("how many there are is told with a limit, too",
		    collect(summary, SUMMARY_BY_COUNT, 2), 3);
	test__equal("and no more come out", nr_rows, 2);
	summary__free(summary);
}

static void test_bounded(void)
{
	struct summary *summary = summary__new(2);
	char path[32];

	for (int i = 0; i < 10; i++) {
		snprintf(path, sizeof(path), "/command%d", i);
		add(summary, path, "x", "p", 0);
		add(summary, path, "x", "p", -2);
		end(summary, path, "p", MS);
	}
	test__equal("there are as many rows as allowed", collect(summary, SUMMARY_BY_COUNT, 1), 2);
	test__equal("and one for the rest, also with a limit", nr_rows, 2);
	test__check(!rows[1].keyed && rows[1].count == 8 && rows[1].failed == 8 &&
			    rows[1].ended == 8,
		    "in which nothing is missing", "%lu, %lu and %lu", rows[1].count,
		    rows[1].failed, rows[1].ended);
	summary__free(summary);
}

static void test_long_name(void)
{
	struct summary *summary = summary__new(10);
	char path[300];

	memset(path, 'n', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	add(summary, path, "x", "p", 0);
	collect(summary, SUMMARY_BY_COUNT, 9);
	test__equal("a long name is cut", strlen(rows[0].command), 63);
	summary__free(summary);
}

int main(void)
{
	test_path_search();
	test_lifetimes();
	test_forks();
	test_order();
	test_bounded();
	test_long_name();
	return test__done();
}
