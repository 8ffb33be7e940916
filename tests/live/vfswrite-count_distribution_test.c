// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Histograms of sizes and of times, of writers of which both are known, by each way to attach that
 * works here; over intervals, by keys, and of calls that begin before the run. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/children.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

#define ONES 700
#define HUNDREDS 30
#define PAGES 5
#define FAILURES 11
#define CALLS (ONES + HUNDREDS + PAGES)
#define BYTES (ONES + HUNDREDS * 100UL + PAGES * 4096UL)

#define NS_PER_MS 1000000ULL

static const char *const ways[] = { "auto", "fentry", "kprobe", "tp_btf" };

static void need(bool holds)
{
	if (!holds)
		_exit(20);
}

/* Writes of three sizes, and some that fail. */
static void do_sizes(const struct writer *writer)
{
	static char data[4096];
	int fd = open("/dev/null", O_WRONLY);

	(void)writer;
	need(fd >= 0);
	for (int i = 0; i < ONES; i++)
		need(write(fd, data, 1) == 1);
	for (int i = 0; i < HUNDREDS; i++)
		need(write(fd, data, 100) == 100);
	for (int i = 0; i < PAGES; i++)
		need(write(fd, data, sizeof(data)) == sizeof(data));
	fd = open("/dev/full", O_WRONLY);
	need(fd >= 0);
	for (int i = 0; i < FAILURES; i++)
		need(write(fd, data, 50) < 0 && errno == ENOSPC);
}

/* What the histograms of a run hold together. */
struct distribution {
	size_t nr;
	uint64_t count;
	uint64_t sum;
	uint64_t most;
	uint64_t in_buckets;
	uint64_t of_one; /* in the bucket of the value 1 */
};

static void distribution__add(struct distribution *all, const struct json_value *record,
			      bool of_times)
{
	const struct json_value *buckets = json__get(record, "buckets");
	int64_t most = record__number(record, of_times ? "max_ns" : "max_bytes");

	all->nr++;
	all->count += (uint64_t)record__number(record, "count");
	all->sum += (uint64_t)record__number(record, of_times ? "sum_ns" : "sum_bytes");
	if (most > 0 && (uint64_t)most > all->most)
		all->most = (uint64_t)most;
	for (size_t i = 0; i < buckets->array.nr; i++) {
		const struct json_value *bucket = &buckets->array.items[i];
		uint64_t count = (uint64_t)record__number(bucket, "count");

		all->in_buckets += count;
		if (record__number(bucket, "ge") == 1)
			all->of_one += count;
	}
}

/* comm: of the key; NULL: any. */
static struct distribution distribution__of(const struct records *records, const char *comm,
					    bool of_times)
{
	struct distribution all = { 0 };
	const struct json_value *record;
	size_t index = 0;

	while ((record = records__next(records, "histogram", 0, &index)))
		if (!comm || json__is(json__get(json__get(record, "key"), "comm"), comm))
			distribution__add(&all, record, of_times);
	return all;
}

static bool is_whole(const struct records *records)
{
	return !json__is(json__get(records__account(records), "verdict"), "lower_bound");
}

/* Whether the way works here; then the run is on. */
static bool start_way(struct tool_run *run, const char *way, const char *option, const char *comm)
{
	if (tool_run__start(run, NULL, ARGS("-j", "--attach", way, option, "--comm", comm)))
		return true;
	tool_run__free(run);
	return false;
}

static void check_sizes(const char *way)
{
	const struct writer writer = { writer__name("sizes"), CALLS, 1, -1, do_sizes };
	struct distribution all;
	struct records records;
	struct tool_run run;
	char check[96];

	if (!start_way(&run, way, "--sizes", writer.name))
		return;
	writer__run(&writer);
	tool_run__stop(&run);
	records__load(&records, &run);
	all = distribution__of(&records, NULL, false);
	check_account(records__account(&records), way);
	if (!strcmp(way, "auto"))
		check_exact(records__account(&records), "sizes");
	snprintf(check, sizeof(check), "%s: one histogram of all sizes", way);
	test__equal(check, all.nr, 1);
	snprintf(check, sizeof(check), "%s: it has each call that did not fail", way);
	test__check(is_whole(&records) ? all.count == CALLS : all.count <= CALLS, check, "%" PRIu64,
		    all.count);
	snprintf(check, sizeof(check), "%s: and all bytes, as the rows have", way);
	test__equal(check, all.sum, counted__of(&records, writer.name).bytes);
	test__check(is_whole(&records) ? all.sum == BYTES : all.sum <= BYTES, check, "%" PRIu64,
		    all.sum);
	snprintf(check, sizeof(check), "%s: the largest, and the buckets", way);
	test__check(!is_whole(&records) || (all.most == 4096 && all.of_one == ONES), check,
		    "largest %" PRIu64 ", %" PRIu64 " of 1 byte", all.most, all.of_one);
	test__equal("the buckets add up to the count", all.in_buckets, all.count);
	records__free(&records);
	tool_run__free(&run);
}

static void check_by_keys(void)
{
	const struct writer writer = { writer__name("keys"), CALLS, 1, -1, do_sizes };
	const struct writer other = { writer__name("second"), 40, 7, -1, NULL };
	struct distribution all;
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "-b", "--by", "comm,uid"));
	writer__run(&writer);
	writer__run(&other);
	tool_run__stop(&run);
	records__load(&records, &run);
	check_exact(records__account(&records), "by keys");
	all = distribution__of(&records, writer.name, false);
	test__check(all.nr == 1 && all.count == CALLS && all.sum == BYTES,
		    "by keys: a histogram for each writer", "%zu, %" PRIu64 " calls, %" PRIu64,
		    all.nr, all.count, all.sum);
	all = distribution__of(&records, other.name, false);
	test__check(all.nr == 1 && all.count == 40 && all.sum == 280 && all.most == 7,
		    "by keys: and for the other", "%zu, %" PRIu64 " calls, %" PRIu64, all.nr,
		    all.count, all.sum);
	test__equal("by keys: the sums of all are the bytes of the total",
		    distribution__of(&records, NULL, false).sum, counted__total(&records).bytes);
	records__free(&records);
	tool_run__free(&run);
}

static void check_intervals(const char *option, bool of_times)
{
	const struct writer writer = { writer__name("often"), 150000, 2, -1, NULL };
	struct distribution all;
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", option, "--comm", writer.name, "0.02"));
	for (int i = 0; i < 3; i++)
		writer__run(&writer);
	tool_run__stop(&run);
	records__load(&records, &run);
	all = distribution__of(&records, NULL, of_times);
	check_exact(records__account(&records), "intervals");
	test__equal("intervals: a histogram for each", all.nr,
		    records__count(&records, "interval", NULL));
	test__equal("intervals: together they have every call", all.count, 3 * writer.calls);
	test__equal("intervals: and their buckets", all.in_buckets, 3 * writer.calls);
	if (!of_times)
		test__equal("intervals: and every byte", all.sum, 6 * writer.calls);
	records__free(&records);
	tool_run__free(&run);
}

/* Fills a pipe, of which nothing is read for a while: the last write sleeps. */
static void do_sleep(const struct writer *writer)
{
	static char data[65536];
	int ends[2];
	pid_t pid;

	(void)writer;
	need(!pipe(ends));
	pid = fork();
	need(pid >= 0);
	if (!pid) {
		usleep(50000);
		while (read(ends[0], data, sizeof(data)) > 0)
			continue;
		_exit(0);
	}
	close(ends[0]);
	for (int i = 0; i < 2; i++)
		need(write(ends[1], data, sizeof(data)) == sizeof(data));
	close(ends[1]);
	kill(pid, SIGKILL);
	need(waitpid(pid, NULL, 0) == pid);
}

static void check_times(const char *way)
{
	const struct writer writer = { writer__name("sleeps"), 2, 1, -1, do_sleep };
	struct distribution all;
	struct records records;
	pid_t pids[20];
	struct tool_run run;
	char check[96];

	if (!start_way(&run, way, "--latency", writer.name))
		return;
	for (int i = 0; i < 20; i++)
		pids[i] = writer__start(&writer);
	for (int i = 0; i < 20; i++)
		writer__wait(pids[i]);
	tool_run__stop(&run);
	records__load(&records, &run);
	all = distribution__of(&records, NULL, true);
	check_account(records__account(&records), way);
	snprintf(check, sizeof(check), "%s: times of all calls that slept", way);
	test__check(is_whole(&records) ? all.count == 40 : all.count <= 40, check, "%" PRIu64,
		    all.count);
	snprintf(check, sizeof(check), "%s: they are those of the sleep", way);
	test__check(all.most >= 40 * NS_PER_MS &&
			    (!is_whole(&records) || all.sum >= 20 * 40 * NS_PER_MS),
		    check, "longest %" PRIu64 " ns, sum %" PRIu64 " ns", all.most, all.sum);
	test__equal("the buckets add up to the count", all.in_buckets, all.count);
	records__free(&records);
	tool_run__free(&run);
}

/* Writes in pipe once and again, the first time until somebody reads. */
static pid_t start_blocked(int ends[2], const char *name)
{
	static char data[65536];
	pid_t pid;

	if (pipe(ends))
		test__fatal("begun before", "no pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		test__fatal("begun before", "no process: %s", strerror(errno));
	if (pid) {
		children__add(pid);
		return pid;
	}
	need(!prctl(PR_SET_NAME, name));
	need(write(ends[1], data, sizeof(data)) == sizeof(data));
	need(write(ends[1], data, 10) == 10);
	need(write(ends[1], data, 10) == 10);
	_exit(0);
}

/* A call that began before the run has no time. At its function it is not seen either: what is put
 * there only meets calls that come then. */
static void check_begun_before(const char *way)
{
	const char *name = writer__name("before");
	const struct json_value *account;
	struct distribution all;
	struct records records;
	struct tool_run run;
	static char data[65536];
	int ends[2];
	pid_t pid = start_blocked(ends, name);
	bool by_syscall;
	char check[96];

	test__sleep_ms(test__patience_ms(200));
	if (!start_way(&run, way, "-l", name)) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		children__remove(pid);
		return;
	}
	for (size_t have = 0; have < sizeof(data) + 20;)
		have += (size_t)read(ends[0], data, sizeof(data));
	writer__wait(pid);
	tool_run__stop(&run);
	records__load(&records, &run);
	account = records__account(&records);
	all = distribution__of(&records, NULL, true);
	by_syscall = strstr(run.err, "in place of") != NULL;
	check_account(account, way);
	snprintf(check, sizeof(check), "%s: a call that began before the run has no time", way);
	test__check(!is_whole(&records) || all.count == 1, check, "%" PRIu64 " times", all.count);
	snprintf(check, sizeof(check), "%s: and is said to have", way);
	test__equal(check, (uint64_t)record__number(account, "begun_before"), by_syscall);
	test__equal("and the calls", counted__of(&records, name).calls, by_syscall ? 2 : 1);
	records__free(&records);
	tool_run__free(&run);
	close(ends[0]);
	close(ends[1]);
}

static void check_text(void)
{
	const struct writer writer = { writer__name("text"), CALLS, 1, -1, do_sizes };
	struct tool_run run;
	char *csv;

	tool_run__trace(&run, NULL, ARGS("-b", "--comm", writer.name));
	writer__run(&writer);
	tool_run__stop(&run);
	test__check(strstr(run.out, " bytes : count ") && strstr(run.out, "count 735, average") &&
			    strstr(run.out, "min 1, max 4096;"),
		    "text: rows of bars, and what they sum up to", "stdout: %s", run.out);
	tool_run__free(&run);
	tool_run__trace(&run, NULL, ARGS("-b", "--comm", "nobody-has-this"));
	tool_run__stop(&run);
	test__check(strstr(run.out, "\ncount 0\n") != NULL, "text: none is said", "stdout: %s",
		    run.out);
	tool_run__free(&run);
	tool_run__trace(&run, NULL, ARGS("--format", "csv", "-l", "--comm", writer.name));
	writer__run(&writer);
	tool_run__stop(&run);
	csv = strstr(run.out, "\nhistogram,");
	test__check(csv && strstr(run.out, "sum_ns"), "csv: the histogram has a line", "%s",
		    run.out);
	tool_run__free(&run);
	test__equal("sizes and times at once",
		    (uint64_t)tool_run__once(&run, NULL, ARGS("-b", "-l")), 2);
	tool_run__free(&run);
	test__equal("and --live", (uint64_t)tool_run__once(&run, NULL, ARGS("-l", "--live")), 2);
	tool_run__free(&run);
}

static void check_top(void)
{
	const struct writer small = { writer__name("small"), 50, 1, -1, NULL };
	const struct writer large = { writer__name("large"), 20, 4096, -1, NULL };
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	tool_run__trace(&run, NULL,
			ARGS("-j", "-b", "--by", "comm", "--top", "1", "--sort", "bytes", "--comm",
			     small.name, "--comm", large.name));
	writer__run(&small);
	writer__run(&large);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__next(&records, "histogram", 0, &index);
	test__check(record && record__number(json__get(record, "key"), "others") == 1 &&
			    record__number(record, "count") == 50,
		    "top: the others are one histogram", "stdout: %s", run.out);
	record = records__next(&records, "histogram", 0, &index);
	test__check(record && json__is(json__get(json__get(record, "key"), "comm"), large.name),
		    "top: behind it the one with the most bytes", "stdout: %s", run.out);
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		check_sizes(ways[i]);
		check_times(ways[i]);
		check_begun_before(ways[i]);
	}
	check_by_keys();
	check_intervals("--sizes", false);
	check_intervals("--latency", true);
	check_top();
	check_text();
	return test__done();
}
