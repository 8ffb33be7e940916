// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Every exec and every exit is reported, exactly once, and the account says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

struct tally {
	uint64_t execs;
	uint64_t wrong_ppid;
	uint64_t exits;
	uint64_t without_duration;
	uint64_t not_execed;
	uint64_t wrong_code;
	uint64_t backwards;
	int64_t last_ns;
};

static void count_record(struct tally *tally, const struct json_value *record, const char *comm)
{
	bool is_exec = json__is(json__get(record, "type"), "exec");
	const struct json_value *execed = json__get(record, "execed");
	int64_t time_ns = record__number(record, "time_ns");

	if (!is_exec && !json__is(json__get(record, "type"), "exit"))
		return;
	tally->backwards += time_ns < tally->last_ns;
	tally->last_ns = time_ns;
	if (!json__is(json__get(record, "comm"), comm))
		return;
	tally->wrong_ppid += record__number(record, "ppid") != getpid();
	if (is_exec) {
		tally->execs++;
		return;
	}
	tally->exits++;
	tally->without_duration += record__number(record, "duration_ns") <= 0;
	tally->not_execed += !execed || execed->kind != JSON_BOOL || !execed->truth;
	tally->wrong_code += record__number(record, "exit_code") != 0;
}

/* Runs program nr times under execsnoop -j -e; the records are read one at a time, since not all
 * of them need fit in memory. */
static void check_every_exec(const char *program, unsigned long nr)
{
	struct record_reader reader;
	const struct json_value *record;
	struct tally tally = { 0 };
	struct tool_run run;
	char name[64], check[128];

	snprintf(name, sizeof(name), "exec: %lu in a row", nr);
	tool_run__trace(&run, NULL, ARGS("-j", "-e", "--strict"));
	workload__repeat(program, nr);
	tool_run__stop(&run);

	reader = (struct record_reader){ .data = run.out, .size = run.out_size };
	while ((record = record_reader__next(&reader))) {
		count_record(&tally, record, file_name(program));
		if (json__is(json__get(record, "type"), "account")) {
			check_exact(record, name);
			/* Not exact where this kernel does not count what it skips. */
			test__equal("strict: 0 when the verdict is exact", (uint64_t)run.status,
				    account__is_blind(record) ? 3 : 0);
			test__check(reader.at == reader.size, "exec: the account is the last line",
				    "%zu bytes follow", reader.size - reader.at);
		}
	}
	snprintf(check, sizeof(check), "%s: every exec has its record", name);
	test__equal(check, tally.execs, nr);
	snprintf(check, sizeof(check), "%s: every exit has its record", name);
	test__equal(check, tally.exits, nr);
	snprintf(check, sizeof(check), "%s: ppid is the parent's", name);
	test__equal(check, tally.wrong_ppid, 0);
	snprintf(check, sizeof(check), "%s: every exit has duration_ns", name);
	test__equal(check, tally.without_duration, 0);
	snprintf(check, sizeof(check), "%s: every exit is of an exec'ed process", name);
	test__equal(check, tally.not_execed, 0);
	snprintf(check, sizeof(check), "%s: every exit has exit_code 0", name);
	test__equal(check, tally.wrong_code, 0);
	snprintf(check, sizeof(check), "%s: times never go back", name);
	test__equal(check, tally.backwards, 0);
	tool_run__free(&run);
}

/* The status of a run in which nr of program are executed. */
static void check_status(const char *check, const char *program, unsigned long nr,
			 const char *const *args, int expected)
{
	struct tool_run run;

	tool_run__trace(&run, NULL, args);
	workload__repeat(program, nr);
	test__equal(check, (uint64_t)tool_run__stop(&run), (uint64_t)expected);
	tool_run__free(&run);
}

static void check_expect(const char *program)
{
	unsigned long nr = test__scaled(1000);
	const char *comm = file_name(program);
	char count[32];

	snprintf(count, sizeof(count), "%lu", nr);
	check_status("expect: as many as expected is 0", program, nr,
		     ARGS("-j", "-e", "--expect", count, "--comm", comm), 0);
	check_status("expect: one more is 3", program, nr + 1,
		     ARGS("-j", "--expect", count, "--comm", comm), 3);
	check_status("expect: one less is 3", program, 9,
		     ARGS("-j", "--expect", "10", "--comm", comm), 3);
}

static void check_nothing(void)
{
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("--comm", "no-such-command", "--expect", "0"));
	workload__repeat(workload__program("true"), 3);
	test__equal("nothing matched: --expect 0 is 0", (uint64_t)tool_run__stop(&run), 0);
	test__check(strstr(run.err, "0 events"), "nothing matched: stderr says \"0 events\"",
		    "saw: %s", run.err);
	test__check(strstr(run.err, "filter"), "nothing matched: stderr says the filter can be why",
		    "saw: %s", run.err);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	const char *program;

	role__play(argc, argv);
	program = workload__small_program("true");
	check_every_exec(program, test__is_long() ? 100000 : test__scaled(5000));
	check_expect(program);
	check_nothing();
	return test__done();
}
