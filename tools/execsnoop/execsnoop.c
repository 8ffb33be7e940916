// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* execsnoop: every process that starts, and with -e how it ends. */
#include <errno.h>
#include <stdlib.h>

#include "commands.h"
#include "execsnoop.h"
#include "output/sink.h"
#include "records.h"
#include "run/log.h"
#include "run/options.h"
#include "run/session.h"
#include "shared/filter.h"

/* Its types come from the headers above. */
#include "execsnoop.skel.h"

#define COLUMNS_MAX 16

struct execsnoop_options {
	struct common_options common;
	bool exits;
	bool quote;
	bool print_uid;
	bool print_cpu;
	bool print_pcomm;
};

struct execsnoop {
	struct execsnoop_options options;
	struct execsnoop_bpf *skel;
	struct session session;
	struct commands *commands; /* with --exits */
	const char *columns[COLUMNS_MAX];
};

#define FLAG(long_name, short_name, option_group, member, text)                                    \
	{                                                                                          \
		.name = long_name, .letter = short_name, .group = option_group,                    \
		.type = OPTION_FLAG, .offset = offsetof(struct execsnoop_options, member),         \
		.help = text                                                                       \
	}

static const struct option_row rows[] = {
	FLAG("exits", 'e', OPTION_EVENTS, exits, "Also show how each process ends"),
	FLAG("quote", 'q', OPTION_SHOW, quote,
	     "Quote every argument, also where no shell needs it"),
	FLAG("print-uid", 'U', OPTION_SHOW, print_uid, "Show the user id"),
	FLAG("print-cpu", 'C', OPTION_SHOW, print_cpu, "Show the CPU of the event"),
	FLAG("print-pcomm", 'M', OPTION_SHOW, print_pcomm, "Show the parent's command name"),
};

static const struct option_letter letters[] = {
	{ 'p', "pid" },	     { 'u', "uid" },  { 'P', "ppid" },	    { 'c', "cgroup" },
	{ 'd', "duration" }, { 'T', "time" }, { 't', "timestamp" }, {},
};

/* The exit first: no exec may be seen whose exit is not. */
enum { PROGRAM_EXIT, PROGRAM_EXEC };

static const struct attach_program programs[] = {
	[PROGRAM_EXIT] = { "execsnoop_exit", "sched_process_exit" },
	[PROGRAM_EXEC] = { "execsnoop_exec", "sched_process_exec" },
};

static const struct attach_way ways[] = {
	{ .mechanism = ATTACH_TP_BTF, .programs = programs, .nr_programs = 2 },
};

/* In the order of enum execsnoop_kind. */
static const char *const kinds[] = { "exec", "exit", NULL };

static const struct record_type *const row_types[] = { &exec_record_type, &exit_record_type, NULL };

static const struct record_type *const types[] = {
	&start_record_type, &exec_record_type, &exit_record_type, &account_record_type, NULL,
};

static const struct tool tool = {
	.options = {
		.tool = "execsnoop",
		.summary = "Show every process that starts, with its whole command line.",
		.rows = rows,
		.nr_rows = sizeof(rows) / sizeof(rows[0]),
		.letters = letters,
	},
	.question = "which commands run on this machine? One record for each successful exec, "
		    "taken at sched_process_exec\nfrom the new memory of the process; with "
		    "--exits one for the end of each process, at sched_process_exit\nof its last "
		    "thread.",
	.traced = "new commands",
	.ways = ways,
	.nr_ways = 1,
	.kinds = kinds,
	.types = types,
	.rows = row_types,
};

static int execsnoop__open(void *ctx, struct session_object *object)
{
	struct execsnoop *execsnoop = ctx;
	struct execsnoop_bpf *skel = execsnoop_bpf__open();

	if (!skel)
		return log_error(errno, NULL, "cannot open the BPF programs");
	execsnoop->skel = skel;
	*object = (struct session_object){
		.skeleton = skel->skeleton,
		.filter = (struct filter_config *)&skel->rodata->filter_config,
		.filter_values = skel->maps.filter_values,
		.filter_tree = skel->maps.filter_tree,
		.ring = skel->maps.event_ring,
		.ring_wakeup_bytes = (__u64 *)&skel->rodata->ring_wakeup_bytes,
		.counters = skel->maps.account_counters,
		.started_ns = (__u64 *)&skel->bss->run_started_ns,
	};
	return 0;
}

static void execsnoop__close(void *ctx)
{
	struct execsnoop *execsnoop = ctx;

	execsnoop_bpf__destroy(execsnoop->skel);
	execsnoop->skel = NULL;
}

static bool execsnoop__wants(void *ctx, const struct attach_program *program)
{
	struct execsnoop *execsnoop = ctx;

	return program == &programs[PROGRAM_EXEC] || execsnoop->options.exits;
}

static int execsnoop__exec(struct execsnoop *execsnoop, const struct execsnoop_exec *exec)
{
	const struct record_times times = { execsnoop->session.clock,
					    execsnoop->session.started_ns };
	struct record_values values;
	struct record record = exec__record(exec, &times, &values);

	if (execsnoop->commands && commands__begin(execsnoop->commands, exec))
		return log_error(ENOMEM, NULL, "cannot remember a command");
	return session__record(&execsnoop->session, EXECSNOOP_EXEC, &record);
}

static int execsnoop__exit(struct execsnoop *execsnoop, const struct execsnoop_exit *exit)
{
	const struct record_times times = { execsnoop->session.clock,
					    execsnoop->session.started_ns };
	struct execsnoop_exec *exec = commands__end(execsnoop->commands, &exit->process);
	struct record_values values;
	struct record record = exit__record(exit, exec, &times, &values);
	int err = session__record(&execsnoop->session, EXECSNOOP_EXIT, &record);

	free(exec);
	return err;
}

static int execsnoop__event(void *ctx, const void *data, size_t size)
{
	const struct execsnoop_process *process = data;

	(void)size; /* of the record's size class; each kind has its own sizes inside */
	return process->kind == EXECSNOOP_EXEC ? execsnoop__exec(ctx, data) :
						 execsnoop__exit(ctx, data);
}

/* The columns of the table, by what was asked for. */
static void execsnoop__choose_columns(struct execsnoop *execsnoop)
{
	const struct execsnoop_options *options = &execsnoop->options;
	const struct {
		bool shown;
		const char *field;
	} columns[COLUMNS_MAX - 1] = {
		{ options->common.time, "time_ns" },
		{ options->common.timestamp, "since_start_ns" },
		{ options->print_cpu, "cpu" },
		{ options->print_uid, "uid" },
		{ options->exits, "type" },
		{ options->print_pcomm, "pcomm" },
		{ true, "comm" },
		{ true, "pid" },
		{ true, "ppid" },
		{ !options->exits, "ret" },
		{ options->exits, "run" },
		{ options->exits, "status" },
		{ options->exits, "cpu_ns" },
		{ options->exits, "max_rss_bytes" },
		{ true, "args" },
	};
	size_t nr = 0;

	for (size_t i = 0; i < COLUMNS_MAX - 1; i++)
		if (columns[i].shown)
			execsnoop->columns[nr++] = columns[i].field;
	execsnoop->columns[nr] = NULL;
}

int main(int argc, char **argv)
{
	static struct execsnoop execsnoop;
	struct session_work work = {
		.ctx = &execsnoop,
		.open = execsnoop__open,
		.close = execsnoop__close,
		.wants = execsnoop__wants,
		.event = execsnoop__event,
		.columns = execsnoop.columns,
	};
	int err;

	if (options__parse(&tool.options, &execsnoop.options, argc, argv))
		return STATUS_USAGE;
	work.quote_words = execsnoop.options.quote;
	work.kinds = 1 << EXECSNOOP_EXEC | execsnoop.options.exits << EXECSNOOP_EXIT;
	execsnoop__choose_columns(&execsnoop);
	if (execsnoop.options.exits) {
		execsnoop.commands = commands__new();
		if (!execsnoop.commands)
			return log_error(ENOMEM, NULL, "cannot start"), STATUS_FAILED;
	}

	err = session__open(&execsnoop.session, &tool, &execsnoop.options.common, &work);
	if (!err)
		err = session__attach(&execsnoop.session);
	if (!err)
		err = session__run(&execsnoop.session);
	err = session__close(&execsnoop.session, err);
	commands__free(execsnoop.commands);
	common_options__free(&execsnoop.options.common);
	return err;
}
