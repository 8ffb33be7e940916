// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What users of tools like it have reported as wrong: counts of 0 for calls that were made, calls
 * of another CPU or by another path left out, and no split by process. */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

#define TIMES 100

static void need(bool holds)
{
	if (!holds)
		_exit(20);
}

static int open_file(void)
{
	int fd = open(scratch__path("appended"), O_WRONLY | O_CREAT | O_APPEND, 0600);

	need(fd >= 0);
	return fd;
}

/* Write and sync, again and again. */
static void do_append(const struct writer *writer)
{
	int fd = open_file();

	(void)writer;
	for (int i = 0; i < TIMES; i++)
		need(write(fd, "line\n", 5) == 5 && !fsync(fd));
}

static void do_both(const struct writer *writer)
{
	static const struct iovec vector[2] = { { "ab", 2 }, { "c", 1 } };
	int fd = open_file();

	(void)writer;
	for (int i = 0; i < TIMES; i++)
		need(write(fd, "line\n", 5) == 5 && writev(fd, vector, 2) == 3);
}

static void check_appends(void)
{
	const struct writer writer = { writer__name("append"), TIMES, 5, -1, do_append };
	struct counted counted;
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j"));
	writer__run(&writer);
	tool_run__stop(&run);
	records__load(&records, &run);
	counted = counted__of(&records, writer.name);
	test__equal("appending with syncs: each write is counted", counted.calls, TIMES);
	test__equal("appending with syncs: and its bytes", counted.bytes, 5 * TIMES);
	records__free(&records);
	tool_run__free(&run);
}

static uint64_t calls_of(const struct records *records, const char *comm, const char *func)
{
	const struct json_value *record, *key;
	uint64_t calls = 0;
	size_t at = 0;

	while ((record = records__next(records, "count", 0, &at))) {
		key = json__get(record, "key");
		if (json__is(json__get(key, "comm"), comm) &&
		    json__is(json__get(key, "func"), func))
			calls += (uint64_t)record__number(record, "calls");
	}
	return calls;
}

static void check_vectors(void)
{
	const struct writer writer = { writer__name("both"), TIMES, 5, -1, do_both };
	struct records records;
	struct tool_run run;
	bool by_syscall;

	tool_run__trace(&run, NULL, ARGS("-j", "--paths", "all"));
	writer__run(&writer);
	tool_run__stop(&run);
	records__load(&records, &run);
	by_syscall = strstr(run.err, "in place of") != NULL;
	test__equal("a hundred calls of write",
		    calls_of(&records, writer.name, by_syscall ? "write" : "vfs_write"), TIMES);
	test__equal("and a hundred of writev",
		    calls_of(&records, writer.name, by_syscall ? "writev" : "vfs_writev"), TIMES);
	records__free(&records);
	tool_run__free(&run);
}

/* The first or the last CPU that this process may use. */
static int find_cpu(bool last)
{
	cpu_set_t usable;
	int found = -1;

	if (sched_getaffinity(0, sizeof(usable), &usable))
		test__fatal("CPUs", "cannot be told");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &usable) && (last || found < 0))
			found = cpu;
	return found;
}

static void run_on_first(void *ctx)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(*(const int *)ctx, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		_exit(21);
}

static void check_cpus(void)
{
	int first = find_cpu(false);
	const struct writer writer = { writer__name("far"), 3000, 4, find_cpu(true), NULL };
	const struct tool_setup setup = { .prepare = run_on_first, .ctx = &first };
	struct counted counted;
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, &setup, ARGS("-j", "-b", "0.1"));
	writer__run(&writer);
	tool_run__stop(&run);
	records__load(&records, &run);
	counted = counted__of(&records, writer.name);
	test__equal("the writer on the last CPU, the tool on the first", counted.calls, 3000);
	test__equal("and its bytes", counted.bytes, 4 * 3000);
	records__free(&records);
	tool_run__free(&run);
}

static void check_split(void)
{
	const struct writer one = { writer__name("split"), 1000, 3, -1, NULL };
	const struct writer two = { one.name, 2000, 5, -1, NULL };
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	pid_t pids[2];
	int found = 0;
	size_t at = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "-P", "--comm", one.name));
	pids[0] = writer__start(&one);
	pids[1] = writer__start(&two);
	writer__wait(pids[0]);
	writer__wait(pids[1]);
	tool_run__stop(&run);
	records__load(&records, &run);
	while ((record = records__next(&records, "count", 0, &at))) {
		int64_t pid = record__number(json__get(record, "key"), "pid");
		int which = pid == pids[1];

		found += (pid == pids[0] || pid == pids[1]) &&
			 record__number(record, "calls") == (which ? 2000 : 1000) &&
			 record__number(record, "bytes") == (which ? 10000 : 3000);
	}
	test__check(found == 2 && counted__of(&records, NULL).rows == 2,
		    "two processes of one name: a row for each, with its own", "%s", run.out);
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	/* The writers share the folder. */
	scratch__path("");
	check_appends();
	check_vectors();
	check_cpus();
	check_split();
	return test__done();
}
