// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The fate of each event: what is filtered, recorded, joined, held back. */
#include <stdlib.h>
#include <string.h>

#include "execsnoop/reporter.h"
#include "test.h"

#define NR_KINDS 3
#define MS 1000000ULL

/* What came out of a report. */
struct outcome {
	unsigned int recorded[NR_KINDS];
	unsigned int counted[NR_KINDS][FATE_NO_END + 1];
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

static struct reporter open_reporter(const struct execsnoop_options *options)
{
	static const struct record_times times;
	struct reporter reporter = {
		.options = options,
		.times = &times,
		.record = take_record,
		.count = take_count,
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
	struct reporter reporter = open_report(&options);
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

int main(void)
{
	test_regex();
	test_cut();
	test_long_arguments();
	return test__done();
}
