// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "reporter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "event.h"
#include "run/log.h"

bool execsnoop_options__need_ends(const struct execsnoop_options *options)
{
	return options->exits;
}

int reporter__open(struct reporter *reporter)
{
	if (!execsnoop_options__need_ends(reporter->options))
		return 0;
	reporter->commands = commands__new();
	if (!reporter->commands)
		return log_error(ENOMEM, NULL, "cannot prepare the report");
	return 0;
}

static bool reporter__wants_name(const struct reporter *reporter,
				 const struct execsnoop_process *process)
{
	const struct optional_regex *name = &reporter->options->name;
	char comm[EXECSNOOP_COMM_SIZE + 1] = {};

	if (!name->given)
		return true;
	memcpy(comm, process->comm, EXECSNOOP_COMM_SIZE);
	return !regexec(&name->regex, comm, 0, NULL, 0);
}

/* Whether the event is inside what -n and -l ask for; *err: -ENOMEM, reported. */
static bool reporter__wants(const struct reporter *reporter, const struct exec_event *event,
			    int *err)
{
	const struct optional_regex *line = &reporter->options->line;
	bool wanted;
	char *text;

	*err = 0;
	if (!reporter__wants_name(reporter, &event->process))
		return false;
	if (!line->given)
		return true;
	text = exec_event__line(event);
	if (!text) {
		*err = log_error(ENOMEM, NULL, "cannot look at the arguments of a command");
		return false;
	}
	wanted = !regexec(&line->regex, text, 0, NULL, 0);
	free(text);
	return wanted;
}

static void reporter__cut(const struct reporter *reporter, struct exec_event *event)
{
	if (reporter->options->max_args.given)
		exec_event__cut_args(event, reporter->options->max_args.count);
	if (reporter->options->max_bytes.given)
		exec_event__cut_bytes(event, reporter->options->max_bytes.count);
}

/* Keeps a command until its end. */
static int reporter__remember(struct reporter *reporter, const struct exec_event *event)
{
	struct exec_event kept = *event;
	struct exec_event *copy;

	exec_event__cut_bytes(&kept, REPORTER_ARGS_KEPT);
	copy = exec_event__copy(&kept);
	if (!copy || commands__begin(reporter->commands, copy)) {
		free(copy);
		return log_error(ENOMEM, NULL, "cannot remember a command");
	}
	return 0;
}

static int reporter__exec(struct reporter *reporter, struct exec_event *event)
{
	enum execsnoop_kind kind = event->process.kind;
	struct record_values values;
	struct record record;
	int err;

	event->wanted = reporter__wants(reporter, event, &err);
	reporter__cut(reporter, event);
	if (!err && reporter->commands && kind == EXECSNOOP_EXEC)
		err = reporter__remember(reporter, event);
	if (err)
		return err;
	if (!event->wanted) {
		reporter->count(reporter->ctx, kind, FATE_FILTERED);
		return 0;
	}
	record = exec__record(event, reporter->times, &values);
	return reporter->record(reporter->ctx, kind, &record);
}

/* An exit is wanted as its command was; of a command that was not seen, the name alone is known. */
static bool reporter__wants_exit(const struct reporter *reporter, const struct execsnoop_exit *exit,
				 const struct exec_event *exec)
{
	if (exec)
		return exec->wanted;
	return !reporter->options->line.given && reporter__wants_name(reporter, &exit->process);
}

static int reporter__exit(struct reporter *reporter, const struct execsnoop_exit *exit)
{
	struct exec_event *stale;
	struct exec_event *exec = commands__end(reporter->commands, &exit->process, &stale);
	struct record_values values;
	struct record record;
	int err = 0;

	free(stale);
	if (reporter__wants_exit(reporter, exit, exec)) {
		record = exit__record(exit, exec, reporter->times, &values);
		err = reporter->record(reporter->ctx, EXECSNOOP_EXIT, &record);
	} else {
		reporter->count(reporter->ctx, EXECSNOOP_EXIT, FATE_FILTERED);
	}
	free(exec);
	return err;
}

int reporter__event(struct reporter *reporter, const struct execsnoop_process *process)
{
	struct exec_event event;

	if (process->kind == EXECSNOOP_EXIT)
		return reporter__exit(reporter, (const struct execsnoop_exit *)process);
	event = exec_event__parse((const struct execsnoop_exec *)process);
	return reporter__exec(reporter, &event);
}

void reporter__close(struct reporter *reporter)
{
	commands__free(reporter->commands);
	reporter->commands = NULL;
}
