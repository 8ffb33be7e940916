// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Lifetimes as limits, forks that never execute, and the summary. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static const char *program;
static char pid_text[16];

static pid_t run_role(const char *role)
{
	pid_t pid = workload__start(&(struct workload){ .program = program, .role = role });

	workload__wait(pid, NULL);
	return pid;
}

static bool has(const struct records *records, const char *type, pid_t pid)
{
	size_t index = 0;

	return records__next(records, type, pid, &index);
}

/* A short, a long one, and one that still runs when the tool ends. */
static void check_limit(const char *const *args, bool short_wanted, const char *name)
{
	const struct json_value *account, *record;
	pid_t short_pid, long_pid, held_pid;
	struct records records;
	struct tool_run run;
	int held[2];
	char check[128];

	if (pipe2(held, O_CLOEXEC))
		test__fatal("workload", "pipe: %s", strerror(errno));
	tool_run__trace(&run, NULL, args);
	short_pid = run_role("true");
	long_pid = run_role("sleep 1000");
	held_pid = workload__start(
		&(struct workload){ .program = program, .role = "hold", .stdin_fd = held[0] });
	/* Until it has executed: the pipe's other end stays open in this process alone. */
	test__sleep_ms(test__patience_ms(300));
	tool_run__stop(&run);
	close(held[1]);
	workload__wait(held_pid, NULL);
	close(held[0]);

	records__load(&records, &run);
	account = records__account(&records);
	snprintf(check, sizeof(check), "lifetime: %s: only what is inside is shown", name);
	test__check(has(&records, "exit", short_pid) == short_wanted &&
			    has(&records, "exit", long_pid) == !short_wanted &&
			    !has(&records, "exec", held_pid) && !has(&records, "exit", held_pid),
		    check, "the short one: %d, the long one: %d", has(&records, "exit", short_pid),
		    has(&records, "exit", long_pid));
	snprintf(check, sizeof(check), "lifetime: %s: one record for each", name);
	test__equal(check, records.nr, 3);
	record = records__at(&records, 1);
	snprintf(check, sizeof(check), "lifetime: %s: it has duration, code and arguments", name);
	test__check(record__number(record, "duration_ns") > 0 &&
			    record__number(record, "exit_code") == 0 && json__get(record, "args"),
		    check, "it has not");
	snprintf(check, sizeof(check), "lifetime: %s: inside, outside, in flight", name);
	test__check(account__term(account, "exec", "recorded") == 1 &&
			    account__term(account, "exec", "filtered") >= 1 &&
			    account__term(account, "exec", "in_flight") == 1,
		    check, "%" PRId64 ", %" PRId64 ", %" PRId64,
		    account__term(account, "exec", "recorded"),
		    account__term(account, "exec", "filtered"),
		    account__term(account, "exec", "in_flight"));
	check_exact(account, name);
	records__free(&records);
	tool_run__free(&run);
}

/* A command that ends by the next exec of its process. */
static void check_replaced(void)
{
	char role[1024];
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	pid_t pid;

	snprintf(role, sizeof(role), "thread-exec %s %s", scratch__path("tid"), program);
	tool_run__trace(&run, NULL, ARGS("-j", "--max-duration", "1m", "--ppid", pid_text));
	pid = run_role(role);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__only(&records, "exec", pid, "lifetime: an exec ends a command, too");
	if (record)
		test__check(record__number(record, "duration_ns") > 0,
			    "lifetime: an exec ends a command, too", "it has no duration");
	test__check(has(&records, "exit", pid), "lifetime: and the exit the one after it",
		    "it has no record");
	test__equal("lifetime: both are recorded",
		    (uint64_t)account__term(records__account(&records), "exec", "recorded"), 2);
	check_exact(records__account(&records), "lifetime, replaced");
	records__free(&records);
	tool_run__free(&run);
}

/* In a storm nothing is counted twice or forgotten. */
static void check_many(void)
{
	unsigned long nr = test__scaled(2000);
	const struct json_value *account;
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL,
			ARGS("-j", "-e", "--max-duration", "1m", "--comm", file_name(program)));
	workload__repeat(program, nr);
	tool_run__stop(&run);
	records__load(&records, &run);
	account = records__account(&records);
	test__equal("lifetime: each of many has one record",
		    records__count(&records, "exit", file_name(program)), nr);
	test__equal("lifetime: it is the exec's",
		    (uint64_t)account__term(account, "exec", "recorded"), nr);
	test__equal("lifetime: and with -e the exit's, too",
		    (uint64_t)account__term(account, "exit", "recorded"), nr);
	test__equal("lifetime: and no other", records.nr, nr + 2);
	check_exact(account, "lifetime, many");
	records__free(&records);
	tool_run__free(&run);
}

static pid_t fork_and_end(int code)
{
	pid_t pid = fork();

	if (pid < 0)
		test__fatal("workload", "fork: %s", strerror(errno));
	if (!pid)
		_exit(code);
	workload__wait(pid, NULL);
	return pid;
}

static void check_forks(void)
{
	const struct json_value *record, *account, *execed;
	struct records records;
	struct tool_run run;
	pid_t forked, executed;

	tool_run__trace(&run, NULL, ARGS("-j", "--forks", "--ppid", pid_text));
	forked = fork_and_end(7);
	executed = run_role("true");
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__only(&records, "exit", forked, "forks: one that never executed is shown");
	execed = json__get(record, "execed");
	if (record) {
		test__check(execed && !execed->truth && record__number(record, "exit_code") == 7 &&
				    record__number(record, "age_ns") > 0 &&
				    !json__get(record, "duration_ns"),
			    "forks: with its code and age", "other values");
		test__same("forks: and its parent", json__string(json__get(record, "pcomm")),
			   json__string(json__get(record, "comm")));
	}
	test__check(!has(&records, "exit", executed), "forks: without -e other ends are not shown",
		    "one is");
	account = records__account(&records);
	test__check(account__term(account, "exit", "recorded") == 1 &&
			    account__term(account, "exit", "filtered") >= 1,
		    "forks: they are filtered", "%" PRId64 " recorded, %" PRId64 " filtered",
		    account__term(account, "exit", "recorded"),
		    account__term(account, "exit", "filtered"));
	check_exact(account, "forks");
	records__free(&records);
	tool_run__free(&run);
}

static const struct json_value *summary_of(const struct records *records, const char *command)
{
	const struct json_value *record;
	size_t index = 0;

	while ((record = records__next(records, "summary", 0, &index)))
		if (json__is(json__get(json__get(record, "key"), "command"), command))
			return record;
	return NULL;
}

static void check_summary(const char *const *args, size_t nr_execs, const char *name)
{
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	char check[128];

	tool_run__trace(&run, NULL, args);
	workload__repeat(program, 5);
	fork_and_end(0);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = summary_of(&records, file_name(program));
	snprintf(check, sizeof(check), "summary: %s: counts the command", name);
	test__check(record__number(record, "count") == 5 && record__number(record, "ended") == 5 &&
			    record__number(record, "failed") == 0,
		    check, "count is %" PRId64, record__number(record, "count"));
	snprintf(check, sizeof(check), "summary: %s: has lifetimes", name);
	test__check(record__number(record, "min_ns") > 0 &&
			    record__number(record, "max_ns") * 5 >=
				    record__number(record, "sum_ns"),
		    check, "they are not right");
	snprintf(check, sizeof(check), "summary: %s: records before it", name);
	test__equal(check, records__count(&records, "exec", file_name(program)), nr_execs);
	test__equal(check, (uint64_t)account__term(records__account(&records), "exec", "recorded"),
		    5);
	check_exact(records__account(&records), name);
	records__free(&records);
	tool_run__free(&run);
}

static void check_summary_text(void)
{
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-s", "--ppid", pid_text, "--top", "1"));
	workload__repeat(program, 5);
	workload__repeat(workload__own_program("rare"), 1);
	tool_run__stop(&run);
	test__check(strstr(run.out, "\n\n") && strstr(run.out, " COMMAND\n      5       0 "),
		    "summary: text has a table of its own below the records", "saw: %s", run.out);
	test__check(!strstr(strstr(run.out, "\n\n"), "rare"), "summary: --top cuts it", "saw: %s",
		    run.out);
	test__check(strstr(run.err, "1 of 2 rows"), "summary: and that is said", "saw: %s",
		    run.err);
	tool_run__free(&run);

	tool_run__trace(&run, NULL, ARGS("-S", "--ppid", pid_text));
	workload__repeat(program, 5);
	tool_run__stop(&run);
	test__check(!strncmp(run.out, "  COUNT", 7) && strstr(run.out, "\n      5       0 "),
		    "summary: alone in text", "saw: %s", run.out);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	snprintf(pid_text, sizeof(pid_text), "%d", getpid());
	program = workload__own_program("lifetime");
	check_limit(ARGS("-j", "--max-duration", "500ms", "--ppid", pid_text), true,
		    "--max-duration");
	check_limit(ARGS("-j", "--min-duration", "1s", "--ppid", pid_text), false,
		    "--min-duration");
	check_replaced();
	check_many();
	check_forks();
	check_summary(ARGS("-j", "-s", "--ppid", pid_text), 5, "-s");
	check_summary(ARGS("-j", "-S", "--ppid", pid_text), 0, "-S");
	check_summary(ARGS("-j", "-S", "--max-duration", "1m", "--forks", "--ppid", pid_text), 0,
		      "-S with a lifetime");
	check_summary_text();
	return test__done();
}
