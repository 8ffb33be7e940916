// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What is asked wrongly is refused; filters by length, state and kind of thread; what has no room;
 * the faces.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/children.h"
#include "support/records.h"
#include "support/refusal.h"
#include "support/role.h"
#include "support/schema.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static const struct refusal refusals[] = {
	{ "a duration in letters", { "abc" }, 2, "abc" },
	{ "a second operand", { "1", "2" }, 2, "2" },
	{ "a pid that is not there", { "-p", "4000000" }, 1, "4000000" },
	{ "user and kernel threads alone", { "-u", "-k" }, 2, "kernel-threads-only" },
	{ "a length in letters", { "-m", "long" }, 2, "long" },
	{ "lengths that exclude each other", { "-m", "2ms", "-M", "1ms" }, 2, "--min" },
	{ "a state that is none", { "--state", "X" }, 2, "'X'" },
	{ "letters and numbers", { "--state", "S,2" }, 2, "S,2" },
	{ "a depth of nothing", { "--perf-max-stack-depth", "0" }, 2, "0" },
	{ "more frames than the kernel keeps",
	  { "--perf-max-stack-depth", "500" },
	  1,
	  "kernel.perf_event_max_stack" },
	{ "room for no stack", { "--stack-storage-size", "0" }, 2, "0" },
	{ "a key that is none", { "--by", "color" }, 2, "color" },
	{ "idle waits of rows without stacks", { "--by", "comm", "--hide-idle" }, 2, "--by" },
	{ "two faces", { "-f", "-j" }, 2, "--folded" },
	{ "two faces by name", { "-f", "--format", "text" }, 2, "folded" },
	{ "reasons without the kernel's stacks", { "-U", "--reasons" }, 2, "--reasons" },
	{ "a face this tool has not", { "--format", "openmetrics" }, 2, "openmetrics" },
};

/* Whether a stay of that length by a process of this program is in the report. */
static bool is_told(const struct records *records, pid_t pid, uint64_t ms)
{
	const struct json_value *record;
	size_t index = 0;

	while ((record = records__next(records, "stack", pid, &index)))
		if (record__number(record, "max_ns") >= (int64_t)ms * 1000000)
			return true;
	return false;
}

static size_t nr_rows(const struct records *records, pid_t pid)
{
	size_t index = 0, nr = 0;

	while (records__next(records, "stack", pid, &index))
		nr++;
	return nr;
}

static void check_lengths(void)
{
	const char *program = workload__own_program("length");
	static const char *const limits[][2] = { { "-m", "20ms" }, { "-M", "20ms" } };

	for (size_t i = 0; i < 2; i++) {
		struct workload shorter = { .program = program, .role = "sleep 5" };
		struct workload longer = { .program = program, .role = "sleep 100" };
		const struct json_value *record;
		size_t index = 0, nr = 0, wrong = 0;
		struct records records;
		struct tool_run run;
		pid_t pids[2];
		char check[64];

		tool_run__trace(&run, NULL,
				ARGS("-j", limits[i][0], limits[i][1], "--comm",
				     file_name(program)));
		pids[0] = workload__start(&shorter);
		pids[1] = workload__start(&longer);
		workload__wait(pids[0], NULL);
		workload__wait(pids[1], NULL);
		tool_run__stop(&run);
		records__load(&records, &run);
		snprintf(check, sizeof(check), "%s: only what is as long", limits[i][0]);
		while ((record = records__next(&records, "stack", 0, &index))) {
			int64_t count = record__number(record, "count");

			wrong += i ? record__number(record, "max_ns") > 20000000 :
				     record__number(record, "total_ns") < count * 20000000;
			nr++;
		}
		test__check(nr && !wrong && is_told(&records, pids[1], 100) == (i == 0), check,
			    "%zu of %zu rows are wrong", wrong, nr);
		test__check(strstr(run.err, i ? "at most 20ms" : "at least 20ms"),
			    "the heading has the limit", "saw: %s", run.err);
		check_account(records__account(&records), limits[i][0]);
		records__free(&records);
		tool_run__free(&run);
	}
}

/* Waits in state D for a child that has its memory. */
static void be_vfork_parent(int gate)
{
	char byte;
	pid_t pid;

	if (read(gate, &byte, 1) != 1)
		_exit(1);
	pid = vfork();
	if (!pid) {
		usleep(200000);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	_exit(0);
}

static void check_states(void)
{
	static const struct {
		const char *state;
		bool told;
	} cases[] = { { "D", true }, { "2", true }, { "K", true }, { "S", false }, { "R", false } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct records records;
		struct tool_run run;
		char pid_text[16], check[64];
		int gate[2];
		pid_t pid;

		if (pipe(gate))
			test__fatal("pipe", "failed");
		pid = fork();
		if (!pid)
			be_vfork_parent(gate[0]);
		children__add(pid);
		snprintf(pid_text, sizeof(pid_text), "%d", pid);
		tool_run__trace(&run, NULL,
				ARGS("-j", "-p", pid_text, "-m", "150ms", "--state",
				     cases[i].state));
		if (write(gate[1], "", 1) != 1)
			test__fatal("gate", "failed");
		waitpid(pid, NULL, 0);
		children__remove(pid);
		tool_run__stop(&run);
		records__load(&records, &run);
		snprintf(check, sizeof(check), "state %s: a parent after vfork", cases[i].state);
		test__check(is_told(&records, pid, 200) == cases[i].told, check, "rows: %zu",
			    nr_rows(&records, pid));
		records__free(&records);
		tool_run__free(&run);
		close(gate[0]);
		close(gate[1]);
	}
}

/* Rows of kernel threads and of user threads. */
static void check_kinds(void)
{
	static const char *const options[] = { "-u", "-k" };

	for (size_t i = 0; i < 2; i++) {
		struct workload workload = { .program = workload__own_program("kind"),
					     .role = "sleep 100" };
		struct records records;
		struct tool_run run;
		const struct json_value *record;
		size_t index = 0, nr_own = 0, nr = 0;

		tool_run__trace(&run, NULL, ARGS("-j", options[i]));
		workload__run(&workload);
		test__sleep_ms(300);
		tool_run__stop(&run);
		records__load(&records, &run);
		nr_own = records__count(&records, "stack", file_name(workload.program));
		while ((record = records__next(&records, "stack", 0, &index)))
			nr++;
		test__check(i ? !nr_own && nr : nr_own, "kinds of threads", "%s: %zu of %zu rows",
			    options[i], nr_own, nr);
		check_account(records__account(&records), options[i]);
		records__free(&records);
		tool_run__free(&run);
	}
}

/* Two processes that wait for 100 ms each, by different system calls. */
static void wait_in_two_places(const char *program)
{
	static const char *const roles[] = { "chain 100", "sleep 100" };

	for (size_t i = 0; i < 2; i++) {
		struct workload workload = { .program = program, .role = roles[i] };

		workload__run(&workload);
	}
}

/* What finds no room is charged all the same, and said. */
static void check_room(void)
{
	static const char *const options[] = { "--stack-storage-size", "--max-keys" };
	const char *program = workload__own_program("room");

	for (size_t i = 0; i < 2; i++) {
		uint64_t time_ns = 0, not_kept_ns = 0;
		const struct json_value *record;
		struct records records;
		struct tool_run run;
		size_t index = 0;

		tool_run__trace(&run, NULL,
				ARGS("-j", "-K", options[i], "1", "--comm", file_name(program)));
		wait_in_two_places(program);
		tool_run__stop(&run);
		records__load(&records, &run);
		while ((record = records__next(&records, "stack", 0, &index))) {
			time_ns += (uint64_t)record__number(record, "total_ns");
			if (json__is(json__get(record, "no_kernel_stack"), "not_kept"))
				not_kept_ns += (uint64_t)record__number(record, "total_ns");
		}
		test__check(time_ns >= 180000000 && not_kept_ns >= 80000000,
			    "room: all time is charged",
			    "%s: %" PRIu64 " ns, %" PRIu64 " of it "
			    "without a stack",
			    options[i], time_ns, not_kept_ns);
		test__check(record__number(json__get(records__account(&records), "detail_lost"),
					   "stack") > 0 &&
				    strstr(run.err, options[i]),
			    "room: it is said", "stderr: %s", run.err);
		check_account(records__account(&records), "room");
		records__free(&records);
		tool_run__free(&run);
	}
}

/* The intervals are together the whole. */
static void check_intervals(void)
{
	const char *program = workload__own_program("interval");
	struct workload workload = { .program = program, .role = "sleep 20" };
	uint64_t count = 0, nr = 0, time_ns = 0;
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "-i", "100ms", "--comm", file_name(program)));
	for (int i = 0; i < 30; i++)
		workload__run(&workload);
	tool_run__stop(&run);
	records__load(&records, &run);
	while ((record = records__next(&records, "total", 0, &index))) {
		count += (uint64_t)record__number(record, "count");
		time_ns += (uint64_t)record__number(record, "total_ns");
		nr++;
	}
	test__check(nr >= 2 && records__count(&records, "interval", NULL) == nr,
		    "intervals: each has its total", "%" PRIu64, nr);
	test__check(time_ns >= 600000000 &&
			    (int64_t)count ==
				    account__term(records__account(&records), NULL, "recorded"),
		    "intervals: together they are the whole", "%" PRIu64 " stays, %" PRIu64 " ns",
		    count, time_ns);
	check_account(records__account(&records), "intervals");
	records__free(&records);
	tool_run__free(&run);
}

static void check_schema(void)
{
	unsigned long wrong = 0, nr = 0;
	char error[256], why[256] = "";
	struct records records;
	struct tool_run run;
	struct json *schema;

	tool_run__once(&run, NULL, ARGS("--json-schema"));
	schema = json__parse(run.out, run.out_size, error, sizeof(error));
	if (!test__check(schema != NULL, "schema: it is JSON", "%s", error))
		return;
	tool_run__free(&run);
	tool_run__once(&run, NULL, ARGS("-j", "--split", "--reasons", "-i", "0.2", "0.5"));
	records__load(&records, &run);
	for (; nr < records.nr; nr++)
		wrong += !schema__accepts(json__root(schema), records__at(&records, nr), why,
					  sizeof(why));
	test__check(!wrong && nr > 5, "schema: every line is as it says", "%lu of %lu: %s", wrong,
		    nr, why);
	json__free(schema);
	records__free(&records);
	tool_run__free(&run);
}

/* No frame of a tracer or of the scheduler stands on a stack. */
static void check_text(void)
{
	const char *program = workload__own_program("text");
	struct workload workload = { .program = program, .role = "sleep 300" };
	struct tool_run run;
	char line[64];

	tool_run__trace(&run, NULL, ARGS("-s", "--split", "--comm", file_name(program)));
	workload__run(&workload);
	tool_run__stop(&run);
	snprintf(line, sizeof(line), "    -                %s (", file_name(program));
	test__check(strstr(run.out, line) && strstr(run.out, "nanosleep+0x") &&
			    strstr(run.out, " us  ") && strstr(run.out, "\n          blocked "),
		    "text: stack, name and time", "saw: %s", run.out);
	test__check(!strstr(run.out, "bpf_") && !strstr(run.out, "__schedule"),
		    "text: no frame of a tracer", "saw: %s", run.out);
	test__check(strstr(run.err, " seen = ") && strstr(run.out, " off the CPU in "),
		    "text: the whole and the account", "stderr: %s", run.err);
	tool_run__free(&run);
	tool_run__once(&run, NULL, ARGS("--comm", "no-such-command", "0.3"));
	test__check(strstr(run.err, "0 events"), "nothing: it is said", "stderr: %s", run.err);
	tool_run__free(&run);
	tool_run__once(&run, NULL, ARGS("--top", "1", "--format", "csv", "0.3"));
	test__check(!strncmp(run.out, "type,pid,tid,comm,total_ns,", 26), "csv: its first line",
		    "saw: %.80s", run.out);
	tool_run__free(&run);
}

/* Folded: every line is frames and a number, and no name can make another frame. */
static void check_folded(void)
{
	const char *program = workload__own_program("fol;d\n ed");
	struct workload workload = { .program = program, .role = "chain 100" };
	size_t wrong = 0, nr = 0;
	struct tool_run run;
	char *line, *rest;

	tool_run__trace(&run, NULL, ARGS("-f", "-m", "50ms", "--comm", "fol*"));
	workload__run(&workload);
	tool_run__stop(&run);
	test__check(strstr(run.out, "fol\\x3bd\\x0a ed") == run.out &&
			    strstr(run.out, ";chain_outer;chain_middle;chain_leaf;") &&
			    strstr(run.out, "nanosleep 10"),
		    "folded: the root first, then the program, then the kernel", "saw: %s",
		    run.out);
	tool_run__free(&run);
	tool_run__once(&run, NULL, ARGS("--format", "folded", "0.5"));
	for (line = run.out; (rest = strchr(line, '\n')); line = rest + 1) {
		const char *number;

		*rest = '\0';
		number = strrchr(line, ' ');
		nr++;
		wrong += !number || !number[1] ||
			 strspn(number + 1, "0123456789") != strlen(number + 1) || *line == ' ' ||
			 !strchr(line, ';');
	}
	test__check(nr > 5 && !wrong, "folded: every line is frames and a number",
		    "%zu of %zu are not", wrong, nr);
	tool_run__free(&run);
}

/* What a sleeping process waited for; and an event loop is idle. */
static void check_reasons(void)
{
	struct workload workload = { .program = workload__own_program("reason"),
				     .role = "sleep 200" };
	const struct json_value *record;
	uint64_t sleep_ns = 0, all_ns = 0, rows_ns = 0;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	tool_run__trace(&run, NULL,
			ARGS("-j", "--reasons", "-K", "--comm", file_name(workload.program)));
	workload__run(&workload);
	tool_run__stop(&run);
	records__load(&records, &run);
	while ((record = records__next(&records, "reason", 0, &index))) {
		all_ns += (uint64_t)record__number(record, "total_ns");
		if (json__is(json__get(record, "reason"), "sleep"))
			sleep_ns = (uint64_t)record__number(record, "total_ns");
	}
	index = 0;
	while ((record = records__next(&records, "stack", 0, &index)))
		rows_ns += (uint64_t)record__number(record, "total_ns");
	test__check(sleep_ns >= 199000000 && all_ns == rows_ns, "reasons: sleep, and all time",
		    "%" PRIu64 " of %" PRIu64 ", rows %" PRIu64, sleep_ns, all_ns, rows_ns);
	records__free(&records);
	tool_run__free(&run);
	tool_run__once(&run, NULL, ARGS("--reasons", "--hide-idle", "-k", "0.5"));
	test__check(strstr(run.out, " %  kernel, idle\n") &&
			    strstr(run.out, " of it in idle waits, which are left out") &&
			    !strstr(run.out, "\n\n    worker_thread\n"),
		    "reasons: idle waits are set apart", "saw: %s", run.out);
	tool_run__free(&run);
}

/* A row for each name, without stacks, and nothing is lost by it. */
static void check_keys(void)
{
	const char *program = workload__own_program("keys");
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "--by", "comm", "--comm", file_name(program)));
	wait_in_two_places(program);
	tool_run__stop(&run);
	records__load(&records, &run);
	test__equal("keys: a row for each name",
		    records__count(&records, "stack", file_name(program)), 1);
	record = records__next(&records, "stack", 0, &index);
	test__check(record && record__number(record, "total_ns") >= 199000000 &&
			    record__number(record, "tid") == -1 &&
			    !json__get(record, "kernel_stack"),
		    "keys: with all of the time, and without the rest", "%s",
		    record ? "other" : "no row");
	check_account(records__account(&records), "keys");
	records__free(&records);
	tool_run__free(&run);
	tool_run__once(&run, NULL, ARGS("-f", "--by", "stack", "0.3"));
	test__check(!strncmp(run.out, "[all];", 6) || strstr(run.out, "\n[all];"),
		    "keys: by stack, folded", "saw: %.80s", run.out);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	refusal__check(refusals, sizeof(refusals) / sizeof(refusals[0]));
	check_lengths();
	check_states();
	check_kinds();
	check_room();
	check_intervals();
	check_schema();
	check_text();
	check_folded();
	check_reasons();
	check_keys();
	return test__done();
}
