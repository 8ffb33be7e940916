// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Two busy loops on one CPU: the time slice in the histogram, the longest waits with who had the
 * CPU meanwhile, intervals that add up, every line by the schema.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/children.h"
#include "support/records.h"
#include "support/role.h"
#include "support/schema.h"
#include "support/test.h"
#include "support/tool.h"

static pid_t hogs[2];
static char pids[40];

/* A busy loop under this name on the last CPU, until it is killed. */
static pid_t start_hog(const char *name)
{
	pid_t pid = children__fork();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	children__bind(children__last_cpu());
	for (;;)
		continue;
}

static const char *name_of(int64_t pid)
{
	return pid == hogs[0] ? "hog one" : pid == hogs[1] ? "hog two" : NULL;
}

/* The id and the name of each task in a record are of the same one. */
static unsigned long mismatches(const struct json_value *slow)
{
	const char *name = name_of(record__number(slow, "pid"));
	const char *prev = name_of(record__number(slow, "prev_pid"));

	return (name && !json__is(json__get(slow, "comm"), name)) +
	       (prev && !json__is(json__get(slow, "prev_comm"), prev));
}

static void check_slowest(void)
{
	const struct json_value *slow, *histogram;
	int64_t last_ns = INT64_MAX;
	unsigned long nr = 0, wrong_names = 0, unsorted = 0, other_pids = 0;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "--slowest", "3", "-p", pids));
	test__sleep_ms(1000);
	test__equal("slowest: the tool ends well", (uint64_t)tool_run__stop(&run), 0);
	records__load(&records, &run);
	while ((slow = records__next(&records, "slow", 0, &index))) {
		nr++;
		unsorted += record__number(slow, "duration_ns") > last_ns;
		last_ns = record__number(slow, "duration_ns");
		wrong_names += mismatches(slow);
		other_pids += !name_of(record__number(slow, "pid"));
	}
	test__equal("slowest: as many as asked for", nr, 3);
	test__equal("slowest: the longest first", unsorted, 0);
	test__equal("slowest: the filter holds", other_pids, 0);
	test__equal("slowest: id and name are of one task", wrong_names, 0);
	index = 0;
	histogram = records__next(&records, "histogram", 0, &index);
	index = 0;
	slow = records__next(&records, "slow", 0, &index);
	test__check(histogram && slow &&
			    record__number(histogram, "max_ns") ==
				    record__number(slow, "duration_ns"),
		    "slowest: the first is the greatest of the histogram", "it is not");
	test__check(histogram && record__number(histogram, "sum_ns") > 200000000,
		    "histogram: the loops waited for each other", "%" PRId64 " ns",
		    record__number(histogram, "sum_ns"));
	check_account(records__account(&records), "slowest");
	records__free(&records);
	tool_run__free(&run);
}

static void check_text(void)
{
	struct tool_run run;

	test__equal("text: the status is 0",
		    (uint64_t)tool_run__once(&run, NULL, ARGS("-d", "1", "-p", pids)), 0);
	test__check(strstr(run.out, "usecs : count     distribution\n"), "text: bcc's heading",
		    "saw: %s", run.out);
	test__check(strstr(run.out, "|****"), "text: bars", "saw: %s", run.out);
	test__check(strstr(run.out, "; p50 ["), "text: percentiles as bounds", "saw: %s", run.out);
	test__check(strstr(run.out, "CPU-HELD-BY") && strstr(run.out, "hog "),
		    "text: the longest waits and who held the CPU", "saw: %s", run.out);
	test__check(strstr(run.err, " seen = "), "text: the account", "saw: %s", run.err);
	tool_run__free(&run);
}

/* A process on the loops' CPU that reads a byte at a time; *fd: where to write them. */
static pid_t start_reader(int *fd)
{
	int ends[2];
	pid_t pid;
	char byte;

	if (pipe(ends))
		test__fatal("pipe", "errno %d", errno);
	pid = children__fork();
	if (pid) {
		close(ends[0]);
		*fd = ends[1];
		return pid;
	}
	children__bind(children__last_cpu());
	while (read(ends[0], &byte, 1) == 1)
		continue;
	_exit(0);
}

/* The text tells also who woke a thread, without being asked. */
static void check_waker(void)
{
	unsigned long woken = 0, by_us = 0;
	char reader[16], us[64], *line;
	struct tool_run run;
	pid_t pid;
	int fd;

	pid = start_reader(&fd);
	prctl(PR_SET_NAME, "the waker");
	snprintf(reader, sizeof(reader), "%d", pid);
	snprintf(us, sizeof(us), "the waker/%d", getpid());
	tool_run__trace(&run, NULL, ARGS("-p", reader));
	for (unsigned long i = 0; i < 100; i++) {
		if (write(fd, "x", 1) != 1)
			test__fatal("write", "errno %d", errno);
		test__sleep_ms(10);
	}
	tool_run__stop(&run);
	test__check(strstr(run.out, "WOKEN-BY") != NULL, "waker: there is a column", "saw: %s",
		    run.out);
	for (line = strtok(run.out, "\n"); line; line = strtok(NULL, "\n")) {
		if (!strstr(line, " woken "))
			continue;
		woken++;
		by_us += strstr(line, us) != NULL;
	}
	test__check(woken > 0, "waker: long waits of who was woken are told", "none");
	test__equal("waker: and that it was this process", by_us, woken);
	close(fd);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tool_run__free(&run);
}

/* Whether there is a record of a wait longer than 1 ms and none that is not. */
static void check_slower(void)
{
	unsigned long nr = 0, wrong = 0, held = 0;
	const struct json_value *slow;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "--slower", "1ms", "-p", pids));
	test__sleep_ms(1000);
	tool_run__stop(&run);
	records__load(&records, &run);
	while ((slow = records__next(&records, "slow", 0, &index))) {
		nr++;
		wrong += record__number(slow, "duration_ns") <= 1000000;
		held += name_of(record__number(slow, "prev_pid")) != NULL;
	}
	test__check(nr >= 10, "slower: long waits are told", "%lu", nr);
	test__equal("slower: and no short ones", wrong, 0);
	test__check(held > 0, "slower: the other loop held the CPU", "in none");
	records__free(&records);
	tool_run__free(&run);
}

static void check_intervals(void)
{
	const char *const args[] = { "-j", "--slowest", "2", "0.05", "60", NULL };
	uint64_t count = 0, gaps = 0, own = 0;
	int64_t end_ns = -1;
	struct records records;
	struct tool_run run;
	unsigned long nr = 0;

	test__equal("intervals: the count ends the run with 0",
		    (uint64_t)tool_run__once(&run, NULL, args), 0);
	records__load(&records, &run);
	for (size_t i = 0; i < records.nr; i++) {
		const struct json_value *record = records__at(&records, i);
		const struct json_value *type = json__get(record, "type");

		if (json__is(type, "histogram"))
			count += (uint64_t)record__number(record, "count");
		if (json__is(type, "slow"))
			/* The kernel side learns of the end a moment after the time was taken. */
			own += record__number(record, "time_ns") > end_ns + 20000000;
		if (!json__is(type, "interval"))
			continue;
		nr++;
		gaps += end_ns >= 0 && record__number(record, "start_ns") != end_ns;
		end_ns = record__number(record, "end_ns");
	}
	test__equal("intervals: as many as asked for", nr, 60);
	test__equal("intervals: each begins where the one before ended", gaps, 0);
	test__equal("intervals: their sum is the whole", count,
		    (uint64_t)account__term(records__account(&records), NULL, "recorded"));
	test__equal("intervals: no slow wait comes from a later one", own, 0);
	check_account(records__account(&records), "intervals");
	records__free(&records);
	tool_run__free(&run);
}

static void check_schema(void)
{
	unsigned long wrong = 0, nr = 0;
	struct json *schema;
	struct record_reader reader;
	const struct json_value *record;
	char why[200] = "", error[200];
	struct tool_run run;

	tool_run__once(&run, NULL, ARGS("--json-schema"));
	schema = json__parse(run.out, run.out_size, error, sizeof(error));
	if (!test__check(schema != NULL, "schema: it is JSON", "%s", error))
		return;
	tool_run__free(&run);
	tool_run__once(&run, NULL,
		       ARGS("-j", "--slowest", "3", "--by", "tid,cgroup,cpu,cause,pid_ns", "0.2",
			    "3"));
	reader = (struct record_reader){ .data = run.out, .size = run.out_size };
	while ((record = record_reader__next(&reader))) {
		nr++;
		wrong += !schema__accepts(json__root(schema), record, why, sizeof(why));
	}
	test__check(!wrong && nr > 5, "schema: every line is as it says", "%lu of %lu: %s", wrong,
		    nr, why);
	json__free(schema);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	hogs[0] = start_hog("hog one");
	hogs[1] = start_hog("hog two");
	snprintf(pids, sizeof(pids), "%d,%d", hogs[0], hogs[1]);
	test__sleep_ms(100);
	check_slowest();
	check_text();
	check_waker();
	check_slower();
	check_intervals();
	check_schema();
	for (int i = 0; i < 2; i++) {
		kill(hogs[i], SIGKILL);
		waitpid(hogs[i], NULL, 0);
	}
	return test__done();
}
