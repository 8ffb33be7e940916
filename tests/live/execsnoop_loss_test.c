// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Bad days of the output: a reader that sleeps, goes away, or has no room. Loss is counted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static const char *program;

/*
 * Nobody reads while more happens than pipe, tool and ring can hold; then all is read. What is
 * missing must be exactly what the account calls lost.
 */
static void check_slow_reader(void)
{
	unsigned long nr = test__scaled(4000) + 600;
	const struct json_value *account;
	struct records records;
	struct tool_run run;
	int64_t lost;

	tool_run__trace(&run, &(struct tool_setup){ .pipe = true },
			ARGS("-j", "-e", "--strict", "--ring-size", "64K", "--comm",
			     file_name(program)));
	if (fcntl(run.out_fd, F_SETPIPE_SZ, 4096) < 0)
		test__fatal("slow reader", "cannot make the pipe small: %s", strerror(errno));
	workload__repeat(program, nr);
	tool_run__stop(&run);
	records__load(&records, &run);
	account = records__account(&records);
	lost = account__term(account, "exec", "lost");
	check_account(account, "slow reader");
	test__check(lost > 0, "slow reader: execs are lost", "nothing was, of %lu", nr);
	test__equal("slow reader: each exec is recorded or lost",
		    (uint64_t)(account__term(account, "exec", "recorded") + lost), nr);
	test__equal("slow reader: each exit is recorded or lost",
		    (uint64_t)(account__term(account, "exit", "recorded") +
			       account__term(account, "exit", "lost")),
		    nr);
	test__equal("slow reader: what is recorded has come out",
		    records__count(&records, "exec", file_name(program)),
		    (uint64_t)account__term(account, "exec", "recorded"));
	test__same("slow reader: the verdict is lower_bound",
		   json__string(json__get(account, "verdict")), "lower_bound");
	test__equal("slow reader: --strict makes it 3", (uint64_t)run.status, 3);
	test__check(strstr(run.err, "lost") && strstr(run.err, "lower_bound"),
		    "slow reader: stderr says it", "saw: %s", run.err);
	records__free(&records);
	tool_run__free(&run);
}

/* A record that the ring cannot hold whole is cut, and says by how much. */
static void check_cut_args(void)
{
	static char word[131072];
	const struct json_value *account, *record;
	struct records records;
	struct tool_run run;
	size_t size = 0;
	int64_t cut;
	char *seen;
	pid_t pid;

	memset(word, 'y', sizeof(word) - 1);
	tool_run__trace(&run, NULL, ARGS("-j", "--ring-size", "64K", "--comm", file_name(program)));
	pid = workload__start(&(struct workload){ .program = program, .argv = ARGS(word) });
	workload__wait(pid, NULL);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__only(&records, "exec", pid, "cut: the exec has its record");
	account = records__account(&records);
	check_account(account, "cut");
	if (record) {
		cut = record__number(record, "args_cut");
		seen = array__words(json__get(record, "args"), &size);
		test__check(seen && size > 1 && strspn(seen, "y") == size - 1,
			    "cut: what is there is the beginning", "it is not");
		/* The NUL that ends the word is among the bytes left out. */
		test__equal("cut: args_cut is what is missing", size - 1 + (uint64_t)cut,
			    sizeof(word));
		test__check(account__term(account, "exec", "detail_lost") > 0,
			    "cut: the account calls it a lost detail", "it does not");
		test__same("cut: the verdict is lower_bound",
			   json__string(json__get(account, "verdict")), "lower_bound");
		free(seen);
	}
	records__free(&records);
	tool_run__free(&run);
}

/* The reader takes what it wants and goes, as head does. */
static void check_closed_pipe(const char *const *args, const char *name)
{
	struct tool_run run;
	char check[128];

	tool_run__trace(&run, &(struct tool_setup){ .pipe = true }, args);
	workload__repeat(program, 1);
	snprintf(check, sizeof(check), "closed pipe: %s: a first line comes", name);
	test__check(tool_run__line(&run, 5000), check, "none");
	tool_run__close_pipe(&run);
	for (int i = 0; i < 50 && !tool_run__ends(&run, 20, false); i++)
		workload__repeat(program, 1);
	snprintf(check, sizeof(check), "closed pipe: %s: the tool ends by itself", name);
	test__check(run.ended, check, "it goes on");
	tool_run__stop(&run);
	snprintf(check, sizeof(check), "closed pipe: %s: the status is 0", name);
	test__equal(check, (uint64_t)run.status, 0);
	snprintf(check, sizeof(check), "closed pipe: %s: no complaint", name);
	test__check(!strstr(run.err, "error") && !strstr(run.err, "roken"), check, "saw: %s",
		    run.err);
	tool_run__free(&run);
}

static void check_no_room(struct tool_run *run, const char *name)
{
	char check[128];

	for (int i = 0; i < 50 && !tool_run__ends(run, 20, false); i++)
		workload__repeat(program, 1);
	snprintf(check, sizeof(check), "disk full: %s: the tool ends by itself", name);
	test__check(run->ended, check, "it goes on");
	tool_run__stop(run);
	snprintf(check, sizeof(check), "disk full: %s: the status is 1", name);
	test__equal(check, (uint64_t)run->status, 1);
	snprintf(check, sizeof(check), "disk full: %s: the message says why", name);
	test__check(strstr(run->err, "No space left on device"), check, "saw: %s", run->err);
	tool_run__free(run);
}

static void check_full_disk(void)
{
	int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct tool_run run;

	if (fd < 0) {
		test__skip("disk full: the status is 1", "there is no /dev/full");
		return;
	}
	tool_run__start(&run, &(struct tool_setup){ .stdout_fd = fd }, ARGS("-j"));
	check_no_room(&run, "stdout");
	tool_run__start(&run, NULL, ARGS("--output", "/dev/full"));
	check_no_room(&run, "--output");
	close(fd);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__small_program("loss");
	check_slow_reader();
	check_cut_args();
	check_closed_pipe(ARGS("-j"), "json");
	check_closed_pipe(NO_ARGS, "text");
	check_full_disk();
	return test__done();
}
