// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "reporter.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "event.h"
#include "run/log.h"
#include "summary.h"

int reporter__open(struct reporter *reporter)
{
	const struct execsnoop_options *options = reporter->options;
	bool summary = options->summary || options->summary_only;

	if (options->cgroup_name)
		groups__learn(&reporter->groups);
	if (execsnoop_options__need_ends(options)) {
		reporter->commands = commands__new();
		if (!reporter->commands)
			return log_error(ENOMEM, NULL, "cannot prepare the report");
	}
	if (summary) {
		reporter->summary = summary__new(options->max_keys.given ? options->max_keys.count :
									   SUMMARY_KEYS_DEFAULT);
		if (!reporter->summary)
			return log_error(ENOMEM, NULL, "cannot prepare the summary");
	}
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

/* The path of the control group, if it is asked for and known. */
static const char *reporter__cgroup(struct reporter *reporter,
				    const struct execsnoop_process *process)
{
	return reporter->options->cgroup_name ?
		       groups__path(&reporter->groups, process->cgroup_id) :
		       NULL;
}

static bool reporter__wants_lifetime(const struct reporter *reporter, uint64_t lifetime_ns)
{
	const struct execsnoop_options *options = reporter->options;

	return (!options->min_duration.given || lifetime_ns >= options->min_duration.ns) &&
	       (!options->max_duration.given || lifetime_ns <= options->max_duration.ns);
}

/* An event of the kind is in the report: by this record, or in the summary alone. */
static int reporter__record(struct reporter *reporter, enum execsnoop_kind kind,
			    const struct record *record)
{
	if (!reporter->options->summary_only)
		return reporter->record(reporter->ctx, kind, record);
	reporter->count(reporter->ctx, kind, FATE_RECORDED);
	return 0;
}

static int reporter__add(struct reporter *reporter, const struct exec_event *event)
{
	if (reporter->summary && summary__add(reporter->summary, event))
		return log_error(ENOMEM, NULL, "cannot add a command to the summary");
	return 0;
}

static int reporter__add_end(struct reporter *reporter, const struct exec_event *event,
			     const struct execsnoop_exit *exit, uint64_t lifetime_ns)
{
	struct summary_end end = { .lifetime_ns = lifetime_ns };

	if (exit) {
		end.cpu_known = exit->times_known;
		end.cpu_ns = exit->runtime_ns;
	}
	if (reporter->summary && summary__end(reporter->summary, event, &end))
		return log_error(ENOMEM, NULL, "cannot add a command to the summary");
	return 0;
}

static void reporter__cut(const struct reporter *reporter, struct exec_event *event)
{
	if (reporter->options->max_args.given)
		exec_event__cut_args(event, reporter->options->max_args.count);
	if (reporter->options->max_bytes.given)
		exec_event__cut_bytes(event, reporter->options->max_bytes.count);
}

/* A command whose end was lost, and another process has its id by now. */
static void reporter__lose(struct reporter *reporter, struct exec_event *exec)
{
	if (exec && exec->wanted && execsnoop_options__hold_back(reporter->options))
		reporter->count(reporter->ctx, EXECSNOOP_EXEC, FATE_NO_END);
	free(exec);
}

/* A command that the next exec of its process has ended. */
static int reporter__replaced(struct reporter *reporter, struct exec_event *exec, uint64_t time_ns)
{
	uint64_t lifetime_ns = time_ns - exec->process.time_ns;
	bool held = execsnoop_options__hold_back(reporter->options);
	struct record_values values;
	struct record record;
	int err = 0;

	if (!exec->wanted)
		return 0;
	if (held && !reporter__wants_lifetime(reporter, lifetime_ns)) {
		reporter->count(reporter->ctx, EXECSNOOP_EXEC, FATE_FILTERED);
		return 0;
	}
	if (held) {
		exec->ended_ns = time_ns;
		record = exec__record(exec, reporter__cgroup(reporter, &exec->process),
				      reporter->times, &values);
		err = reporter__record(reporter, EXECSNOOP_EXEC, &record);
		if (!err)
			err = reporter__add(reporter, exec);
	}
	return err ? err : reporter__add_end(reporter, exec, NULL, lifetime_ns);
}

/* Keeps a command until its end; all of it, if no record has shown it yet. */
static int reporter__remember(struct reporter *reporter, const struct exec_event *event)
{
	struct exec_event kept = *event;
	struct exec_event *copy;

	if (!event->wanted || !execsnoop_options__hold_back(reporter->options))
		exec_event__cut_bytes(&kept, REPORTER_ARGS_KEPT);
	copy = exec_event__copy(&kept);
	if (!copy || commands__begin(reporter->commands, copy)) {
		free(copy);
		return log_error(ENOMEM, NULL, "cannot remember a command");
	}
	return 0;
}

/* Ends what the process ran before, and keeps what it runs now. */
static int reporter__succeed(struct reporter *reporter, const struct exec_event *event)
{
	struct exec_event *stale, *before;
	int err = 0;

	before = commands__end(reporter->commands, &event->process, &stale);
	reporter__lose(reporter, stale);
	if (before)
		err = reporter__replaced(reporter, before, event->process.time_ns);
	free(before);
	return err ? err : reporter__remember(reporter, event);
}

/* Leaves of the environment what is asked for. 0 or -ENOMEM, reported. */
static int reporter__pick_env(struct reporter *reporter, struct exec_event *event)
{
	const struct word_list *names = &reporter->options->env;

	if (!names->nr)
		return 0;
	if (event->env.size > reporter->env_room) {
		char *env = realloc(reporter->env, event->env.size);

		if (!env)
			return log_error(ENOMEM, NULL, "cannot look at an environment");
		reporter->env = env;
		reporter->env_room = event->env.size;
	}
	exec_event__pick_env(event, names->items, names->nr, reporter->env);
	return 0;
}

static int reporter__exec(struct reporter *reporter, struct exec_event *event)
{
	enum execsnoop_kind kind = event->process.kind;
	bool held = kind == EXECSNOOP_EXEC && execsnoop_options__hold_back(reporter->options);
	struct record_values values;
	struct record record;
	int err;

	event->wanted = reporter__wants(reporter, event, &err);
	reporter__cut(reporter, event);
	if (!err)
		err = reporter__pick_env(reporter, event);
	if (!err && reporter->commands && kind == EXECSNOOP_EXEC)
		err = reporter__succeed(reporter, event);
	if (err)
		return err;
	if (!event->wanted)
		reporter->count(reporter->ctx, kind, FATE_FILTERED);
	if (!event->wanted || held)
		return 0;
	record = exec__record(event, reporter__cgroup(reporter, &event->process), reporter->times,
			      &values);
	err = reporter__record(reporter, kind, &record);
	return err ? err : reporter__add(reporter, event);
}

static void reporter__count_exit(struct reporter *reporter, enum event_fate fate)
{
	if (execsnoop_options__count_exits(reporter->options))
		reporter->count(reporter->ctx, EXECSNOOP_EXIT, fate);
}

/* The end of a command that was seen to begin. */
static int reporter__ended(struct reporter *reporter, const struct execsnoop_exit *exit,
			   const struct exec_event *exec)
{
	uint64_t lifetime_ns = exit__lifetime_ns(exit, exec);
	bool held = execsnoop_options__hold_back(reporter->options);
	bool inside = !held || reporter__wants_lifetime(reporter, lifetime_ns);
	struct record_values values;
	struct record record;
	int err = 0;

	if (!exec->wanted || !inside) {
		if (exec->wanted)
			reporter->count(reporter->ctx, EXECSNOOP_EXEC, FATE_FILTERED);
		reporter__count_exit(reporter, FATE_FILTERED);
		return 0;
	}
	record = exit__record(exit, exec, NULL, reporter__cgroup(reporter, &exit->process),
			      reporter->times, &values);
	if (held) {
		/* One record for both. */
		reporter__count_exit(reporter, FATE_RECORDED);
		err = reporter__record(reporter, EXECSNOOP_EXEC, &record);
		if (!err)
			err = reporter__add(reporter, exec);
	} else if (reporter->options->exits) {
		err = reporter__record(reporter, EXECSNOOP_EXIT, &record);
	} else {
		reporter__count_exit(reporter, reporter->summary ? FATE_RECORDED : FATE_FILTERED);
	}
	return err ? err : reporter__add_end(reporter, exec, exit, lifetime_ns);
}

/* Of a process that never executed, the life is known; of a command from before the run, it is
 * not, nor are its arguments. */
static bool reporter__wants_unseen(const struct reporter *reporter,
				   const struct execsnoop_exit *exit)
{
	const struct execsnoop_options *options = reporter->options;

	if (exit->execed ? !options->exits : !options->exits && !options->forks)
		return false;
	if (options->line.given || !reporter__wants_name(reporter, &exit->process))
		return false;
	if (!execsnoop_options__hold_back(options))
		return true;
	return !exit->execed && reporter__wants_lifetime(reporter, exit__lifetime_ns(exit, NULL));
}

/* The end of a process whose exec was not seen, or which made none. */
static int reporter__ended_unseen(struct reporter *reporter, const struct execsnoop_exit *exit)
{
	const struct exec_event fork = { .process = exit->process };
	const struct exec_event *parent = NULL;
	struct record_values values;
	struct record record;
	int err;

	if (!reporter__wants_unseen(reporter, exit)) {
		reporter__count_exit(reporter, FATE_FILTERED);
		return 0;
	}
	if (!exit->execed)
		parent = commands__running(reporter->commands, exit->process.ppid);
	record = exit__record(exit, NULL, parent, reporter__cgroup(reporter, &exit->process),
			      reporter->times, &values);
	err = reporter__record(reporter, EXECSNOOP_EXIT, &record);
	if (err || exit->execed || !reporter->options->forks)
		return err;
	err = reporter__add(reporter, &fork);
	return err ? err : reporter__add_end(reporter, &fork, exit, exit__lifetime_ns(exit, NULL));
}

static int reporter__exit(struct reporter *reporter, const struct execsnoop_exit *exit)
{
	struct exec_event *stale;
	struct exec_event *exec = commands__end(reporter->commands, &exit->process, &stale);
	int err;

	reporter__lose(reporter, stale);
	err = exec ? reporter__ended(reporter, exit, exec) : reporter__ended_unseen(reporter, exit);
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

void reporter__settle(struct reporter *reporter, bool ends_lost)
{
	struct exec_event *exec;

	if (!reporter->commands || !execsnoop_options__hold_back(reporter->options))
		return;
	while ((exec = commands__take(reporter->commands))) {
		bool gone = ends_lost && kill((pid_t)exec->process.pid, 0) && errno == ESRCH;

		if (exec->wanted)
			reporter->count(reporter->ctx, EXECSNOOP_EXEC,
					gone ? FATE_NO_END : FATE_IN_FLIGHT);
		free(exec);
	}
}

int reporter__summarize(struct reporter *reporter)
{
	const struct execsnoop_options *options = reporter->options;
	size_t top = options->top.given ? options->top.count : SIZE_MAX, nr_rows;
	int err;

	err = summary__each(reporter->summary, options->sort, top, reporter->row, reporter->ctx,
			    &nr_rows);
	if (err == -ENOMEM)
		return log_error(ENOMEM, NULL, "cannot make the summary");
	if (!err && nr_rows > top)
		log_info("the summary shows %zu of %zu rows", top, nr_rows);
	return err;
}

void reporter__close(struct reporter *reporter)
{
	commands__free(reporter->commands);
	reporter->commands = NULL;
	summary__free(reporter->summary);
	reporter->summary = NULL;
	free(reporter->env);
	reporter->env = NULL;
	groups__free(&reporter->groups);
}
