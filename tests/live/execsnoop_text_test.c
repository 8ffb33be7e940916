// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The text face in a pipe: its columns, and lines that can be pasted into a shell. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/odd_args.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/shell.h"
#include "support/table.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static const char *program;

static size_t find_row(const struct table *table, const char *column, pid_t number, size_t from)
{
	char word[16];

	snprintf(word, sizeof(word), "%d", number);
	return table__find(table, column, word, from);
}

static void check_cell(const struct table *table, size_t row, const char *heading,
		       const char *expected)
{
	char *cell = table__cell(table, row, heading), check[64];

	snprintf(check, sizeof(check), "text: the cell under %s", heading);
	test__same(check, cell, expected);
	free(cell);
}

static void check_number_cell(const struct table *table, size_t row, const char *heading,
			      long expected)
{
	char word[24];

	snprintf(word, sizeof(word), "%ld", expected);
	check_cell(table, row, heading, word);
}

/* Only what was asked for is shown. */
static void check_plain(void)
{
	static const char *const due[] = { "COMM", "PID", "PPID", "ARGS" };
	static const char *const not_due[] = { "TIME", "TIME(s)", "UID", "CPU", "PCOMM", "EVENT" };
	struct tool_run run;
	struct table table;
	char check[96];
	size_t row;
	pid_t pid;

	tool_run__trace(&run, NULL, ARGS("--comm", file_name(program)));
	pid = workload__execute(program, ARGS("one", "two"), "true");
	tool_run__stop(&run);
	table__read(&table, run.out);
	for (size_t i = 0; i < sizeof(due) / sizeof(*due); i++) {
		snprintf(check, sizeof(check), "text: there is a column %s", due[i]);
		test__check(table__column(&table, due[i]) >= 0, check, "heading: %s", run.out);
	}
	for (size_t i = 0; i < sizeof(not_due) / sizeof(*not_due); i++) {
		snprintf(check, sizeof(check), "text: no column %s unless asked for", not_due[i]);
		test__check(table__column(&table, not_due[i]) < 0, check, "heading: %s", run.out);
	}
	test__equal("text: one exec is one row", table.nr_rows, 1);
	row = find_row(&table, "PID", pid, 0);
	check_cell(&table, row, "COMM", file_name(program));
	check_number_cell(&table, row, "PPID", getpid());
	check_cell(&table, row, "ARGS", "one two");
	test__check(row < table.nr_rows && strstr(table.rows[row], "one two") ==
						   table.rows[row] + table.last_column_at,
		    "text: the last column stands below its heading", "saw:\n%s", run.out);
	table__free(&table);
	tool_run__free(&run);
}

/* Local time of day as HH:MM:SS.uuuuuu between the two stamps. */
static bool is_time_between(const char *cell, uint64_t from_ns, uint64_t to_ns)
{
	char from[32], to[32], text[16];
	time_t from_s = (time_t)(from_ns / 1000000000), to_s = (time_t)(to_ns / 1000000000);
	struct tm local;

	strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&from_s, &local));
	snprintf(from, sizeof(from), "%s.%06u", text, (unsigned int)(from_ns / 1000 % 1000000));
	strftime(text, sizeof(text), "%H:%M:%S", localtime_r(&to_s, &local));
	snprintf(to, sizeof(to), "%s.%06u", text, (unsigned int)(to_ns / 1000 % 1000000));
	if (strlen(cell) != 15)
		return false;
	/* Over midnight the order of the words is not that of the times. */
	return strcmp(from, to) > 0 || (strcmp(from, cell) <= 0 && strcmp(cell, to) <= 0);
}

static void check_columns(void)
{
	uint64_t from_ns, to_ns, started_ns = test__now_ns();
	char *time_cell, *seconds_cell, own_comm[16], *end;
	struct tool_run run;
	struct table table;
	double seconds;
	size_t row;
	pid_t pid;

	tool_run__trace(&run, NULL,
			ARGS("-T", "-t", "-U", "-C", "-M", "--comm", file_name(program)));
	test__sleep_ms(50);
	from_ns = test__wall_ns();
	pid = workload__execute(program, ARGS("one"), "true");
	to_ns = test__wall_ns();
	tool_run__stop(&run);
	table__read(&table, run.out);
	row = find_row(&table, "PID", pid, 0);
	prctl(PR_GET_NAME, own_comm);
	check_number_cell(&table, row, "UID", (long)getuid());
	check_cell(&table, row, "PCOMM", own_comm);
	check_cell(&table, row, "COMM", file_name(program));
	check_cell(&table, row, "ARGS", "one");
	time_cell = table__cell(&table, row, "TIME");
	test__check(is_time_between(time_cell, from_ns, to_ns),
		    "text: TIME is the local time of the event", "saw %s", time_cell);
	seconds_cell = table__cell(&table, row, "TIME(s)");
	seconds = strtod(seconds_cell, &end);
	test__check(!*end && seconds >= 0.050 &&
			    seconds <= (double)(test__now_ns() - started_ns) / 1e9,
		    "text: TIME(s) is the time since the start", "saw %s", seconds_cell);
	test__check(table__column(&table, "CPU") >= 0, "text: there is a column CPU", "heading: %s",
		    run.out);
	free(time_cell);
	free(seconds_cell);
	table__free(&table);
	tool_run__free(&run);
}

static void check_exits(void)
{
	struct tool_run run;
	struct table table;
	size_t exec_row, exit_row;
	pid_t pid;

	tool_run__trace(&run, NULL, ARGS("-e", "--comm", file_name(program)));
	pid = workload__execute(program, ARGS("one"), "exit 7");
	workload__execute(program, ARGS("two"), "signal 9");
	tool_run__stop(&run);
	table__read(&table, run.out);
	test__equal("text: an exec and an exit are two rows", table.nr_rows, 4);
	exec_row = find_row(&table, "PID", pid, 0);
	exit_row = find_row(&table, "PID", pid, exec_row + 1);
	check_cell(&table, exec_row, "EVENT", "exec");
	check_cell(&table, exit_row, "EVENT", "exit");
	check_cell(&table, exit_row, "STATUS", "7");
	check_cell(&table, exit_row, "ARGS", "one");
	exit_row = table__find(&table, "STATUS", "SIGKILL", 0);
	check_cell(&table, exit_row, "EVENT", "exit");
	table__free(&table);
	tool_run__free(&run);
}

/* Every byte that may reach a terminal: printable ASCII and UTF-8 without controls. */
static bool is_clean(const char *out, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char byte = (unsigned char)out[i];

		if ((byte < 0x20 && byte != '\n') || byte == 0x7f ||
		    (byte == 0xc2 && (unsigned char)out[i + 1] < 0xa0))
			return false;
	}
	return true;
}

/* A line as it is pasted: what stands first must still be the name of a command. */
static const char *const first_words[] = { "A=1", "if", "time", "{", "!", "[[", "a b", "~x" };
#define NR_FIRST_WORDS (sizeof(first_words) / sizeof(*first_words))

static void run_like_a_terminal(void *role)
{
	/* Only the programs of this folder are found, by any name. */
	if (setenv("PATH", scratch__path("commands"), 1) || setenv("VANTAGE_ROLE", role, 1))
		_exit(126);
}

static void check_first_word(const char *word, const char *line)
{
	char name[64], check[96], role[1024], *words;
	const char *report = scratch__path("pasted");
	struct tool_setup setup = { .path = shell__path(),
				    .prepare = run_like_a_terminal,
				    .ctx = role };
	struct tool_run paste;
	size_t size = 0;

	snprintf(role, sizeof(role), "argv %s", report);
	snprintf(name, sizeof(name), "commands/%s", word);
	workload__program(name);
	unlink(report);
	tool_run__once(&paste, &setup, ARGS("--norc", "--noprofile", "-c", line));
	words = file__read(report, &size);
	snprintf(check, sizeof(check), "text: a line that begins with %s can be pasted", word);
	test__check(words && size == strlen(word) + 3 && !strcmp(words, word), check,
		    "saw: %s; bash: %s", line, paste.err);
	free(words);
	tool_run__free(&paste);
}

static void check_pasted(const struct odd_args *args, const char *line, bool quoted)
{
	char check[128];

	snprintf(check, sizeof(check), "text: %s, %s, mean the same in a shell", args->name,
		 quoted ? "all quoted" : "quoted where needed");
	if (shell__is_there())
		test__check(shell__gives(line, args->argv), check, "saw: %s", line);
	if (quoted)
		test__check(*line == '\'' || *line == '$', "text: -q quotes what needs no quotes",
			    "saw: %s", line);
}

static void check_quoting(bool quoted)
{
	pid_t *pids = calloc(nr_odd_args, sizeof(*pids)), word_pids[NR_FIRST_WORDS];
	size_t nr_words = quoted ? 0 : NR_FIRST_WORDS;
	struct tool_run run;
	struct table table;

	if (!pids)
		test__fatal("memory", "out of memory");
	tool_run__trace(&run, NULL, ARGS("--comm", file_name(program), quoted ? "-q" : NULL));
	for (size_t i = 0; i < nr_odd_args; i++)
		pids[i] = workload__execute(program, odd_args[i].argv, "true");
	for (size_t i = 0; i < nr_words; i++)
		word_pids[i] = workload__execute(program, ARGS(first_words[i], "x"), "true");
	tool_run__stop(&run);
	test__check(is_clean(run.out, run.out_size), "text: no control byte comes through",
		    "one does");
	table__read(&table, run.out);
	test__equal("text: one exec is one row, whatever its arguments", table.nr_rows,
		    nr_odd_args + nr_words);
	for (size_t i = 0; i < nr_odd_args; i++) {
		char *line = table__cell(&table, find_row(&table, "PID", pids[i], 0), "ARGS");

		check_pasted(&odd_args[i], line, quoted);
		free(line);
	}
	for (size_t i = 0; i < nr_words && shell__is_there(); i++) {
		char *line = table__cell(&table, find_row(&table, "PID", word_pids[i], 0), "ARGS");

		check_first_word(first_words[i], line);
		free(line);
	}
	table__free(&table);
	tool_run__free(&run);
	free(pids);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__own_program("text");
	scratch__folder("commands");
	check_plain();
	check_columns();
	check_exits();
	if (!shell__is_there())
		test__skip("text: arguments mean the same in a shell", "there is no bash here");
	check_quoting(false);
	check_quoting(true);
	return test__done();
}
