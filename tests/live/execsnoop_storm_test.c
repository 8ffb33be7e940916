// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* A storm of commands from all CPUs: none is missing, each has its own time, order and CPU. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

/* More than a CPU can start in the longest storm. */
#define PER_CPU_MAX 300000
#define CPUS_MAX 64

/* The wall clock may be slewed while the run lasts; the tool takes its offset once. */
#define CLOCK_SLACK_NS 5000000

struct truth {
	pid_t pid;
	int64_t from_ns;
	int64_t to_ns;
	int cpu;
	int nr_execs;
	int nr_exits;
};

/* Shared with the spawners; one list for each of them. */
struct storm {
	unsigned long nr[CPUS_MAX];
	struct truth list[];
};

static struct storm *make_storm(unsigned int nr_cpus)
{
	size_t size = sizeof(struct storm) + sizeof(struct truth) * PER_CPU_MAX * nr_cpus;
	struct storm *storm = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (storm == MAP_FAILED)
		test__fatal("storm", "mmap: %s", strerror(errno));
	return storm;
}

_Noreturn static void spawn_on(struct storm *storm, unsigned int slot, int cpu, const char *program,
			       uint64_t until_ns)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
	while (test__now_ns() < until_ns && storm->nr[slot] < PER_CPU_MAX) {
		struct truth *truth = &storm->list[slot * PER_CPU_MAX + storm->nr[slot]];

		truth->cpu = cpu;
		truth->from_ns = (int64_t)test__wall_ns();
		if (workload__spawn(program, &truth->pid))
			_exit(1);
		truth->to_ns = (int64_t)test__wall_ns();
		storm->nr[slot]++;
	}
	_exit(0);
}

/* One spawner pinned to each CPU this process may use; how many there are. */
static unsigned int run_storm(struct storm *storm, const char *program, uint64_t ms)
{
	uint64_t until_ns = test__now_ns() + ms * 1000000;
	pid_t spawners[CPUS_MAX];
	unsigned int nr = 0;
	cpu_set_t allowed;

	sched_getaffinity(0, sizeof(allowed), &allowed);
	for (int cpu = 0; cpu < CPU_SETSIZE && nr < CPUS_MAX; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		spawners[nr] = fork();
		if (spawners[nr] < 0)
			test__fatal("storm", "fork: %s", strerror(errno));
		if (!spawners[nr])
			spawn_on(storm, nr, cpu, program, until_ns);
		nr++;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (workload__wait(spawners[i], NULL))
			test__fatal("storm", "a spawner failed");
	return nr;
}

static int compare_truth(const void *left, const void *right)
{
	const struct truth *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->from_ns < b->from_ns ? -1 : a->from_ns > b->from_ns;
}

/* The spawn of this pid in whose time the record falls: pids come again in a long storm. */
static struct truth *find_truth(struct truth *list, size_t nr, pid_t pid, int64_t time_ns)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (list[middle].pid < pid ||
		    (list[middle].pid == pid && list[middle].to_ns + CLOCK_SLACK_NS < time_ns))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == nr || list[low].pid != pid || list[low].from_ns - CLOCK_SLACK_NS > time_ns)
		return NULL;
	return &list[low];
}

struct findings {
	uint64_t strangers; /* records that no spawn explains */
	uint64_t backwards;
	uint64_t wrong_cpu;
	uint64_t per_cpu[CPUS_MAX];
	int64_t last_ns;
};

static void judge_record(const struct json_value *record, const char *comm, struct truth *list,
			 size_t nr, struct findings *findings)
{
	bool is_exec = json__is(json__get(record, "type"), "exec");
	int64_t time_ns = record__number(record, "time_ns");
	struct truth *truth;

	if (!is_exec && !json__is(json__get(record, "type"), "exit"))
		return;
	findings->backwards += time_ns < findings->last_ns;
	findings->last_ns = time_ns;
	if (!json__is(json__get(record, "comm"), comm))
		return;
	truth = find_truth(list, nr, (pid_t)record__number(record, "pid"), time_ns);
	if (!truth) {
		findings->strangers++;
		return;
	}
	truth->nr_execs += is_exec;
	truth->nr_exits += !is_exec;
	findings->wrong_cpu += record__number(record, "cpu") != truth->cpu;
	if (truth->cpu < CPUS_MAX)
		findings->per_cpu[truth->cpu]++;
}

static void judge(struct truth *list, size_t nr, const struct tool_run *run, const char *comm)
{
	struct record_reader reader = { .data = run->out, .size = run->out_size };
	const struct json_value *record;
	struct findings findings = { 0 };
	uint64_t execs = 0, exits = 0;
	char check[96];

	while ((record = record_reader__next(&reader))) {
		judge_record(record, comm, list, nr, &findings);
		if (json__is(json__get(record, "type"), "account"))
			check_exact(record, "storm");
	}
	for (size_t i = 0; i < nr; i++) {
		execs += list[i].nr_execs == 1;
		exits += list[i].nr_exits == 1;
	}
	snprintf(check, sizeof(check), "storm: every exec has its one record");
	test__equal(check, execs, nr);
	snprintf(check, sizeof(check), "storm: every exit has its one record");
	test__equal(check, exits, nr);
	test__equal("storm: every time lies between start and end of its process",
		    findings.strangers, 0);
	test__equal("storm: times never go back in the output", findings.backwards, 0);
	test__equal("storm: cpu is the one the process was pinned to", findings.wrong_cpu, 0);
	for (int cpu = 0; cpu < CPUS_MAX; cpu++) {
		bool used = false;

		for (size_t i = 0; i < nr && !used; i++)
			used = list[i].cpu == cpu;
		snprintf(check, sizeof(check), "storm: CPU %d has records", cpu);
		if (used)
			test__check(findings.per_cpu[cpu], check, "it has none");
	}
}

int main(int argc, char **argv)
{
	unsigned long ms = test__is_long() ? 30000 : 5000;
	unsigned int nr_slots;
	const char *program;
	struct storm *storm;
	struct tool_run run;
	struct truth *list;
	size_t nr = 0;

	role__play(argc, argv);
	program = workload__small_program("storm");
	storm = make_storm((unsigned int)sysconf(_SC_NPROCESSORS_CONF));
	tool_run__trace(&run, NULL, ARGS("-j", "-e", "--strict"));
	nr_slots = run_storm(storm, program, ms);
	tool_run__stop(&run);

	list = storm->list;
	for (unsigned int slot = 0; slot < nr_slots; slot++) {
		memmove(list + nr, storm->list + (size_t)slot * PER_CPU_MAX,
			storm->nr[slot] * sizeof(*list));
		nr += storm->nr[slot];
	}
	qsort(list, nr, sizeof(*list), compare_truth);
	test__check(nr >= nr_slots, "storm: it ran", "only %zu processes", nr);
	judge(list, nr, &run, file_name(program));
	test__check(run.status == 0 || run.status == 3, "storm: the tool ends well", "status %d",
		    run.status);
	tool_run__free(&run);
	return test__done();
}
