// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where records go and when: JSON by its schema, CSV, a file, a pipe, at once, and in time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/odd_args.h"
#include "support/records.h"
#include "support/role.h"
#include "support/schema.h"
#include "support/scratch.h"
#include "support/shell.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static const char *program;

static struct json *read_schema(void)
{
	char error[256] = "";
	struct tool_run run;
	struct json *schema;
	int status = tool_run__once(&run, NULL, ARGS("--json-schema"));

	test__equal("schema: --json-schema ends with 0", (uint64_t)status, 0);
	test__check(!run.err_size, "schema: nothing on stderr", "saw: %s", run.err);
	schema = json__parse(run.out, run.out_size, error, sizeof(error));
	if (!schema)
		test__fatal("schema: it is JSON", "%s", error);
	test__check(schema__is_known(json__root(schema), error, sizeof(error)),
		    "schema: all its keywords are judged here", "%s", error);
	tool_run__free(&run);
	return schema;
}

/* Every line of a run is valid by the schema the tool itself prints. */
static void check_lines(const struct json_value *schema, const struct tool_run *run,
			const char *check)
{
	struct record_reader reader = { .data = run->out, .size = run->out_size };
	const struct json_value *record;
	char why[512] = "", first_why[512] = "";
	size_t nr_invalid = 0;

	while ((record = record_reader__next(&reader))) {
		if (schema__accepts(schema, record, why, sizeof(why)))
			continue;
		if (!nr_invalid++)
			snprintf(first_why, sizeof(first_why), "line %zu: %s", reader.nr_lines,
				 why);
	}
	test__check(!nr_invalid && reader.nr_lines >= 3, check, "%zu of %zu lines are not: %s",
		    nr_invalid, reader.nr_lines, first_why);
}

static void check_start(const struct tool_run *run, uint64_t from_ns, uint64_t to_ns)
{
	struct record_reader reader = { .data = run->out, .size = run->out_size };
	char *release = file__read("/proc/sys/kernel/osrelease", NULL);
	const struct json_value *start = record_reader__next(&reader), *probes;
	int64_t time_ns = record__number(start, "time_ns");

	test__same("start: it is the first line", json__string(json__get(start, "type")), "start");
	test__same("start: it names the tool", json__string(json__get(start, "tool")), "execsnoop");
	release[strcspn(release, "\n")] = '\0';
	test__same("start: it names the kernel", json__string(json__get(start, "kernel")), release);
	test__check((uint64_t)time_ns >= from_ns && (uint64_t)time_ns <= to_ns,
		    "start: its time is the wall clock", "saw %" PRId64, time_ns);
	probes = json__get(start, "probes");
	/* Each may have a stand-in. */
	test__check(probes && probes->kind == JSON_ARRAY &&
			    (probes->array.nr == 2 || probes->array.nr == 4) &&
			    json__string(json__get(&probes->array.items[0], "target")) &&
			    json__string(json__get(&probes->array.items[0], "mechanism")),
		    "start: it lists both probes", "it does not");
	free(release);
	json__free(reader.current);
}

/* What --stats adds to the account. */
static void check_stats(const struct json_value *account)
{
	const struct json_value *probes = json__get(account, "probes");
	size_t nr_right = 0;

	for (size_t i = 0; probes && probes->kind == JSON_ARRAY && i < probes->array.nr; i++)
		nr_right += record__number(&probes->array.items[i], "runs") >=
				    (int64_t)nr_odd_args &&
			    record__number(&probes->array.items[i], "run_ns") > 0;
	test__check(nr_right >= 2 && nr_right == probes->array.nr,
		    "stats: runs and run_ns of both programs", "of %zu programs", nr_right);
}

static void check_schema(void)
{
	struct json *schema = read_schema();
	struct records records;
	struct tool_run run;
	uint64_t from_ns = test__wall_ns(), to_ns;

	tool_run__trace(&run, NULL, ARGS("-j", "-e", "--stats"));
	to_ns = test__wall_ns();
	for (size_t i = 0; i < nr_odd_args; i++)
		workload__execute(program, odd_args[i].argv, "true");
	workload__execute(program, ARGS("x"), "exit 3");
	workload__execute(program, ARGS("x"), "signal 9");
	tool_run__stop(&run);
	check_lines(json__root(schema), &run, "schema: every line of a run with -e and --stats");
	check_start(&run, from_ns, to_ns);
	records__load(&records, &run);
	check_stats(records__account(&records));
	records__free(&records);
	tool_run__free(&run);

	tool_run__once(&run, NULL,
		       ARGS("-j", "--strict", "--expect", "1", "--", workload__program("true")));
	check_lines(json__root(schema), &run, "schema: every line of a run with a command");
	tool_run__free(&run);
	json__free(schema);
}

/* One line of CSV as RFC 4180 reads it, cut into cells in place; how many. */
static size_t split_csv(char *line, char **cells, size_t most)
{
	char *out = line;
	size_t nr = 0;

	while (nr < most) {
		bool quoted = *line == '"';

		cells[nr++] = out;
		line += quoted;
		while (*line && (quoted || *line != ',')) {
			if (quoted && *line == '"' && *++line != '"')
				break;
			*out++ = *line++;
		}
		if (*line != ',') {
			*out = '\0';
			return *line ? 0 : nr;
		}
		line++;
		*out++ = '\0';
	}
	return 0;
}

static const char *csv_cell(char **heading, char **cells, size_t nr, const char *name)
{
	for (size_t i = 0; i < nr; i++)
		if (!strcmp(heading[i], name))
			return cells[i];
	return NULL;
}

#define CELLS_MAX 64

static void check_csv_row(char **heading, size_t nr_heading, char *line, pid_t pid,
			  const struct odd_args *args)
{
	char *cells[CELLS_MAX], word[16], check[128];
	size_t nr = split_csv(line, cells, CELLS_MAX);
	const char *comm;
	bool same;

	snprintf(check, sizeof(check), "csv: %s: as many cells as the heading", args->name);
	if (!test__equal(check, nr, nr_heading))
		return;
	snprintf(word, sizeof(word), "%d", pid);
	snprintf(check, sizeof(check), "csv: %s: the row is of the process", args->name);
	comm = csv_cell(heading, cells, nr, "comm");
	same = csv_cell(heading, cells, nr, "pid") &&
	       !strcmp(csv_cell(heading, cells, nr, "pid"), word) && comm &&
	       !strcmp(comm, file_name(program));
	test__check(same, check, "it is not");
	snprintf(check, sizeof(check), "csv: %s: arguments as a shell line", args->name);
	if (shell__is_there())
		test__check(shell__gives(csv_cell(heading, cells, nr, "args"), args->argv), check,
			    "saw: %s", csv_cell(heading, cells, nr, "args"));
}

static void check_csv(void)
{
	pid_t *pids = calloc(nr_odd_args, sizeof(*pids));
	char *heading[CELLS_MAX], *line, *rest;
	size_t nr_heading, nr_rows = 0;
	struct tool_run run;

	if (!pids)
		test__fatal("memory", "out of memory");
	if (!shell__is_there())
		test__skip("csv: arguments as a shell line", "there is no bash here");
	tool_run__trace(&run, NULL, ARGS("--format", "csv", "--comm", file_name(program)));
	for (size_t i = 0; i < nr_odd_args; i++)
		pids[i] = workload__execute(program, odd_args[i].argv, "true");
	tool_run__stop(&run);
	rest = run.out;
	line = strsep(&rest, "\n");
	nr_heading = split_csv(line, heading, CELLS_MAX);
	test__check(nr_heading >= 10, "csv: the first line is the heading", "it has %zu cells",
		    nr_heading);
	while ((line = strsep(&rest, "\n")) && *line) {
		if (nr_rows < nr_odd_args)
			check_csv_row(heading, nr_heading, line, pids[nr_rows], &odd_args[nr_rows]);
		nr_rows++;
	}
	test__equal("csv: one exec is one line", nr_rows, nr_odd_args);
	free(pids);
	tool_run__free(&run);
}

static void check_file(void)
{
	const char *path = scratch__write("records.json", "old content\n", 12, 0644);
	struct records records;
	struct tool_run run, file = { 0 };
	pid_t pid;

	tool_run__trace(&run, NULL, ARGS("-j", "--output", path));
	pid = workload__execute(program, ARGS("x"), "true");
	test__equal("output: the status is 0", (uint64_t)tool_run__stop(&run), 0);
	test__equal("output: nothing on stdout", run.out_size, 0);
	file.out = file__read(path, &file.out_size);
	records__load(&records, &file);
	if (records__only(&records, "exec", pid, "output: the file has the records"))
		test__check(true, "output: the file has the records", "it has");
	records__account(&records);
	records__free(&records);
	free(file.out);
	tool_run__free(&run);

	path = scratch__path("no-such-folder/records.json");
	tool_run__start(&run, NULL, ARGS("-j", "--output", path));
	test__check(!run.ready, "output: a file that cannot be made is told before tracing",
		    "there was a ready byte");
	test__equal("output: a file that cannot be made is 1", (uint64_t)tool_run__wait(&run), 1);
	test__check(strstr(run.err, path), "output: the message names the file", "saw: %s",
		    run.err);
	tool_run__free(&run);
}

/* Heading and records reach a pipe at once: nobody waits for a buffer to fill. */
static void check_heading(void)
{
	struct tool_run run;
	const char *line;

	tool_run__trace(&run, &(struct tool_setup){ .pipe = true },
			ARGS("--comm", "no-such-command"));
	line = tool_run__line(&run, 1000);
	test__check(line && strstr(line, "COMM") && strstr(line, "ARGS"),
		    "pipe: the heading comes before the first record", "saw: %s",
		    line ? line : "nothing");
	tool_run__stop(&run);
	test__check(!strstr(run.out, "racing"), "pipe: no message on stdout", "saw: %s", run.out);
	test__check(strstr(run.err, "sched_process_exec") && strstr(run.err, "tp_btf"),
		    "pipe: stderr says what is traced and how", "saw: %s", run.err);
	test__check(strstr(run.err, "no-such-command"), "pipe: stderr repeats the limits",
		    "saw: %s", run.err);
	tool_run__free(&run);
}

static int compare_times(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* The next record of this type from the pipe, or NULL; to be freed. */
static struct json *next_record(struct tool_run *run, const char *type)
{
	const char *line;

	while ((line = tool_run__line(run, 5000))) {
		char error[256];
		struct json *json = json__parse(line, strlen(line), error, sizeof(error));

		if (!json)
			test__fatal("every line is JSON", "%s", error);
		if (json__is(json__get(json__root(json), "type"), type))
			return json;
		json__free(json);
	}
	return NULL;
}

/* The median, since any single one can fall into a moment when this machine does not run us. */
static void check_delay(void)
{
	uint64_t delays[11];
	const size_t nr = sizeof(delays) / sizeof(*delays);
	struct tool_run run;

	tool_run__trace(&run, &(struct tool_setup){ .pipe = true },
			ARGS("-j", "--comm", file_name(program)));
	for (size_t i = 0; i < nr; i++) {
		struct json *record;

		test__sleep_ms(37 * (i % 3));
		workload__execute(program, ARGS("x"), "true");
		record = next_record(&run, "exec");
		if (!record)
			test__fatal("pipe: a record comes", "none in five seconds");
		delays[i] = test__wall_ns() -
			    (uint64_t)record__number(json__root(record), "time_ns");
		json__free(record);
	}
	tool_run__stop(&run);
	qsort(delays, nr, sizeof(*delays), compare_times);
	test__check(delays[nr / 2] <= test__patience_ms(200) * 1000000,
		    "pipe: a record comes at most 200 ms after its event",
		    "the median of %zu is %" PRIu64 " ns", nr, delays[nr / 2]);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__own_program("out");
	check_schema();
	check_csv();
	check_file();
	check_heading();
	check_delay();
	return test__done();
}
