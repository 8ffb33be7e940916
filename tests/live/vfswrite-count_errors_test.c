// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calls that fail are counted by errno where they come to what is traced; what is counted by its
 * entry has its result when it comes; a run without calls says so. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

#define CLOSED_FD 987
#define FAILURES 50UL

static void expect(ssize_t result, int error)
{
	if (result >= 0 || errno != error)
		_exit(10 + error);
}

/* A number of calls for each error, and as many that succeed. */
static void fail(const struct writer *writer)
{
	static const char data[4096];
	int full = open("/dev/full", O_WRONLY), ends[2], blocked[2];

	signal(SIGPIPE, SIG_IGN);
	if (full < 0 || pipe(ends) || pipe2(blocked, O_NONBLOCK))
		_exit(4);
	close(ends[0]);
	while (write(blocked[1], data, sizeof(data)) > 0)
		continue;
	for (unsigned long i = 0; i < writer->calls; i++) {
		expect(write(CLOSED_FD, data, 1), EBADF);
		expect(write(full, data, 1), ENOSPC);
		expect(write(full, data, 1), ENOSPC);
		expect(write(ends[1], data, 1), EPIPE);
		expect(write(ends[1], (const void *)~0xfffUL, 1), EFAULT);
		expect(write(blocked[1], data, 1), EAGAIN);
	}
	_exit(0);
}

/* Whether the run counts system calls, and not vfs_write. */
static bool by_syscall(const struct records *records)
{
	const struct json_value *probes = json__get(records__account(records), "probes");

	for (size_t i = 0; i < probes->array.nr; i++)
		if (json__is(json__get(&probes->array.items[i], "target"), "sys_exit"))
			return true;
	return false;
}

static void check_errors(const char *way)
{
	const struct writer writer = { writer__name("fail"), FAILURES, 1, -1, fail };
	struct records records;
	struct tool_run run;

	if (!tool_run__start(&run, NULL, ARGS("-j", "--attach", way))) {
		tool_run__free(&run);
		return;
	}
	writer__run(&writer);
	tool_run__stop(&run);
	records__load(&records, &run);
	check_account(records__account(&records), way);
	test__equal("errors: ENOSPC", counted__errors(&records, writer.name, "ENOSPC"),
		    2 * FAILURES);
	test__equal("errors: EPIPE", counted__errors(&records, writer.name, "EPIPE"), FAILURES);
	test__equal("errors: EFAULT", counted__errors(&records, writer.name, "EFAULT"), FAILURES);
	/* One more filled the pipe. */
	test__equal("errors: EAGAIN", counted__errors(&records, writer.name, "EAGAIN"),
		    FAILURES + 1);
	test__equal("errors: EBADF never comes to vfs_write",
		    counted__errors(&records, writer.name, "EBADF"),
		    by_syscall(&records) ? FAILURES : 0);
	records__free(&records);
	tool_run__free(&run);
}

/* Sleeps in a full pipe until the reader takes it. */
static int hold_pipe[2];

static void write_blocked(const struct writer *writer)
{
	static const char data[4096];

	close(hold_pipe[0]);
	/* 16 pages fill it: the 17th sleeps. */
	for (unsigned long i = 0; i < writer->calls; i++)
		if (write(hold_pipe[1], data, sizeof(data)) < 0)
			_exit(5);
}

static pid_t start_blocked(const struct writer *writer)
{
	pid_t pid;

	if (pipe(hold_pipe))
		test__fatal("pipe", "errno %d", errno);
	pid = writer__start(writer);
	close(hold_pipe[1]);
	test__sleep_ms(test__patience_ms(100));
	return pid;
}

static void drain_pipe(void)
{
	char data[4096];

	while (read(hold_pipe[0], data, sizeof(data)) > 0)
		continue;
	close(hold_pipe[0]);
}

/* A call that was inside when the run began: its result is seen by the tracepoint of system calls
 * alone, since a trampoline is entered with the function. One that is inside at the end is there
 * without a result, where it was counted at all. */
static void check_inside(const char *way)
{
	const struct writer before = { writer__name("before"), 17, 4096, -1, write_blocked };
	const struct writer after = { writer__name("after"), 17, 4096, -1, write_blocked };
	const struct json_value *account;
	bool by_entry = !strcmp(way, "kprobe"), by_syscalls = !strcmp(way, "tp_btf");
	struct counted counted;
	struct records records;
	struct tool_run run;
	pid_t pid = start_blocked(&before);

	if (!tool_run__start(&run, NULL, ARGS("-j", "--attach", way))) {
		tool_run__free(&run);
		drain_pipe();
		writer__wait(pid);
		return;
	}
	drain_pipe();
	writer__wait(pid);
	pid = start_blocked(&after);
	tool_run__stop(&run);
	drain_pipe();
	writer__wait(pid);
	records__load(&records, &run);
	account = records__account(&records);
	check_account(account, "inside");
	counted = counted__of(&records, before.name);
	test__equal("inside at the start: counted if its return is seen", counted.calls,
		    by_syscalls);
	test__equal("inside at the start: so with its bytes", counted.bytes,
		    by_syscalls ? 4096 : 0);
	counted = counted__of(&records, after.name);
	test__equal("inside at the end: counted at the entry only", counted.calls,
		    by_entry ? 17 : 16);
	test__equal("inside at the end: bytes that were written", counted.bytes, 16 * 4096);
	test__check(record__number(json__get(account, "detail_lost"), "result") >= by_entry,
		    "inside at the end: the missing result is told", "it is not");
	records__free(&records);
	tool_run__free(&run);
}

/* The text names the errors of each row, and of the total. */
static void check_text(void)
{
	const struct writer writer = { writer__name("named"), FAILURES, 1, -1, fail };
	const char *row, *end;
	struct tool_run run;
	char line[256] = "";

	tool_run__trace(&run, NULL, ARGS("-x", "--comm", writer.name));
	writer__run(&writer);
	tool_run__stop(&run);
	row = strstr(run.out, writer.name);
	end = row ? strchr(row, '\n') : NULL;
	if (end)
		snprintf(line, sizeof(line), "%.*s", (int)(end - row), row);
	test__check(strstr(line, "EPIPE 50") && strstr(line, "ENOSPC 100"),
		    "text: the row has its errors by name", "stdout: %s", run.out);
	row = strstr(run.out, "\ntotal");
	test__check(row && strstr(row, "ENOSPC 100"), "text: so has the total", "stdout: %s",
		    run.out);
	tool_run__free(&run);
}

static void check_nothing(void)
{
	char pid[16];
	struct records records;
	struct tool_run run;

	snprintf(pid, sizeof(pid), "%d", getpid());
	tool_run__trace(&run, NULL, ARGS("-j", "-t", pid));
	test__sleep_ms(100);
	tool_run__stop(&run);
	records__load(&records, &run);
	test__equal("nothing: a total of 0", counted__total(&records).rows, 1);
	test__equal("nothing: no calls", counted__total(&records).calls, 0);
	test__equal("nothing: no other row", counted__of(&records, NULL).rows, 0);
	test__check(strstr(run.err, "0 events") != NULL, "nothing: it is said", "stderr: %s",
		    run.err);
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "auto", "fentry", "kprobe", "tp_btf" };

	role__play(argc, argv);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		check_errors(ways[i]);
	for (size_t i = 1; i < sizeof(ways) / sizeof(ways[0]); i++)
		check_inside(ways[i]);
	check_text();
	check_nothing();
	return test__done();
}
