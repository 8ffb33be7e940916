// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* How a run ends: by signals, by its duration, by a second SIGINT; and what does not end it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static const char *program;

/* The last line of stderr is the account in words, with its verdict. */
static void check_account_line(const struct tool_run *run, const char *name)
{
	char check[128], *text = strdup(run->err), *last = text;

	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		last = line;
	snprintf(check, sizeof(check), "end: %s: the last line of stderr is the account", name);
	test__check(last && strstr(last, "seen") && strstr(last, "recorded") &&
			    (strstr(last, "exact") || strstr(last, "unknown")),
		    check, "saw: %s", last);
	free(text);
}

static void check_end(struct tool_run *run, const char *name, unsigned long nr)
{
	struct records records;
	char check[128];

	snprintf(check, sizeof(check), "end: %s: the status is 0", name);
	test__equal(check, (uint64_t)tool_run__wait(run), 0);
	check_account_line(run, name);
	records__load(&records, run);
	check_exact(records__account(&records), name);
	snprintf(check, sizeof(check), "end: %s: all that came before is reported", name);
	test__equal(check, records__count(&records, "exec", file_name(program)), nr);
	records__free(&records);
	tool_run__free(run);
}

static void check_hangup(void)
{
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	workload__repeat(program, 3);
	tool_run__signal(&run, SIGHUP);
	check_end(&run, "SIGHUP", 3);
}

static void ignore_hangup(void *ctx)
{
	(void)ctx;
	if (signal(SIGHUP, SIG_IGN) == SIG_ERR)
		_exit(126);
}

/* As under nohup: who started the tool decided that SIGHUP ends nothing. */
static void check_ignored_hangup(void)
{
	struct tool_run run;

	tool_run__trace(&run, &(struct tool_setup){ .prepare = ignore_hangup },
			ARGS("-j", "--comm", file_name(program)));
	workload__repeat(program, 3);
	tool_run__signal(&run, SIGHUP);
	test__check(tool_run__goes_on(&run, 500), "end: an ignored SIGHUP stays ignored",
		    "it ended the run");
	tool_run__signal(&run, SIGTERM);
	check_end(&run, "SIGTERM", 3);
}

/* STOP and CONT interrupt a system call; what happens meanwhile waits in the ring. */
static void check_stopped(void)
{
	struct tool_run run;
	siginfo_t info;

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	workload__repeat(program, 3);
	tool_run__signal(&run, SIGSTOP);
	waitid(P_PID, (id_t)run.pid, &info, WSTOPPED);
	workload__repeat(program, 20);
	tool_run__signal(&run, SIGCONT);
	test__check(tool_run__goes_on(&run, 300), "end: STOP and CONT do not end a run",
		    "it ended");
	workload__repeat(program, 3);
	tool_run__signal(&run, SIGINT);
	check_end(&run, "SIGINT after STOP and CONT", 26);
}

/* The account's duration_ns is of the run alone, not of its start and its end. */
static void check_duration(void)
{
	uint64_t before_ns = test__now_ns(), ready_ns, took_ns;
	struct records records;
	struct tool_run run;
	int64_t duration_ns;

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program), "-d", "700ms"));
	ready_ns = test__now_ns();
	workload__repeat(program, 3);
	tool_run__wait(&run);
	took_ns = test__now_ns() - ready_ns;
	/* Between its own stamp and the ready byte the tool does little. */
	test__check(took_ns + 100000000 >= 700000000, "end: -d: the run lasts so long",
		    "it took %" PRIu64 " ns", took_ns);
	records__load(&records, &run);
	duration_ns = record__number(records__account(&records), "duration_ns");
	test__check(duration_ns >= 700000000 &&
			    (uint64_t)duration_ns <= test__now_ns() - before_ns &&
			    (uint64_t)duration_ns <= 700000000 + test__patience_ms(1000) * 1000000,
		    "end: -d: duration_ns is the time of the run", "saw %" PRId64, duration_ns);
	records__free(&records);
	check_end(&run, "-d", 3);
}

/* Makes events until the tool can write no more: the pipe stays as it is while others come. */
static bool fill_pipe(struct tool_run *run)
{
	int held = 0, last = -1;

	fcntl(run->out_fd, F_SETPIPE_SZ, 4096);
	for (int i = 0; i < 100 && (held != last || held == 0); i++) {
		last = held;
		workload__repeat(program, 50);
		test__sleep_ms(test__patience_ms(100));
		ioctl(run->out_fd, FIONREAD, &held);
	}
	return held > 0 && held == last;
}

static void check_second_interrupt(void)
{
	struct tool_run run;

	tool_run__trace(&run, &(struct tool_setup){ .pipe = true },
			ARGS("-j", "--comm", file_name(program)));
	if (!test__check(fill_pipe(&run), "second SIGINT: nobody reads and the pipe is full",
			 "it is not")) {
		tool_run__free(&run);
		return;
	}
	tool_run__signal(&run, SIGINT);
	test__check(tool_run__goes_on(&run, 500),
		    "second SIGINT: after the first the tool still has to write", "it ended");
	tool_run__signal(&run, SIGINT);
	test__check(tool_run__ends(&run, 2000, false), "second SIGINT: it ends at once",
		    "it goes on");
	tool_run__wait(&run);
	test__equal("second SIGINT: the status is 1", (uint64_t)run.status, 1);
	test__check(strstr(run.err, "no account"), "second SIGINT: stderr says \"no account\"",
		    "saw: %s", run.err);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__small_program("life");
	check_stopped();
	check_hangup();
	check_ignored_hangup();
	check_duration();
	check_second_interrupt();
	return test__done();
}
