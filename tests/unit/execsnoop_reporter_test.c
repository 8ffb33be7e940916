// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fate of each event: what is filtered, recorded, joined, held back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "execsnoop/reporter.h"
#include "test.h"

#define NR_KINDS 3
#define MS 1000000ULL

/* What came out of a report. */
struct outcome {
	unsigned int recorded[NR_KINDS];
	unsigned int counted[NR_KINDS][FATE_NO_END + 1];
	unsigned int nr_rows;
	const struct record_type *type; /* of the last record */
	struct value values[40];
	char text[256]; /* its args, each NUL a blank */
};

static struct outcome outcome;

static const struct value *find(const char *name)
{
	for (size_t i = 0; outcome.type && i < outcome.type->nr_fields; i++)
		if (!strcmp(outcome.type->fields[i].name, name))
			return &outcome.values[i];
	return NULL;
}

static int take_record(void *ctx, enum execsnoop_kind kind, const struct record *record)
{
	const struct value *args;

	(void)ctx;
	outcome.recorded[kind]++;
	outcome.type = record->type;
	memcpy(outcome.values, record->values, record->type->nr_fields * sizeof(struct value));
	memset(outcome.text, 0, sizeof(outcome.text));
	args = find("args");
	if (args->kind == VALUE_WORDS)
		for (size_t i = 0; i + 1 < args->words.size && i + 1 < sizeof(outcome.text); i++)
			outcome.text[i] = args->words.data[i] ? args->words.data[i] : ' ';
	return 0;
}

static void take_count(void *ctx, enum execsnoop_kind kind, enum event_fate fate)
{
	(void)ctx;
	outcome.counted[kind][fate]++;
}

static int take_row(void *ctx, const struct record *record)
{
	(void)ctx;
	outcome.nr_rows++;
	outcome.type = record->type;
	memcpy(outcome.values, record->values, record->type->nr_fields * sizeof(struct value));
	return 0;
}

static struct reporter open_reporter(const struct execsnoop_options *options)
{
	static const struct record_times times;
	struct reporter reporter = {
		.options = options,
		.times = &times,
		.record = take_record,
		.count = take_count,
		.row = take_row,
	};

	outcome = (struct outcome){};
	if (reporter__open(&reporter))
		test__fatal("report", "it cannot be opened");
	return reporter;
}

static void send_exec(struct reporter *reporter, __u32 pid, __u64 time_ns, const char *comm,
		      const char *args, __u32 args_size, int ret)
{
	struct execsnoop_exec *exec = calloc(1, sizeof(*exec) + args_size + 8);

	exec->process = (struct execsnoop_process){
		.kind = ret ? EXECSNOOP_FAILED : EXECSNOOP_EXEC,
		.pid = pid,
		.fork_ns = pid,
		.time_ns = time_ns,
	};
	strncpy(exec->process.comm, comm, sizeof(exec->process.comm) - 1);
	exec->ret = ret;
	exec->filename_size = 3;
	memcpy(exec->data, "/x", 3);
	exec->args_offset = 8;
	exec->args_size = args_size;
	memcpy(exec->data + 8, args, args_size);
	test__equal("report: an exec is taken", -reporter__event(reporter, &exec->process), 0);
	free(exec);
}

static void send_exit(struct reporter *reporter, __u32 pid, __u64 time_ns, const char *comm,
		      bool execed)
{
	struct execsnoop_exit exit = {
		.process = { .kind = EXECSNOOP_EXIT,
			     .pid = pid,
			     .fork_ns = pid,
			     .time_ns = time_ns },
		.execed = execed,
	};

	strncpy(exit.process.comm, comm, sizeof(exit.process.comm) - 1);
	test__equal("report: an exit is taken", -reporter__event(reporter, &exit.process), 0);
}

static void send_fork_end(struct reporter *reporter, __u32 pid, __u32 ppid, __u64 time_ns)
{
	const struct execsnoop_exit exit = {
		.process = { .kind = EXECSNOOP_EXIT, .pid = pid, .ppid = ppid, .time_ns = time_ns },
	};

	test__equal("reporter: the end of a fork is taken",
		    -reporter__event(reporter, &exit.process), 0);
}

static void set_regex(struct optional_regex *option, const char *text)
{
	option->given = !regcomp(&option->regex, text, REG_EXTENDED | REG_NOSUB);
	option->text = text;
	if (!option->given)
		test__fatal("report", "cannot compile %s", text);
}

static void test_regex(void)
{
	struct execsnoop_options options = { .exits = true };
	struct reporter reporter;

	set_regex(&options.name, "^(ls|cat)$");
	set_regex(&options.line, "two$");
	reporter = open_reporter(&options);
	send_exec(&reporter, 1, 10, "ls", "ls\0one two", 11, 0);
	send_exec(&reporter, 2, 10, "lsx", "ls\0two", 7, 0);
	send_exec(&reporter, 3, 10, "cat", "ls\0two\0x", 9, 0);
	send_exec(&reporter, 4, 10, "cat", "cat\0one\0two", 12, -2);
	test__equal("regex: name and arguments match", outcome.recorded[EXECSNOOP_EXEC], 1);
	test__equal("regex: the others are filtered",
		    outcome.counted[EXECSNOOP_EXEC][FATE_FILTERED], 2);
	test__equal("regex: failed calls, too", outcome.recorded[EXECSNOOP_FAILED], 1);
	send_exit(&reporter, 1, 20, "other", true);
	send_exit(&reporter, 2, 20, "ls", true);
	send_exit(&reporter, 7, 20, "ls", true);
	test__equal("regex: the exit of what was shown is shown", outcome.recorded[EXECSNOOP_EXIT],
		    1);
	test__equal("regex: no other exit is, nor one with arguments that are not known",
		    outcome.counted[EXECSNOOP_EXIT][FATE_FILTERED], 2);
	reporter__close(&reporter);
	regfree(&options.line.regex);
	options.line.given = false;
	reporter = open_reporter(&options);
	send_exit(&reporter, 7, 20, "ls", true);
	send_exit(&reporter, 8, 20, "ps", true);
	test__equal("regex: of a command from before the run the name is known",
		    outcome.recorded[EXECSNOOP_EXIT], 1);
	reporter__close(&reporter);
	regfree(&options.name.regex);
}

static void test_cut(void)
{
	struct execsnoop_options options = {
		.exits = true,
		.max_args = { true, 2 },
		.max_bytes = { true, 5 },
	};
	struct reporter reporter;

	set_regex(&options.line, "end");
	reporter = open_reporter(&options);
	send_exec(&reporter, 1, 10, "a", "ab\0cd\0ef\0end", 13, 0);
	test__same("cut: by both limits, after -l has looked", outcome.text, "ab c");
	test__equal("cut: and told", find("args_cut")->number, 8);
	send_exit(&reporter, 1, 20, "a", true);
	test__equal("cut: at the exit, too", find("args_cut")->number, 8);
	reporter__close(&reporter);
	regfree(&options.line.regex);
}

static void test_long_arguments(void)
{
	struct execsnoop_options options = { .exits = true };
	struct reporter reporter = open_reporter(&options);
	char *args = calloc(1, 10000);

	send_exec(&reporter, 1, 10, "a", args, 10000, 0);
	test__equal("exit: the exec has all its arguments", find("args")->words.size, 10000);
	send_exit(&reporter, 1, 20, "a", true);
	test__equal("exit: arguments are cut to what is kept", find("args")->words.size,
		    REPORTER_ARGS_KEPT);
	test__equal("exit: and what was cut is told", find("args_cut")->number,
		    10000 - REPORTER_ARGS_KEPT);
	free(args);
	reporter__close(&reporter);
}

static void check_fates(const char *name, enum execsnoop_kind kind, unsigned int recorded,
			unsigned int filtered, unsigned int in_flight, unsigned int no_end)
{
	const unsigned int *counted = outcome.counted[kind];
	unsigned int seen = outcome.recorded[kind] + counted[FATE_RECORDED];

	test__check(seen == recorded && counted[FATE_FILTERED] == filtered &&
			    counted[FATE_IN_FLIGHT] == in_flight && counted[FATE_NO_END] == no_end,
		    name, "saw %u recorded, %u filtered, %u in flight, %u without end", seen,
		    counted[FATE_FILTERED], counted[FATE_IN_FLIGHT], counted[FATE_NO_END]);
}

static void test_lifetimes(void)
{
	struct execsnoop_options options = {
		.min_duration = { true, 2 * MS },
		.max_duration = { true, 10 * MS },
	};
	struct reporter reporter = open_reporter(&options);

	send_exec(&reporter, 1, 100 * MS, "a", "a\0b", 4, 0);
	check_fates("lifetime: a command is held back", EXECSNOOP_EXEC, 0, 0, 0, 0);
	send_exit(&reporter, 1, 110 * MS, "a", true);
	check_fates("lifetime: at most, and just", EXECSNOOP_EXEC, 1, 0, 0, 0);
	check_fates("lifetime: exits are no events of their own", EXECSNOOP_EXIT, 0, 0, 0, 0);
	test__same("lifetime: the record is of its end", outcome.type->name, "exit");
	test__equal("lifetime: with its duration", find("duration_ns")->number, 10 * MS);
	test__same("lifetime: and its arguments", outcome.text, "a b");
	send_exec(&reporter, 1, 200 * MS, "a", "a", 2, 0);
	send_exit(&reporter, 1, 210 * MS + 1, "a", true);
	send_exec(&reporter, 1, 300 * MS, "a", "a", 2, 0);
	send_exit(&reporter, 1, 302 * MS - 1, "a", true);
	check_fates("lifetime: outside it is filtered", EXECSNOOP_EXEC, 1, 2, 0, 0);

	send_exec(&reporter, 2, 400 * MS, "first", "first", 6, 0);
	send_exec(&reporter, 2, 405 * MS, "second", "second", 7, 0);
	check_fates("lifetime: the next exec is an end, too", EXECSNOOP_EXEC, 2, 2, 0, 0);
	test__same("lifetime: of the command before it", outcome.text, "first");
	test__same("lifetime: its record is the exec's", outcome.type->name, "exec");
	test__equal("lifetime: with a duration", find("duration_ns")->number, 5 * MS);
	send_exit(&reporter, 2, 500 * MS, "second", true);
	check_fates("lifetime: of the second from its own exec on", EXECSNOOP_EXEC, 2, 3, 0, 0);

	send_exit(&reporter, 7, 500 * MS, "before the run", true);
	send_exit(&reporter, 8, 500 * MS, "never executed", false);
	check_fates("lifetime: what was not seen to begin is no matter", EXECSNOOP_EXEC, 2, 3, 0,
		    0);
	send_exec(&reporter, 9, 600 * MS, "a", "a", 2, -2);
	check_fates("lifetime: a failed call has none and is shown", EXECSNOOP_FAILED, 1, 0, 0, 0);

	send_exec(&reporter, (__u32)getpid(), 700 * MS, "lives", "a", 2, 0);
	send_exec(&reporter, 4194303, 700 * MS, "gone", "a", 2, 0);
	reporter__settle(&reporter, true);
	check_fates("lifetime: at the end it is in flight, or its end was lost", EXECSNOOP_EXEC, 2,
		    3, 1, 1);
	reporter__close(&reporter);

	reporter = open_reporter(&options);
	send_exec(&reporter, 4194303, 700 * MS, "ended just now", "a", 2, 0);
	reporter__settle(&reporter, false);
	check_fates("lifetime: where no end was lost, all are in flight", EXECSNOOP_EXEC, 0, 0, 1,
		    0);
	reporter__close(&reporter);
}

static void test_lifetimes_with_exits(void)
{
	struct execsnoop_options options = { .exits = true, .max_duration = { true, 10 * MS } };
	struct reporter reporter = open_reporter(&options);
	char *args = calloc(1, 10000);

	send_exec(&reporter, 1, 100 * MS, "a", args, 10000, 0);
	send_exit(&reporter, 1, 105 * MS, "a", true);
	test__equal("lifetime: no record before has shown the arguments, so all are there",
		    find("args")->words.size, 10000);
	free(args);
	send_exec(&reporter, 1, 200 * MS, "a", "a", 2, 0);
	send_exit(&reporter, 1, 220 * MS, "a", true);
	send_exit(&reporter, 2, 220 * MS, "before the run", true);
	send_exit(&reporter, 3, 3 + 10 * MS, "short fork", false);
	check_fates("lifetime and exits: one record for both", EXECSNOOP_EXEC, 1, 1, 0, 0);
	check_fates("lifetime and exits: an exit is recorded with its command", EXECSNOOP_EXIT, 2,
		    2, 0, 0);
	test__equal("lifetime and exits: one line for each",
		    outcome.recorded[EXECSNOOP_EXIT] + outcome.recorded[EXECSNOOP_EXEC], 2);
	reporter__close(&reporter);
}

static void test_forks(void)
{
	struct execsnoop_options options = { .forks = true };
	struct reporter reporter = open_reporter(&options);

	send_exec(&reporter, 1, 100 * MS, "sh", "sh\0script", 10, 0);
	send_fork_end(&reporter, 5, 1, 110 * MS);
	check_fates("forks: the end of one is recorded", EXECSNOOP_EXIT, 1, 0, 0, 0);
	test__check(!find("execed")->truth && find("parent_args")->kind == VALUE_WORDS &&
			    !strcmp(find("parent_args")->words.data, "sh"),
		    "forks: with the command of its parent", "it is not there");
	send_exit(&reporter, 1, 120 * MS, "sh", true);
	send_exit(&reporter, 9, 120 * MS, "before the run", true);
	check_fates("forks: without -e other ends are filtered", EXECSNOOP_EXIT, 1, 2, 0, 0);
	reporter__close(&reporter);
}

static void test_summary(void)
{
	struct execsnoop_options options = { .summary_only = true, .fails = true };
	struct reporter reporter = open_reporter(&options);

	for (int i = 0; i < 3; i++) {
		send_exec(&reporter, 1, 100 * MS, "a", "a", 2, -2);
		send_exec(&reporter, 1, 200 * MS, "a", "a", 2, 0);
		send_exit(&reporter, 1, 201 * MS, "a", true);
	}
	test__equal("summary: alone, there are no records",
		    outcome.recorded[EXECSNOOP_EXEC] + outcome.recorded[EXECSNOOP_EXIT], 0);
	check_fates("summary: but all is recorded: execs", EXECSNOOP_EXEC, 3, 0, 0, 0);
	check_fates("summary: failed calls", EXECSNOOP_FAILED, 3, 0, 0, 0);
	check_fates("summary: exits", EXECSNOOP_EXIT, 3, 0, 0, 0);
	test__equal("summary: it is made", -reporter__summarize(&reporter), 0);
	test__equal("summary: of one row", outcome.nr_rows, 1);
	test__equal("summary: with the execs", find("count")->number, 3);
	test__equal("summary: with the failed calls", find("failed")->number, 3);
	test__equal("summary: with the lifetimes", find("sum_ns")->number, 3 * MS);
	reporter__close(&reporter);
}

int main(void)
{
	test_lifetimes();
	test_lifetimes_with_exits();
	test_forks();
	test_summary();
	test_regex();
	test_cut();
	test_long_arguments();
	return test__done();
}
