// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The end of a process: one record, at its real end, with what wait(2) and getrusage(2) say. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/children.h"
#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

struct ended {
	const char *name;
	const char *role;
	const char *signal; /* its name, or NULL */
	int least_ms; /* its run takes at least so long */
	bool judge_cpu;
	bool judge_memory;
	/* The truth. */
	pid_t pid;
	int status;
	struct rusage usage;
	uint64_t from_ns;
	uint64_t to_ns;
};

static struct ended ends[] = {
	{ .name = "code 0", .role = "true" },
	{ .name = "code 3", .role = "exit 3" },
	{ .name = "code 255", .role = "exit 255" },
	{ .name = "signal 9", .role = "signal 9", .signal = "SIGKILL" },
	{ .name = "signal 11", .role = "signal 11", .signal = "SIGSEGV" },
	{ .name = "signal 15", .role = "signal 15", .signal = "SIGTERM" },
	{ .name = "abort", .role = "abort", .signal = "SIGABRT" },
	{ .name = "a first thread that ends before the process",
	  .role = "leader-gone 200 7",
	  .least_ms = 200 },
	{ .name = "a first thread with a code of its own",
	  .role = "leader-first 5 0",
	  .least_ms = 100 },
	{ .name = "a sleep of 100 ms", .role = "sleep 100", .least_ms = 100 },
	{ .name = "300 ms of user time", .role = "burn 300", .least_ms = 300, .judge_cpu = true },
	{ .name = "300 ms of system time",
	  .role = "burn-system 300",
	  .least_ms = 300,
	  .judge_cpu = true },
	{ .name = "two threads of 150 ms",
	  .role = "burn-threads 150",
	  .least_ms = 150,
	  .judge_cpu = true },
	{ .name = "64 MiB of memory", .role = "grow 65536", .judge_memory = true },
};
#define NR_ENDS (sizeof(ends) / sizeof(*ends))

static void go_to_scratch(void *ctx)
{
	(void)ctx;
	/* Where a core file may go. */
	if (chdir(scratch__path("")))
		_exit(126);
}

static void make_end(struct ended *end, const char *program)
{
	const struct workload workload = {
		.program = program,
		.role = end->role,
		.prepare = go_to_scratch,
	};

	end->from_ns = test__now_ns();
	end->pid = workload__start(&workload);
	end->status = workload__wait(end->pid, &end->usage);
	end->to_ns = test__now_ns();
}

static void check_status(const struct ended *end, const struct json_value *record)
{
	const struct json_value *core = json__get(record, "core_dumped");
	char check[128];

	if (WIFEXITED(end->status)) {
		snprintf(check, sizeof(check), "exit: %s: exit_code is wait's", end->name);
		test__equal(check, (uint64_t)record__number(record, "exit_code"),
			    (uint64_t)WEXITSTATUS(end->status));
		snprintf(check, sizeof(check), "exit: %s: no signal", end->name);
		test__check(!json__get(record, "signal") && !core, check, "there is one");
		return;
	}
	snprintf(check, sizeof(check), "exit: %s: signal by name", end->name);
	test__same(check, json__string(json__get(record, "signal")), end->signal);
	snprintf(check, sizeof(check), "exit: %s: no exit_code", end->name);
	test__check(!json__get(record, "exit_code"), check, "there is one");
	snprintf(check, sizeof(check), "exit: %s: core_dumped is wait's", end->name);
	test__check(core && core->kind == JSON_BOOL && core->truth == !!WCOREDUMP(end->status),
		    check, "wait says %d", WCOREDUMP(end->status));
}

static void check_times(const struct ended *end, const struct json_value *record)
{
	uint64_t least_ns = (uint64_t)end->least_ms * 1000000, most_ns = end->to_ns - end->from_ns;
	uint64_t duration_ns = (uint64_t)record__number(record, "duration_ns");
	uint64_t age_ns = (uint64_t)record__number(record, "age_ns");
	char check[128];

	snprintf(check, sizeof(check), "exit: %s: duration_ns is its run", end->name);
	test__check(duration_ns >= least_ns && duration_ns <= most_ns, check,
		    "expected %" PRIu64 " to %" PRIu64 ", saw %" PRIu64, least_ns, most_ns,
		    duration_ns);
	snprintf(check, sizeof(check), "exit: %s: age_ns is its life", end->name);
	test__check(age_ns >= duration_ns && age_ns <= most_ns, check,
		    "expected %" PRIu64 " to %" PRIu64 ", saw %" PRIu64, duration_ns, most_ns,
		    age_ns);
}

static int64_t as_ns(const struct timeval *time)
{
	return (int64_t)time->tv_sec * 1000000000 + (int64_t)time->tv_usec * 1000;
}

static void check_near(const char *check, int64_t seen, int64_t expected, int64_t slack)
{
	test__check(seen >= expected - slack && seen <= expected + slack, check,
		    "expected %" PRId64 " +- %" PRId64 ", saw %" PRId64, expected, slack, seen);
}

static void check_usage(const struct ended *end, const struct json_value *record)
{
	int64_t user_ns = as_ns(&end->usage.ru_utime), system_ns = as_ns(&end->usage.ru_stime);
	int64_t seen_user_ns = record__number(record, "user_ns");
	int64_t seen_system_ns = record__number(record, "system_ns");
	int64_t slack_ns = (user_ns + system_ns) / 10 + 10000000;
	int64_t rss = end->usage.ru_maxrss * 1024;
	char check[128];

	snprintf(check, sizeof(check), "exit: %s: user_ns is getrusage's", end->name);
	if (end->judge_cpu)
		check_near(check, seen_user_ns, user_ns, slack_ns);
	snprintf(check, sizeof(check), "exit: %s: system_ns is getrusage's", end->name);
	if (end->judge_cpu)
		check_near(check, seen_system_ns, system_ns, slack_ns);
	snprintf(check, sizeof(check), "exit: %s: max_rss_bytes is getrusage's", end->name);
	if (end->judge_memory)
		check_near(check, record__number(record, "max_rss_bytes"), rss,
			   rss / 50 + (1 << 20));
}

static void check_ends(const struct records *records, const char *program)
{
	for (size_t i = 0; i < NR_ENDS; i++) {
		const struct json_value *record;
		char check[128];

		snprintf(check, sizeof(check), "exit: %s has its one record", ends[i].name);
		record = records__only(records, "exit", ends[i].pid, check);
		if (!record)
			continue;
		check_status(&ends[i], record);
		check_times(&ends[i], record);
		check_usage(&ends[i], record);
	}
	test__equal("exit: as many exit records as processes",
		    records__count(records, "exit", file_name(program)), NR_ENDS);
}

/* On kernels before 6.16 several of the last threads see themselves as the last. */
static unsigned long run_together(const char *program)
{
	const struct workload workload = { .program = program, .role = "together 9" };
	unsigned long nr = test__scaled(300);

	for (unsigned long i = 0; i < nr; i++)
		if (workload__run(&workload))
			test__fatal("workload", "nine threads could not be run");
	return nr;
}

/* Threads that an exec ends are no end of the process. */
static pid_t run_thread_exec(const char *program, const char *next)
{
	char role[1024];
	pid_t pid;

	snprintf(role, sizeof(role), "thread-exec %s %s", scratch__path("tid"), next);
	pid = workload__start(&(struct workload){ .program = program, .role = role });
	workload__wait(pid, NULL);
	return pid;
}

static void check_thread_exec(const struct records *records, pid_t pid, const char *next)
{
	static const char name[] = "exit: one after an exec that ended threads";
	const struct json_value *record = records__only(records, "exit", pid, name);

	if (!record)
		return;
	test__check(true, name, "it is");
	test__equal("exit: after such an exec, the code is the new program's",
		    (uint64_t)record__number(record, "exit_code"), 0);
	check_args(record, ARGS(next),
		   "exit: after such an exec, the command is the new program's");
}

struct bystander {
	pid_t pid;
	struct gate gate;
	uint64_t from_ns;
	uint64_t to_ns;
};

static void end_bystander(struct bystander *bystander)
{
	gate__open(&bystander->gate);
	workload__wait(bystander->pid, NULL);
	bystander->to_ns = test__now_ns();
}

/* A child that never executes anything: it waits at the gate and ends. */
static void start_forked(struct bystander *bystander)
{
	char byte;

	gate__make(&bystander->gate);
	bystander->from_ns = test__now_ns();
	bystander->pid = fork();
	if (bystander->pid < 0)
		test__fatal("workload", "fork: %s", strerror(errno));
	if (!bystander->pid)
		_exit(read(bystander->gate.fds[0], &byte, 1) == 1 ? 0 : 1);
	children__add(bystander->pid);
}

/* One that executes at once, and ends when its standard input does. */
static void start_executed(struct bystander *bystander, const char *program, int *stdin_fd)
{
	int fds[2];
	struct workload held = { .program = program, .role = "hold" };

	if (pipe2(fds, O_CLOEXEC))
		test__fatal("workload", "pipe: %s", strerror(errno));
	held.stdin_fd = fds[0];
	bystander->from_ns = test__now_ns();
	bystander->pid = workload__start(&held);
	close(fds[0]);
	*stdin_fd = fds[1];
}

static bool has_become(pid_t pid, const char *comm)
{
	char *name = NULL;
	bool same = false;

	for (int i = 0; i < 200 && !same; i++) {
		free(name);
		name = process__status_line(pid, "Name");
		same = name && !strcmp(name, comm);
		if (!same)
			test__sleep_ms(10);
	}
	free(name);
	return same;
}

static void check_begun_before(const struct records *records, const struct bystander *bystander,
			       bool execed, const char *name)
{
	int64_t most_ns = (int64_t)(bystander->to_ns - bystander->from_ns), age_ns;
	const struct json_value *record, *truth;
	char check[128];

	snprintf(check, sizeof(check), "exit: %s is shown", name);
	record = records__only(records, "exit", bystander->pid, check);
	if (!record)
		return;
	test__check(!json__get(record, "duration_ns"), check, "it has a duration_ns");
	age_ns = record__number(record, "age_ns");
	snprintf(check, sizeof(check), "exit: %s has its age", name);
	/* The run is longer than the sleep in the middle of it. */
	test__check(age_ns >= 300000000 && age_ns <= most_ns, check,
		    "expected 300000000 to %" PRId64 ", saw %" PRId64, most_ns, age_ns);
	truth = json__get(record, "execed");
	snprintf(check, sizeof(check), "exit: %s says whether it had executed", name);
	test__check(truth && truth->kind == JSON_BOOL && truth->truth == execed, check,
		    "expected %d", execed);
}

/* All in one run; the bystanders begin before it. */
static void check_exits(const char *program, const char *other)
{
	struct bystander executed, forked, forked_in_run;
	const struct json_value *account;
	unsigned long nr_together;
	struct records records;
	struct tool_run run;
	size_t index = 0;
	pid_t thread_exec;
	int stdin_fd;

	start_forked(&forked);
	start_executed(&executed, other, &stdin_fd);
	if (!has_become(executed.pid, file_name(other)))
		test__fatal("workload", "pid %d did not execute", executed.pid);
	tool_run__trace(&run, NULL, ARGS("-j", "-e"));
	start_forked(&forked_in_run);
	for (size_t i = 0; i < NR_ENDS; i++)
		make_end(&ends[i], program);
	nr_together = run_together(other);
	thread_exec = run_thread_exec(workload__own_program("threads"),
				      workload__own_program("next"));
	end_bystander(&forked);
	end_bystander(&forked_in_run);
	close(stdin_fd);
	workload__wait(executed.pid, NULL);
	executed.to_ns = test__now_ns();
	tool_run__stop(&run);

	records__load(&records, &run);
	account = records__account(&records);
	check_exact(account, "exit");
	check_ends(&records, program);
	test__equal("exit: nine threads ending together are one exit",
		    records__count(&records, "exit", file_name(other)), nr_together + 1);
	check_thread_exec(&records, thread_exec, workload__own_program("next"));
	check_begun_before(&records, &executed, true, "a process that had executed before the run");
	check_begun_before(&records, &forked, false, "a process forked before the run");
	test__check(!records__next(&records, "exit", forked_in_run.pid, &index),
		    "exit: a process forked in the run without exec is not shown", "it is");
	test__check(account__term(account, "exit", "filtered") >= 1,
		    "exit: a process forked in the run without exec is filtered",
		    "filtered is %" PRId64, account__term(account, "exit", "filtered"));
	records__free(&records);
	tool_run__free(&run);
}

static void check_without_exits(const char *program)
{
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j"));
	workload__repeat(program, 10);
	tool_run__stop(&run);
	records__load(&records, &run);
	test__equal("exit: none is shown when exits are not asked for",
		    records__count(&records, "exit", NULL), 0);
	test__check(account__term(records__account(&records), "exit", "seen") <= 0,
		    "exit: none is counted when exits are not asked for", "some are");
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	const char *program;

	role__play(argc, argv);
	program = workload__own_program("exits");
	check_exits(program, workload__own_program("nine"));
	check_without_exits(program);
	return test__done();
}
