// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Histograms by key: each process and thread has its own, idle tasks have none, what finds no
 * room is counted. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"

static volatile int stop;

static void *nap(void *arg)
{
	(void)arg;
	while (!stop)
		usleep(200);
	return NULL;
}

static void run_threads(int nr, unsigned int ms)
{
	pthread_t threads[16];

	stop = 0;
	for (int i = 0; i < nr; i++)
		if (pthread_create(&threads[i], NULL, nap, NULL))
			test__fatal("threads", "errno %d", errno);
	test__sleep_ms(ms);
	stop = 1;
	for (int i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

/* What the histograms of a run hold for this process. */
struct tally {
	unsigned long histograms;
	uint64_t count;
	unsigned long all; /* histograms of any process */
	uint64_t all_count;
	unsigned long idle;
};

static struct tally tally_of(const struct records *records)
{
	const struct json_value *record;
	struct tally tally = { 0 };
	size_t index = 0;

	while ((record = records__next(records, "histogram", 0, &index))) {
		int64_t pid = record__number(json__get(record, "key"), "pid");

		tally.all++;
		tally.all_count += (uint64_t)record__number(record, "count");
		tally.idle += pid == 0;
		if (pid != getpid())
			continue;
		tally.histograms++;
		tally.count += (uint64_t)record__number(record, "count");
	}
	return tally;
}

static struct tally trace_threads(const char *name, const char *const *args)
{
	struct records records;
	struct tally tally;
	struct tool_run run;

	tool_run__trace(&run, NULL, args);
	run_threads(4, 300);
	tool_run__stop(&run);
	records__load(&records, &run);
	check_account(records__account(&records), name);
	tally = tally_of(&records);
	records__free(&records);
	tool_run__free(&run);
	return tally;
}

static void check_process_and_threads(void)
{
	struct tally by_process, by_thread;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	by_process = trace_threads("by process", ARGS("-j", "-P"));
	test__equal("by process: one histogram for four threads", by_process.histograms, 1);
	test__equal("by process: none for idle tasks", by_process.idle, 0);
	by_thread = trace_threads("by thread", ARGS("-j", "-L", "-p", pid));
	test__equal("by thread: one for each, and for the first thread", by_thread.histograms, 5);
	test__equal("by thread: the filter leaves out all others", by_thread.all, 5);
	test__check(by_thread.count > 100, "by thread: the waits of the threads", "%" PRIu64,
		    by_thread.count);
}

/* A process that sleeps for a moment, twice. */
static pid_t start_napper(void)
{
	pid_t pid = fork();

	if (pid < 0)
		test__fatal("fork", "errno %d", errno);
	if (pid)
		return pid;
	usleep(1000);
	usleep(1000);
	_exit(0);
}

static void check_many_processes(void)
{
	unsigned long nr = test__scaled(2000), alive = 0;
	struct records records;
	struct tally tally;
	struct tool_run run;
	char ppid[16];

	snprintf(ppid, sizeof(ppid), "%d", getpid());
	tool_run__trace(&run, NULL, ARGS("-j", "-P", "--ppid", ppid));
	for (unsigned long i = 0; i < nr; i++) {
		start_napper();
		if (++alive == 50) {
			wait(NULL);
			alive--;
		}
	}
	while (alive-- > 0 && wait(NULL) > 0)
		continue;
	tool_run__stop(&run);
	records__load(&records, &run);
	tally = tally_of(&records);
	/* The tool is a child of the test, too. */
	test__check(tally.all >= nr && tally.all <= nr + 1,
		    "many processes: each has its histogram", "%lu of %lu", tally.all, nr);
	check_account(records__account(&records), "many processes");
	test__equal("many processes: the sum of all rows is what is recorded", tally.all_count,
		    (uint64_t)account__term(records__account(&records), NULL, "recorded"));
	test__equal("many processes: there was room for all",
		    (uint64_t)record__number(json__get(records__account(&records), "lost"),
					     "map_full"),
		    0);
	records__free(&records);
	tool_run__free(&run);
}

/* The inode number of a process's own PID namespace. */
static int64_t pid_ns_of(const char *pid)
{
	char path[64];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%s/ns/pid", pid);
	return stat(path, &status) ? -1 : (int64_t)status.st_ino;
}

static _Noreturn void nap_for_ever(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		usleep(1000);
}

/* A process with a PID namespace that only its children are in, and one of these. */
static pid_t start_in_namespace(pid_t *child)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		test__fatal("pipe", "errno %d", errno);
	pid = fork();
	if (!pid) {
		pid_t own = unshare(CLONE_NEWPID) ? -1 : fork();

		if (own && write(ends[1], &own, sizeof(own)) != sizeof(own))
			_exit(1);
		nap_for_ever();
	}
	if (pid < 0 || read(ends[0], child, sizeof(*child)) != sizeof(*child) || *child < 0)
		test__fatal("a PID namespace", "errno %d", errno);
	return pid;
}

/* A process is in the namespace that it has an id in, not in the one of its future children. */
static void check_pid_namespaces(void)
{
	const struct json_value *record;
	int64_t ours = pid_ns_of("self"), theirs;
	unsigned long parents = 0, children = 0, wrong = 0;
	char pids[40], child_pid[16];
	struct records records;
	struct tool_run run;
	pid_t parent, child;
	size_t index = 0;

	parent = start_in_namespace(&child);
	snprintf(pids, sizeof(pids), "%d,%d", parent, child);
	snprintf(child_pid, sizeof(child_pid), "%d", child);
	theirs = pid_ns_of(child_pid);
	tool_run__once(&run, NULL, ARGS("-j", "--by", "pid,pid_ns", "-p", pids, "-d", "0.5"));
	kill(parent, SIGKILL);
	kill(child, SIGKILL);
	waitpid(parent, NULL, 0);
	records__load(&records, &run);
	while ((record = records__next(&records, "histogram", 0, &index))) {
		const struct json_value *key = json__get(record, "key");
		bool is_child = record__number(key, "pid") == child;

		parents += !is_child;
		children += is_child;
		wrong += record__number(key, "pid_ns") != (is_child ? theirs : ours);
	}
	test__check(ours > 0 && theirs > 0 && ours != theirs, "PID namespaces: there are two",
		    "%" PRId64 " and %" PRId64, ours, theirs);
	test__check(parents == 1 && children == 1, "PID namespaces: a histogram for each process",
		    "%lu and %lu", parents, children);
	test__equal("PID namespaces: each is in its own", wrong, 0);
	records__free(&records);
	tool_run__free(&run);
}

static void check_full_table(void)
{
	struct records records;
	struct tally tally;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "-L", "--max-keys", "2"));
	run_threads(8, 300);
	tool_run__stop(&run);
	records__load(&records, &run);
	tally = tally_of(&records);
	test__equal("full table: it has its keys", tally.all, 2);
	test__check(record__number(json__get(records__account(&records), "lost"), "map_full") > 0,
		    "full table: the rest is counted as map_full", "none was");
	test__check(json__is(json__get(records__account(&records), "verdict"), "lower_bound"),
		    "full table: and the verdict says so", "it does not");
	check_account(records__account(&records), "full table");
	records__free(&records);
	tool_run__free(&run);
}

/* The threads with most of the order; all others are one histogram. */
static void check_top(const char *order, bool often_first)
{
	const struct json_value *record, *key, *others = NULL, *first = NULL;
	uint64_t count = 0, last = 0, unsorted = 0;
	struct records records;
	struct tool_run run;
	size_t index = 0, nr = 0;
	char check[96];

	tool_run__trace(&run, NULL, ARGS("-j", "-L", "--top", "2", "--sort", order));
	run_threads(4, 300);
	tool_run__stop(&run);
	records__load(&records, &run);
	while ((record = records__next(&records, "histogram", 0, &index))) {
		uint64_t by = (uint64_t)record__number(record, often_first ? "count" : "max_ns");

		key = json__get(record, "key");
		count += (uint64_t)record__number(record, "count");
		if (json__get(key, "others")) {
			others = record;
			continue;
		}
		unsorted += by < last;
		last = by;
		first = record;
		nr++;
	}
	snprintf(check, sizeof(check), "top by %s: so many and no more", order);
	test__equal(check, nr, 2);
	snprintf(check, sizeof(check), "top by %s: the most is the last", order);
	test__equal(check, unsorted, 0);
	snprintf(check, sizeof(check), "top by %s: no other has more", order);
	test__check(others && first &&
			    (often_first ||
			     record__number(others, "max_ns") <= record__number(first, "max_ns")),
		    check, "it has");
	snprintf(check, sizeof(check), "top by %s: with the others it is the whole", order);
	test__equal(check, count,
		    (uint64_t)account__term(records__account(&records), NULL, "recorded"));
	records__free(&records);
	tool_run__free(&run);
}

/* The sum over all CPUs and causes is the whole. */
static void check_cpus_and_causes(void)
{
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	uint64_t count = 0;
	unsigned long woken = 0;
	size_t index = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "-C", "--cause"));
	run_threads(4, 300);
	tool_run__stop(&run);
	records__load(&records, &run);
	while ((record = records__next(&records, "histogram", 0, &index))) {
		count += (uint64_t)record__number(record, "count");
		woken += json__is(json__get(json__get(record, "key"), "cause"), "woken");
	}
	test__check(woken > 0, "by CPU and cause: sleepers are woken", "none");
	test__equal("by CPU and cause: the sum is the whole", count,
		    (uint64_t)account__term(records__account(&records), NULL, "recorded"));
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	check_process_and_threads();
	check_many_processes();
	check_pid_namespaces();
	check_full_table();
	check_top("count", true);
	check_top("max", false);
	check_cpus_and_causes();
	return test__done();
}
