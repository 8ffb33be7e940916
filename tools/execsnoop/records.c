// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "records.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Who and when: the first fields of both kinds of record. */
#define FIELDS_OF_A_PROCESS                                                                        \
	FIELD_TIME("Wall clock of the event, since the epoch."), FIELD_SINCE_START,                \
		FIELD_COLUMN("cpu", VALUE_UNSIGNED, "CPU", 3, "The CPU of the event."),            \
		FIELD_COLUMN("uid", VALUE_UNSIGNED, "UID", -7, "Real user id."),                   \
		FIELD_COLUMN("pcomm", VALUE_BYTES, "PCOMM", -15,                                   \
			     "Command name of the parent process."),                               \
		FIELD_COLUMN("comm", VALUE_BYTES, "COMM", -15, "Command name of the process."),    \
		FIELD_COLUMN("pid", VALUE_UNSIGNED, "PID", -7, "Process id."),                     \
		FIELD_REQUIRED("tid", VALUE_UNSIGNED,                                              \
			       "Thread that called exec, or that ended last."),                    \
		FIELD_COLUMN("ppid", VALUE_UNSIGNED, "PPID", -7, "Process id of the parent."),     \
		FIELD_REQUIRED("ns_pid", VALUE_UNSIGNED, "Process id in its own PID namespace."),  \
		FIELD_REQUIRED("cgroup_id", VALUE_UNSIGNED, "Id of its cgroup (cgroup2)."),        \
		OPTIONAL("cgroup", VALUE_BYTES, UNIT_NONE, "CGROUP", -20,                          \
			 "Path of that group (--cgroup-name); absent if not known.")
#define NR_FIELDS_OF_A_PROCESS 12

#define OPTIONAL(field_name, field_kind, field_unit, heading, least_width, text)                   \
	{                                                                                          \
		.name = field_name, .kind = field_kind, .unit = field_unit, .column = heading,     \
		.width = least_width, .meaning = text                                              \
	}

static const struct field ancestor_fields[] = {
	FIELD_REQUIRED("pid", VALUE_UNSIGNED, "Process id."),
	FIELD_REQUIRED("comm", VALUE_BYTES, "Command name."),
};

const struct record_type ancestor_record_type = {
	.name = "ancestor",
	.meaning = "A process above another one.",
	.fields = ancestor_fields,
	.nr_fields = sizeof(ancestor_fields) / sizeof(ancestor_fields[0]),
};

/* The command itself: the last fields of both kinds of record. */
#define FIELDS_OF_A_COMMAND                                                                        \
	{ .name = "ancestors",                                                                     \
	  .kind = VALUE_RECORDS,                                                                   \
	  .meaning = "The processes above it, at its exec (--ancestors).",                         \
	  .of = &ancestor_record_type },                                                           \
		{ .name = "chain",                                                                 \
		  .kind = VALUE_BYTES,                                                             \
		  .column = "ANCESTORS",                                                           \
		  .width = -30,                                                                    \
		  .text_only = true,                                                               \
		  .meaning = "ancestors, each with its process id." },                             \
		OPTIONAL("cwd", VALUE_BYTES, UNIT_NONE, "CWD", -20,                                \
			 "Working directory at the exec, as the process sees it (--cwd)."),        \
		OPTIONAL("env", VALUE_WORDS, UNIT_NONE, "ENV", -20,                                \
			 "The variables asked for (--env), as NAME=value."),                       \
		OPTIONAL("filename", VALUE_BYTES, UNIT_NONE, NULL, 0,                              \
			 "Path given to exec; absent if it could not be read."),                   \
		OPTIONAL("args", VALUE_WORDS, UNIT_NONE, "ARGS", -4,                               \
			 "Arguments, the program's name first; null: one that could not be read. " \
			 "Of an exit, the first 4096 bytes."),                                     \
		OPTIONAL("args_unreadable", VALUE_NUMBERS, UNIT_NONE, NULL, 0,                     \
			 "Which arguments could not be read, from 0; of failed calls only."),      \
		OPTIONAL("args_cut", VALUE_UNSIGNED, UNIT_NONE, NULL, 0,                           \
			 "Bytes of arguments left out at the end; absent if not known.")
#define NR_FIELDS_OF_A_COMMAND 8

#define RUN_FIELD(text)                                                                            \
	{                                                                                          \
		.name = "run", .kind = VALUE_BYTES, .column = "RUN(ms)", .width = 9,               \
		.text_only = true, .meaning = text                                                 \
	}
#define STATUS_FIELD(text)                                                                         \
	{                                                                                          \
		.name = "status", .kind = VALUE_BYTES, .column = "STATUS", .width = -7,            \
		.text_only = true, .meaning = text                                                 \
	}

static const struct field exec_fields[] = {
	FIELDS_OF_A_PROCESS,
	FIELD_REQUIRED("ret", VALUE_SIGNED, "0, or the negative errno of a call that failed."),
	OPTIONAL("error", VALUE_BYTES, UNIT_NONE, NULL, 0, "Name of the errno."),
	{ .name = "result",
	  .kind = VALUE_BYTES,
	  .column = "RET",
	  .width = -3,
	  .text_only = true,
	  .meaning = "0, or error with a minus before it." },
	OPTIONAL("duration_ns", VALUE_UNSIGNED, UNIT_NONE, NULL, 0,
		 "With a limit on it: time until the exec of the process that ended this one."),
	RUN_FIELD("duration_ns."),
	STATUS_FIELD("error, or \"exec\" where an exec ended it."),
	FIELDS_OF_A_COMMAND,
};

const struct record_type exec_record_type = {
	.name = "exec",
	.meaning = "A call of exec: one that succeeded, or with --fails one that failed.",
	.fields = exec_fields,
	.nr_fields = sizeof(exec_fields) / sizeof(exec_fields[0]),
};

static const struct field exit_fields[] = {
	FIELDS_OF_A_PROCESS,
	FIELD_REQUIRED("execed", VALUE_BOOL, "False: forked and never exec'ed."),
	OPTIONAL("duration_ns", VALUE_UNSIGNED, UNIT_NONE, NULL, 0,
		 "Time since its last exec; absent if that was before the run."),
	FIELD_REQUIRED("age_ns", VALUE_UNSIGNED, "Time since its fork."),
	OPTIONAL("exit_code", VALUE_UNSIGNED, UNIT_NONE, NULL, 0, "Exit code; absent if killed."),
	OPTIONAL("signal", VALUE_BYTES, UNIT_NONE, NULL, 0, "Name of the signal that killed it."),
	OPTIONAL("core_dumped", VALUE_BOOL, UNIT_NONE, NULL, 0, "With signal: core was dumped."),
	OPTIONAL("user_ns", VALUE_UNSIGNED, UNIT_NONE, NULL, 0, "CPU time in user mode."),
	OPTIONAL("system_ns", VALUE_UNSIGNED, UNIT_NONE, NULL, 0, "CPU time in the kernel."),
	OPTIONAL("max_rss_bytes", VALUE_UNSIGNED, UNIT_KIBIBYTES, "RSS(KiB)", 8,
		 "Most memory resident at one time, as getrusage(2) tells it."),
	RUN_FIELD("duration_ns, or \"<\" and age_ns if the exec was before the run."),
	STATUS_FIELD("exit_code or signal."),
	{ .name = "cpu_ns",
	  .kind = VALUE_UNSIGNED,
	  .unit = UNIT_MILLISECONDS,
	  .column = "CPU(ms)",
	  .width = 8,
	  .text_only = true,
	  .meaning = "user_ns and system_ns together." },
	FIELDS_OF_A_COMMAND,
	OPTIONAL(
		"parent_args", VALUE_WORDS, UNIT_NONE, NULL, 0,
		"Of a process that never exec'ed: arguments of its parent, if it exec'ed in the run."),
};

const struct record_type exit_record_type = {
	.name = "exit",
	.meaning = "The end of a process.",
	.fields = exit_fields,
	.nr_fields = sizeof(exit_fields) / sizeof(exit_fields[0]),
};

static struct value *process__values(const struct execsnoop_process *process, const char *cgroup,
				     const struct record_times *times, struct value *value)
{
	*value++ = value__unsigned(clock__wall_ns(&times->clock, process->time_ns));
	*value++ = value__unsigned(process->time_ns - times->started_ns);
	*value++ = value__unsigned(process->cpu);
	*value++ = value__unsigned(process->uid);
	*value++ = value__name(process->pcomm, sizeof(process->pcomm));
	*value++ = value__name(process->comm, sizeof(process->comm));
	*value++ = value__unsigned(process->pid);
	*value++ = value__unsigned(process->tid);
	*value++ = value__unsigned(process->ppid);
	*value++ = value__unsigned(process->ns_pid);
	*value++ = value__unsigned(process->cgroup_id);
	*value++ = cgroup ? value__text(cgroup) : (struct value){};
	return value;
}

void ancestors__values(const struct execsnoop_ancestor *ancestors, size_t nr,
		       struct ancestors_values *values, struct value *list, struct value *text)
{
	size_t used = 0;

	*list = *text = (struct value){};
	for (size_t i = 0; i < nr; i++) {
		struct value comm = value__name(ancestors[i].comm, sizeof(ancestors[i].comm));

		values->values[i][0] = value__unsigned(ancestors[i].pid);
		values->values[i][1] = comm;
		values->records[i] = (struct record){ &ancestor_record_type, values->values[i] };
		used += snprintf(values->text + used, sizeof(values->text) - used, "%s%.*s(%u)",
				 i ? " < " : "", (int)comm.bytes.size, comm.bytes.data,
				 ancestors[i].pid);
	}
	if (!nr)
		return;
	*list = value__records(values->records, nr);
	*text = value__bytes(values->text, used);
}

static struct value *text__value(struct text text, struct value *value)
{
	*value++ = text.data ? value__bytes(text.data, text.size) : (struct value){};
	return value;
}

/* Absent without an exec. */
static struct value *command__values(const struct exec_event *exec, struct record_values *values,
				     struct value *value)
{
	size_t nr, cwd_size;

	if (!exec) {
		for (int i = 0; i < NR_FIELDS_OF_A_COMMAND; i++)
			*value++ = (struct value){};
		return value;
	}
	nr = exec_event__unreadable(exec, values->unreadable);
	ancestors__values(exec->ancestors, exec->nr_ancestors, &values->ancestors, &value[0],
			  &value[1]);
	value += 2;
	cwd_size = exec_event__cwd(exec, values->cwd);
	*value++ = cwd_size ? value__bytes(values->cwd, cwd_size) : (struct value){};
	*value++ = exec->env.size ? value__words(exec->env.data, exec->env.size) : (struct value){};
	value = text__value(exec->filename, value);
	*value++ = (struct value){
		.kind = VALUE_WORDS,
		.words = { exec->args.data, exec->args.size, values->unreadable, nr,
			   exec->args_cut },
	};
	*value++ = nr ? value__numbers(values->unreadable, nr) : (struct value){};
	*value++ = exec->args_cut != WORDS_CUT_UNKNOWN ? value__unsigned(exec->args_cut) :
							 (struct value){};
	return value;
}

const char *error__name(int number, char *text, size_t size)
{
	const char *name = strerrorname_np(number);

	if (name)
		snprintf(text, size, "%s", name);
	else
		snprintf(text, size, "error %d", number);
	return text;
}

/* Milliseconds with three decimals. */
static struct value run__value(const char *before, uint64_t ns, struct record_values *values)
{
	snprintf(values->run_text, sizeof(values->run_text), "%s%" PRIu64 ".%03" PRIu64, before,
		 ns / 1000000, ns / 1000 % 1000);
	return value__name(values->run_text, sizeof(values->run_text));
}

/* duration_ns, run */
static struct value *exec__end_values(const struct exec_event *exec, struct record_values *values,
				      struct value *value)
{
	uint64_t duration_ns = exec->ended_ns - exec->process.time_ns;

	*value++ = exec->ended_ns ? value__unsigned(duration_ns) : (struct value){};
	*value++ = exec->ended_ns ? run__value("", duration_ns, values) : (struct value){};
	return value;
}

struct record exec__record(const struct exec_event *exec, const char *cgroup,
			   const struct record_times *times, struct record_values *values)
{
	struct value *value = process__values(&exec->process, cgroup, times, values->values);
	struct value status = {};

	*value++ = value__signed(exec->ret);
	if (exec->ret) {
		values->status_text[0] = '-';
		error__name(-exec->ret, values->status_text + 1, sizeof(values->status_text) - 1);
		status = value__name(values->status_text + 1, sizeof(values->status_text) - 1);
	} else {
		snprintf(values->status_text, sizeof(values->status_text), "0");
	}
	*value++ = status;
	*value++ = value__name(values->status_text, sizeof(values->status_text));
	value = exec__end_values(exec, values, value);
	*value++ = exec->ended_ns ? value__bytes("exec", 4) : status;
	command__values(exec, values, value);
	return (struct record){ &exec_record_type, values->values };
}

void cpu_time__split(uint64_t runtime_ns, uint64_t utime_ns, uint64_t stime_ns, uint64_t *user_ns,
		     uint64_t *system_ns)
{
	if (!stime_ns)
		*system_ns = 0;
	else if (!utime_ns)
		*system_ns = runtime_ns;
	else
		*system_ns = (unsigned __int128)stime_ns * runtime_ns / (stime_ns + utime_ns);
	*user_ns = runtime_ns - *system_ns;
}

const char *signal__name(int number, char *text, size_t size)
{
	const char *name = sigabbrev_np(number);

	if (name)
		snprintf(text, size, "SIG%s", name);
	else if (number >= SIGRTMIN && number <= SIGRTMAX)
		snprintf(text, size, "SIGRTMIN+%d", number - SIGRTMIN);
	else
		snprintf(text, size, "signal %d", number);
	return text;
}

/* exit_code, signal, core_dumped; text gets what the STATUS column shows. */
static struct value *exit__status_values(int status, char *text, size_t size, struct value *value)
{
	if (WIFSIGNALED(status)) {
		signal__name(WTERMSIG(status), text, size);
		*value++ = (struct value){};
		*value++ = value__name(text, size);
		*value++ = value__bool(WCOREDUMP(status));
		return value;
	}
	snprintf(text, size, "%d", WEXITSTATUS(status));
	*value++ = value__unsigned(WEXITSTATUS(status));
	*value++ = (struct value){};
	*value++ = (struct value){};
	return value;
}

uint64_t exit__lifetime_ns(const struct execsnoop_exit *exit, const struct exec_event *exec)
{
	return exit->process.time_ns - (exec ? exec->process.time_ns : exit->process.fork_ns);
}

struct record exit__record(const struct execsnoop_exit *exit, const struct exec_event *exec,
			   const struct exec_event *parent, const char *cgroup,
			   const struct record_times *times, struct record_values *values)
{
	struct value *value = process__values(&exit->process, cgroup, times, values->values);
	uint64_t age_ns = exit->process.time_ns - exit->process.fork_ns;
	uint64_t run_ns = exit__lifetime_ns(exit, exec);
	uint64_t user_ns, system_ns;

	cpu_time__split(exit->runtime_ns, exit->utime_ns, exit->stime_ns, &user_ns, &system_ns);
	*value++ = value__bool(exit->execed);
	*value++ = exec ? value__unsigned(run_ns) : (struct value){};
	*value++ = value__unsigned(age_ns);
	value = exit__status_values(exit->status, values->status_text, sizeof(values->status_text),
				    value);
	*value++ = exit->times_known ? value__unsigned(user_ns) : (struct value){};
	*value++ = exit->times_known ? value__unsigned(system_ns) : (struct value){};
	*value++ = exit->max_rss_pages ?
			   value__unsigned(exit->max_rss_pages * sysconf(_SC_PAGESIZE)) :
			   (struct value){};
	*value++ = run__value(exec || !exit->execed ? "" : "<", run_ns, values);
	*value++ = value__name(values->status_text, sizeof(values->status_text));
	*value++ = exit->times_known ? value__unsigned(user_ns + system_ns) : (struct value){};
	value = command__values(exec, values, value);
	*value++ = parent ? value__words(parent->args.data, parent->args.size) : (struct value){};
	return (struct record){ &exit_record_type, values->values };
}
