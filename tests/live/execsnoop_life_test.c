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

static void check_signal(int signal, const char *name)
{
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	workload__repeat(program, 3);
	tool_run__signal(&run, signal);
	check_end(&run, name, 3);
}

static void check_duration(const char *word, uint64_t ms)
{
	uint64_t ready_ns, took_ms;
	struct tool_run run;
	char name[64], check[128];

	snprintf(name, sizeof(name), "-d %s", word);
	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program), "-d", word));
	ready_ns = test__now_ns();
	workload__repeat(program, 3);
	tool_run__wait(&run);
	took_ms = (test__now_ns() - ready_ns) / 1000000;
	snprintf(check, sizeof(check), "end: %s: the run lasts so long", name);
	/* From below it is exact but for the moment between ready byte and stamp. */
	test__check(took_ms + 100 >= ms && took_ms <= ms + test__patience_ms(3000), check,
		    "it took %" PRIu64 " ms", took_ms);
	check_end(&run, name, 3);
}

/* The account's duration_ns is the time of the run. */
static void check_duration_member(void)
{
	struct records records;
	struct tool_run run;
	uint64_t before_ns = test__now_ns(), least_ns;
	int64_t duration_ns;

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	least_ns = test__now_ns();
	test__sleep_ms(200);
	least_ns = test__now_ns() - least_ns;
	tool_run__stop(&run);
	records__load(&records, &run);
	duration_ns = record__number(records__account(&records), "duration_ns");
	test__check((uint64_t)duration_ns + 20000000 >= least_ns &&
			    (uint64_t)duration_ns <= test__now_ns() - before_ns,
		    "end: duration_ns is the time of the run", "saw %" PRId64, duration_ns);
	records__free(&records);
	tool_run__free(&run);
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
	test__check(!tool_run__ends(&run, 300, false), "end: STOP and CONT do not end a run",
		    "it ended");
	workload__repeat(program, 3);
	tool_run__signal(&run, SIGINT);
	check_end(&run, "STOP and CONT", 26);
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
	test__check(!tool_run__ends(&run, 500, false),
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

/* A reader that only sleeps does not keep the first SIGINT from a whole end. */
static void check_interrupt_then_read(void)
{
	struct tool_run run;

	tool_run__trace(&run, &(struct tool_setup){ .pipe = true },
			ARGS("-j", "--comm", file_name(program)));
	if (!fill_pipe(&run))
		test__fatal("late reader", "the pipe could not be filled");
	tool_run__signal(&run, SIGINT);
	test__sleep_ms(300);
	tool_run__wait(&run);
	test__equal("late reader: the status is 0", (uint64_t)run.status, 0);
	test__check(run.out_size && strstr(run.out + run.out_size / 2, "\"account\""),
		    "late reader: the account comes at last", "it does not");
	tool_run__free(&run);
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
	tool_run__signal(&run, SIGHUP);
	test__check(!tool_run__ends(&run, 500, false), "end: an ignored SIGHUP stays ignored",
		    "it ended the run");
	tool_run__stop(&run);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__own_program("life");
	check_signal(SIGINT, "SIGINT");
	check_signal(SIGTERM, "SIGTERM");
	check_signal(SIGHUP, "SIGHUP");
	check_duration("1", 1000);
	check_duration("0.3", 300);
	check_duration("500ms", 500);
	check_duration_member();
	check_stopped();
	check_second_interrupt();
	check_interrupt_then_read();
	check_ignored_hangup();
	return test__done();
}
