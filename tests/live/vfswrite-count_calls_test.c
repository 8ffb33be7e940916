// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Calls and bytes of writers of which everything is known, by each way to attach that works here;
 * from all CPUs at once; of thousands of processes; over intervals. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

#define CALLS 300000UL

/* A run that has recorded these exactly. A way that was asked for can lose calls where the kernel
 * preempts itself, which it then says; the one that the tool chooses does not. */
static void check_known(const struct records *records, const char *way, const struct writer *writer)
{
	const struct json_value *account = records__account(records);
	struct counted counted = counted__of(records, writer->name);
	bool exact = !json__is(json__get(account, "verdict"), "lower_bound");
	char check[96];

	snprintf(check, sizeof(check), "%s: the account", way);
	check_account(account, check);
	if (!strcmp(way, "auto"))
		check_exact(account, "auto");
	snprintf(check, sizeof(check), "%s: the row says %lu calls", way, writer->calls);
	test__check(counted.rows == 1 && (exact ? counted.calls == writer->calls :
						  counted.calls <= writer->calls),
		    check, "%lu rows, %" PRIu64 " calls", counted.rows, counted.calls);
	snprintf(check, sizeof(check), "%s: and as many bytes as they have", way);
	test__check(exact ? counted.bytes == writer->calls * writer->size :
			    counted.bytes <= writer->calls * writer->size,
		    check, "%" PRIu64, counted.bytes);
	test__equal("and no errors", counted.errors, 0);
}

static void check_way(const char *way)
{
	const struct writer writer = { writer__name("one"), CALLS, 1, -1, NULL };
	const struct writer other = { writer__name("other"), 1000, 7, -1, NULL };
	struct records records;
	struct tool_run run;
	char check[96];

	if (!tool_run__start(&run, NULL, ARGS("-j", "--attach", way))) {
		tool_run__wait(&run);
		snprintf(check, sizeof(check), "%s: what does not work here is an error", way);
		test__check(strcmp(way, "auto") && run.status == 1 && strstr(run.err, "cannot "),
			    check, "status %d: %s", run.status, run.err);
		tool_run__free(&run);
		return;
	}
	writer__run(&writer);
	writer__run(&other);
	test__equal("its status", (uint64_t)tool_run__stop(&run), 0);
	records__load(&records, &run);
	check_known(&records, way, &writer);
	check_known(&records, way, &other);
	records__free(&records);
	tool_run__free(&run);
}

/* One writer pinned to each CPU that this process may use. */
static unsigned long write_everywhere(const struct writer *writer, unsigned long nr_each)
{
	pid_t pids[CPU_SETSIZE];
	unsigned long nr = 0;
	cpu_set_t usable;

	if (sched_getaffinity(0, sizeof(usable), &usable))
		test__fatal("CPUs", "cannot be told");
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		struct writer pinned = *writer;

		if (!CPU_ISSET(cpu, &usable))
			continue;
		pinned.cpu = cpu;
		for (unsigned long i = 0; i < nr_each; i++)
			pids[nr++] = writer__start(&pinned);
	}
	for (unsigned long i = 0; i < nr; i++)
		writer__wait(pids[i]);
	return nr;
}

/* The sum over processes, and over CPUs, is the whole: also of CPUs the tool did not run on. */
static void check_all_cpus(const char *by)
{
	const struct writer writer = { writer__name("all"), 30000, 3, -1, NULL };
	struct counted counted;
	struct records records;
	struct tool_run run;
	unsigned long nr;

	tool_run__trace(&run, NULL, ARGS("-j", "--by", by));
	nr = write_everywhere(&writer, 3);
	tool_run__stop(&run);
	records__load(&records, &run);
	counted = counted__of(&records, writer.name);
	check_exact(records__account(&records), "all CPUs at once");
	test__equal("all CPUs at once: calls", counted.calls, nr * writer.calls);
	test__equal("all CPUs at once: bytes", counted.bytes, nr * writer.calls * writer.size);
	if (!strcmp(by, "pid"))
		test__equal("all CPUs at once: a row for each process", counted.rows, nr);
	test__equal("all CPUs at once: the total is that of the rows",
		    counted__of(&records, NULL).calls, counted__total(&records).calls);
	test__equal("all CPUs at once: and what was recorded", counted__total(&records).calls,
		    (uint64_t)account__term(records__account(&records), NULL, "recorded"));
	records__free(&records);
	tool_run__free(&run);
}

static void write_from_many(const struct writer *writer, unsigned long nr)
{
	pid_t pids[32];
	unsigned long started = 0, ended = 0;

	while (ended < nr) {
		if (started < nr && started - ended < 32) {
			pids[started++ % 32] = writer__start(writer);
			continue;
		}
		writer__wait(pids[ended++ % 32]);
	}
}

static void check_many_processes(void)
{
	const struct writer writer = { writer__name("many"), 2, 5, -1, NULL };
	unsigned long nr = test__scaled(10000);
	struct counted counted;
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "-P"));
	write_from_many(&writer, nr);
	tool_run__stop(&run);
	records__load(&records, &run);
	counted = counted__of(&records, writer.name);
	check_exact(records__account(&records), "many processes");
	test__equal("many processes: a row for each", counted.rows, nr);
	test__equal("many processes: all their calls", counted.calls, nr * writer.calls);
	test__equal("many processes: all their bytes", counted.bytes,
		    nr * writer.calls * writer.size);
	records__free(&records);
	tool_run__free(&run);
}

static void check_full_table(void)
{
	const struct writer writer = { writer__name("full"), 3, 1, -1, NULL };
	const struct json_value *account;
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "-P", "--max-keys", "16"));
	write_from_many(&writer, 200);
	tool_run__stop(&run);
	records__load(&records, &run);
	account = records__account(&records);
	check_account(account, "full table");
	test__check(counted__of(&records, NULL).rows <= 16, "full table: no more rows than room",
		    "%lu", counted__of(&records, NULL).rows);
	test__check(record__number(json__get(account, "lost"), "map_full") >= 3 * (200 - 16),
		    "full table: the rest is counted as map_full", "%" PRId64,
		    record__number(json__get(account, "lost"), "map_full"));
	test__same("full table: and the verdict says so",
		   json__string(json__get(account, "verdict")), "lower_bound");
	records__free(&records);
	tool_run__free(&run);
}

static void check_intervals(void)
{
	const struct writer writer = { writer__name("often"), 150000, 2, -1, NULL };
	struct records records;
	struct tool_run run;
	unsigned long nr;

	tool_run__trace(&run, NULL, ARGS("-j", "0.02"));
	nr = write_everywhere(&writer, 2);
	tool_run__stop(&run);
	records__load(&records, &run);
	check_exact(records__account(&records), "intervals");
	test__check(records__count(&records, "interval", NULL) >= 2, "intervals: there are some",
		    "%zu", records__count(&records, "interval", NULL));
	test__equal("intervals: each has its total", records__count(&records, "interval", NULL),
		    counted__total(&records).rows);
	test__equal("intervals: the calls add up to the whole",
		    counted__of(&records, writer.name).calls, nr * writer.calls);
	test__equal("intervals: the bytes add up to the whole",
		    counted__of(&records, writer.name).bytes, nr * writer.calls * writer.size);
	test__equal("intervals: all of them are what was recorded", counted__total(&records).calls,
		    (uint64_t)account__term(records__account(&records), NULL, "recorded"));
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "auto", "fentry", "kprobe", "tp_btf" };

	role__play(argc, argv);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		check_way(ways[i]);
	check_all_cpus("pid");
	check_all_cpus("comm,cpu");
	check_many_processes();
	check_full_table();
	check_intervals();
	return test__done();
}
