// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* -- COMMAND is run as its caller would run it and seen from its exec on; its status counts. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static const char *program_true, *program_exit, *program_signal, *program_sleep, *program_catch,
	*program_status, *program_spawn;

static void check_status_passed_on(const char *const *args, int expected, const char *name)
{
	const struct json_value *account;
	struct records records;
	struct tool_run run;
	char check[128];

	tool_run__once(&run, NULL, args);
	snprintf(check, sizeof(check), "command: %s: the tool's status", name);
	test__equal(check, (uint64_t)run.status, (uint64_t)expected);
	records__load(&records, &run);
	account = records__account(&records);
	check_exact(account, name);
	snprintf(check, sizeof(check), "command: %s: command_status", name);
	test__equal(check, (uint64_t)record__number(account, "command_status"), (uint64_t)expected);
	records__free(&records);
	tool_run__free(&run);
}

/* Records of a program by its path, which no other process of the machine has. */
static size_t count_of(const struct records *records, const char *type, const char *filename)
{
	size_t nr = 0;

	for (size_t i = 0; i < records->nr; i++) {
		const struct json_value *record = records__at(records, i);

		nr += json__is(json__get(record, "type"), type) &&
		      json__is(json__get(record, "filename"), filename);
	}
	return nr;
}

/* Its own exec is the first thing it does under trace. */
static void check_seen(void)
{
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	tool_run__once(&run, NULL, ARGS("-j", "-e", "--", program_spawn, "5", program_true));
	records__load(&records, &run);
	while ((record = records__next(&records, "exec", 0, &index)))
		if (json__is(json__get(record, "filename"), program_spawn))
			break;
	if (test__check(record, "command: its own exec is seen", "it is not")) {
		check_args(record, ARGS(program_spawn, "5", program_true),
			   "command: its arguments are as given");
		test__equal("command: it is a child of the tool",
			    (uint64_t)record__number(record, "ppid"), (uint64_t)run.pid);
		records__only(&records, "exit", (pid_t)record__number(record, "pid"),
			      "command: its own exit is seen");
	}
	test__equal("command: what it starts is seen", count_of(&records, "exec", program_true), 5);
	test__equal("command: the end of what it starts is seen",
		    count_of(&records, "exit", program_true), 5);
	check_exact(records__account(&records), "command");
	test__equal("command: it ended with 0, and so does the tool", (uint64_t)run.status, 0);
	test__equal("command: it ended with 0, and command_status says so",
		    (uint64_t)record__number(records__account(&records), "command_status"), 0);
	records__free(&records);
	tool_run__free(&run);
}

static void check_not_run(const char *word, const char *name)
{
	struct tool_run run;
	char check[128];

	tool_run__once(&run, NULL, ARGS("-j", "--", word));
	snprintf(check, sizeof(check), "command: %s is 1", name);
	test__equal(check, (uint64_t)run.status, 1);
	snprintf(check, sizeof(check), "command: %s: the message names it", name);
	test__check(strstr(run.err, word), check, "saw: %s", run.err);
	tool_run__free(&run);
}

/* The statuses of the tool itself come first. */
static void check_own_status(void)
{
	struct tool_run run;

	test__equal("command: --expect that does not hold is 3, whatever the command's",
		    (uint64_t)tool_run__once(
			    &run, NULL, ARGS("-j", "--expect", "999999", "--", program_exit, "7")),
		    3);
	tool_run__free(&run);
}

/* The only process that was started under this name, by what its exec record says. */
static pid_t command_pid(const struct records *records, const char *filename)
{
	const struct json_value *record;
	size_t index = 0;

	while ((record = records__next(records, "exec", 0, &index)))
		if (json__is(json__get(record, "filename"), filename))
			return (pid_t)record__number(record, "pid");
	return -1;
}

/* The duration ends the run, not the command; nor does the tool wait for it. */
static void check_left_running(void)
{
	uint64_t before_ns = test__now_ns();
	struct records records;
	struct tool_run run;
	pid_t pid;

	tool_run__once(&run, NULL, ARGS("-j", "-d", "0.3", "--", program_sleep, "60000"));
	test__check(test__now_ns() - before_ns < test__patience_ms(20000) * 1000000,
		    "command: the duration ends the run", "it did not");
	test__equal("command: left running, the status is 0", (uint64_t)run.status, 0);
	records__load(&records, &run);
	pid = command_pid(&records, program_sleep);
	test__check(!json__get(records__account(&records), "command_status"),
		    "command: left running, it has no command_status", "it has");
	if (test__check(pid > 0 && !process__ends(pid, 100), "command: it is left running",
			"pid %d is gone", pid)) {
		/* This program adopts it (see main). */
		kill(pid, SIGKILL);
		workload__wait(pid, NULL);
	}
	records__free(&records);
	tool_run__free(&run);
}

static bool file_holds(const char *path, const char *word)
{
	bool found = false;

	for (int i = 0; i < 100 && !found; i++) {
		char *text = file__read(path, NULL);

		found = text && strstr(text, word);
		free(text);
		if (!found)
			test__sleep_ms(test__patience_ms(50));
	}
	return found;
}

static void check_signal_passed_on(int signal, const char *name)
{
	const char *report = scratch__path(name);
	struct records records;
	struct tool_run run;
	char word[16], check[128];
	int64_t status;

	snprintf(word, sizeof(word), "%d", signal);
	tool_run__trace(&run, NULL, ARGS("-j", "--", program_catch, word, report));
	if (!file_holds(report, "ready"))
		test__fatal("workload", "the command is not ready");
	tool_run__signal(&run, signal);
	snprintf(check, sizeof(check), "command: %s is passed on", name);
	test__check(file_holds(report, "caught"), check, "the command did not get it");
	tool_run__wait(&run);
	records__load(&records, &run);
	status = record__number(records__account(&records), "command_status");
	/* Whether the command has ended by the time of the account is its own affair. */
	snprintf(check, sizeof(check), "command: %s: the status is the command's, if it has one",
		 name);
	test__equal(check, (uint64_t)run.status, status < 0 ? 0 : (uint64_t)status);
	snprintf(check, sizeof(check), "command: %s: command_status is what the command gave",
		 name);
	test__check(status == -1 || status == 42, check, "saw %" PRId64, status);
	records__free(&records);
	tool_run__free(&run);
	/* Nothing is left behind, also when the tool did not wait for it. */
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void own_the_terminal(void *ctx)
{
	const int *slave = ctx;

	if (setsid() < 0 || ioctl(*slave, TIOCSCTTY, 0))
		_exit(126);
}

/* A terminal gives Ctrl-C to the tool and to the command; many programs take a second one for
 * "at once". */
static void check_terminal(void)
{
	static const char name[] = "command: it gets a terminal's Ctrl-C once";
	const char *report = scratch__path("count-report");
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), slave;
	struct tool_run run;
	char *text;

	if (master < 0 || grantpt(master) || unlockpt(master)) {
		test__skip(name, "no pseudo-terminal: %s", strerror(errno));
		return;
	}
	slave = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	tool_run__trace(&run, &(struct tool_setup){ .prepare = own_the_terminal, .ctx = &slave },
			ARGS("-j", "--", workload__program("count"), "2", "500", report));
	if (!file_holds(report, "ready") || write(master, "\x03", 1) != 1)
		test__fatal("workload", "the command is not ready");
	test__equal("command: Ctrl-C ends the run", (uint64_t)tool_run__wait(&run), 0);
	test__check(file_holds(report, "done"), "command: it gets a terminal's Ctrl-C",
		    "it does not");
	text = file__read(report, NULL);
	test__same(name, text, "ready caught done");
	free(text);
	tool_run__free(&run);
	close(slave);
	close(master);
	while (waitpid(-1, NULL, 0) > 0)
		;
}

static void check_privileges(void)
{
	static const char *const lines[] = { "Uid",	   "Gid",    "Groups", "CapPrm",
					     "CapEff",	   "CapInh", "CapBnd", "CapAmb",
					     "NoNewPrivs", "SigBlk", "SigIgn", "Seccomp" };
	const char *report = scratch__path("status-of-command");
	char *own = file__read("/proc/self/status", NULL), *other;
	struct tool_run run;

	tool_run__once(&run, NULL, ARGS("-j", "--", program_status, report));
	other = file__read(report, NULL);
	if (!other || !own)
		test__fatal("command: it wrote its status", "it did not; stderr: %s", run.err);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char *expected = status_line(own, lines[i]), *seen = status_line(other, lines[i]);
		char check[128];

		snprintf(check, sizeof(check), "command: it runs with its caller's %s", lines[i]);
		test__same(check, seen, expected);
		free(expected);
		free(seen);
	}
	test__check(strstr(other, "\nfd ") && !strstr(other, "anon_inode") && !strstr(other, "bpf"),
		    "command: it inherits no descriptor of the tool", "saw: %s",
		    strstr(other, "\nfd "));
	free(own);
	free(other);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	program_true = workload__program("true");
	program_exit = workload__program("exit");
	program_signal = workload__program("signal");
	program_sleep = workload__program("sleep");
	program_catch = workload__program("catch");
	program_status = workload__program("status");
	program_spawn = workload__program("spawn");

	check_status_passed_on(ARGS("-j", "--", program_exit, "7"), 7,
			       "a command that ends with 7");
	check_status_passed_on(ARGS("-j", "--", program_signal, "9"), 128 + SIGKILL,
			       "a command that is killed");
	check_seen();
	check_not_run("no-such-command-anywhere", "a command that is nowhere");
	check_not_run("/dev/null", "a command that cannot be executed");
	check_own_status();
	check_left_running();
	check_signal_passed_on(SIGTERM, "SIGTERM");
	check_terminal();
	check_privileges();
	return test__done();
}
