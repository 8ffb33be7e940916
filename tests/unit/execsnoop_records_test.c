// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "execsnoop/records.h"
#include "output/sink.h"
#include "test.h"

static void test_cpu_time(void)
{
	uint64_t user, system;

	cpu_time__split(5000, 0, 0, &user, &system);
	test__check(user == 5000 && !system, "CPU time: no sample counts as user mode",
		    "%lu and %lu", user, system);
	cpu_time__split(5000, 0, 4000000, &user, &system);
	test__check(!user && system == 5000, "CPU time: only system samples", "%lu and %lu", user,
		    system);
	cpu_time__split(1000, 3, 1, &user, &system);
	test__check(user == 750 && system == 250, "CPU time: in the ratio of the samples",
		    "%lu and %lu", user, system);
	cpu_time__split(1ULL << 62, 1ULL << 61, 1ULL << 61, &user, &system);
	test__check(user == 1ULL << 61 && system == 1ULL << 61, "CPU time: a century",
		    "%lu and %lu", user, system);
}

static void test_signals(void)
{
	char text[32];

	test__same("SIGKILL", signal__name(SIGKILL, text, sizeof(text)), "SIGKILL");
	test__same("SIGSEGV", signal__name(SIGSEGV, text, sizeof(text)), "SIGSEGV");
	test__same("real-time signal", signal__name(SIGRTMIN + 3, text, sizeof(text)),
		   "SIGRTMIN+3");
	test__same("no signal", signal__name(99, text, sizeof(text)), "signal 99");
}

static const struct value *find(const struct record *record, const char *name)
{
	for (size_t i = 0; i < record->type->nr_fields; i++)
		if (!strcmp(record->type->fields[i].name, name))
			return &record->values[i];
	return NULL;
}

static void test_exit(void)
{
	struct record_times times = { .clock = { .offset_ns = 1000 }, .started_ns = 50 };
	struct execsnoop_exit exit = { .process = { .time_ns = 2500100, .fork_ns = 100 },
				       .status = SIGSEGV | 0x80,
				       .execed = 1 };
	struct exec_event exec = { .process = { .time_ns = 1000100 } };
	struct record_values values;
	struct record record = exit__record(&exit, NULL, NULL, NULL, &times, &values);

	test__equal("exit: wall clock", find(&record, "time_ns")->number, 2501100);
	test__equal("exit: no duration without its exec", find(&record, "duration_ns")->kind,
		    VALUE_ABSENT);
	test__equal("exit: age", find(&record, "age_ns")->number, 2500000);
	test__equal("exit: killed, so no exit code", find(&record, "exit_code")->kind,
		    VALUE_ABSENT);
	test__equal("exit: core dumped", find(&record, "core_dumped")->truth, true);
	test__same("exit: less than its age", find(&record, "run")->bytes.data, "<2.500");
	test__equal("exit: CPU time that is not known is absent", find(&record, "user_ns")->kind,
		    VALUE_ABSENT);
	exit.status = 3 << 8;
	record = exit__record(&exit, &exec, NULL, NULL, &times, &values);
	test__equal("exit: duration", find(&record, "duration_ns")->number, 1500000);
	test__equal("exit: code", find(&record, "exit_code")->number, 3);
	test__same("exit: duration in milliseconds", find(&record, "run")->bytes.data, "1.500");
}

static void test_failed(void)
{
	struct record_times times = {};
	struct exec_event exec = { .ret = -ENOENT, .args = { "a", 2 } };
	struct record_values values;
	struct record record = exec__record(&exec, NULL, &times, &values);

	test__equal("failed: ret", (uint64_t)-find(&record, "ret")->integer, ENOENT);
	test__same("failed: errno by name", find(&record, "error")->bytes.data, "ENOENT");
	test__same("failed: in text with a minus", find(&record, "result")->bytes.data, "-ENOENT");
	test__equal("failed: a path that is not known is absent", find(&record, "filename")->kind,
		    VALUE_ABSENT);
	exec.ret = -513;
	exec.args_cut = WORDS_CUT_UNKNOWN;
	record = exec__record(&exec, NULL, &times, &values);
	test__same("failed: an errno without a name", find(&record, "error")->bytes.data,
		   "error 513");
	test__equal("failed: what is cut is not known", find(&record, "args_cut")->kind,
		    VALUE_ABSENT);
	exec.ret = 0;
	record = exec__record(&exec, NULL, &times, &values);
	test__equal("no failure, no error", find(&record, "error")->kind, VALUE_ABSENT);
}

int main(void)
{
	test_cpu_time();
	test_signals();
	test_exit();
	test_failed();
	return test__done();
}
