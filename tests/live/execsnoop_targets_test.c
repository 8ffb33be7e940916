// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What the tool promises of itself in numbers: the size of its binary, how soon it traces with all
 * its options on, its memory while all CPUs start commands, and a reader slower than the events.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/children.h"
#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

#define BINARY_MAX (2 << 20)
#define READY_MS_MAX 80
#define START_RATIO_MAX 3
#define MEMORY_KIB_MAX (16 << 10)
#define CPUS_MAX 32

/* A record of a short command line takes so much of the ring, its header included. */
#define RECORD_BYTES 520
#define SLOW_RING "256K"
#define SLOW_RING_RECORDS ((256 << 10) / RECORD_BYTES)
#define EXECS_PER_SECOND 2000

static const char *program;

/* A static one: linked dynamically or with sanitizers it is built for another purpose. */
static bool is_static(const char *path)
{
	size_t size = 0;
	char *file = file__read(path, &size);
	bool found = false;

	if (!file || size < sizeof(Elf64_Ehdr))
		test__fatal("binary", "cannot read '%s'", path);
	for (unsigned int i = 0; i < ((Elf64_Ehdr *)file)->e_phnum; i++) {
		size_t at = ((Elf64_Ehdr *)file)->e_phoff + i * sizeof(Elf64_Phdr);

		found |= at + sizeof(Elf64_Phdr) <= size &&
			 ((Elf64_Phdr *)(file + at))->p_type == PT_INTERP;
	}
	free(file);
	return !found;
}

static void check_binary(void)
{
	static const char name[] = "binary: at most 2 MB";
	struct stat status;
	char path[512];

	snprintf(path, sizeof(path), "%s/execsnoop", tool__folder());
	if (stat(path, &status))
		test__fatal(name, "cannot find '%s': %s", path, strerror(errno));
	if (is_static(path))
		test__check(status.st_size <= BINARY_MAX, name, "it has %ld bytes",
			    (long)status.st_size);
	else
		test__skip(name, "this one is not static");
}

static void start_once(const char *const *args, uint64_t *least_ns)
{
	struct tool_run run;

	tool_run__trace(&run, NULL, args);
	if (run.ready_after_ns < *least_ns)
		*least_ns = run.ready_after_ns;
	tool_run__stop(&run);
	tool_run__free(&run);
}

/* The machine may be slower, or have other work: there, starts without options are the measure. */
static void check_start(void)
{
	const uint64_t limit_ns = READY_MS_MAX * UINT64_C(1000000);
	uint64_t all_ns = UINT64_MAX, plain_ns = UINT64_MAX;

	for (int i = 0; i < 15; i++) {
		start_once(NO_ARGS, &plain_ns);
		start_once(ARGS("-j", "-e", "-x", "--forks", "--ancestors", "4", "-s"), &all_ns);
		if (all_ns <= limit_ns)
			break;
	}
	test__check(all_ns <= limit_ns || all_ns <= START_RATIO_MAX * plain_ns,
		    "start: ready within 80 ms with every option on, or soon after one with none",
		    "the quickest of 15 starts took %" PRIu64 " us, without options %" PRIu64 " us",
		    all_ns / 1000, plain_ns / 1000);
}

/* Resident KiB of a process beside its ring, whose mapping is named so; -1: it cannot be read. */
static long memory_beside_ring(pid_t pid)
{
	char path[64], *text, *rest, *line;
	bool ring = false;
	long kib = 0, value;
	char dash;

	snprintf(path, sizeof(path), "/proc/%d/smaps", pid);
	text = rest = file__read(path, NULL);
	if (!text)
		return -1;
	while ((line = strsep(&rest, "\n"))) {
		unsigned long from, to;

		if (sscanf(line, "%lx%c%lx ", &from, &dash, &to) == 3 && dash == '-')
			ring = strstr(line, "anon_inode:bpf-map");
		else if (sscanf(line, "Rss: %ld kB", &value) == 1 && !ring)
			kib += value;
	}
	free(text);
	return kib;
}

static void check_memory(void)
{
	unsigned long online = (unsigned long)sysconf(_SC_NPROCESSORS_ONLN);
	unsigned long nr_cpus = online < CPUS_MAX ? online : CPUS_MAX;
	unsigned long nr = test__scaled(4000);
	pid_t spawners[CPUS_MAX];
	struct records records;
	struct tool_run run;
	long kib;

	tool_run__trace(&run, NULL, ARGS("-j", "-e", "-x", "--forks", "--ancestors", "4", "-s"));
	for (unsigned long cpu = 0; cpu < nr_cpus; cpu++) {
		spawners[cpu] = fork();
		if (spawners[cpu] < 0)
			test__fatal("memory", "fork: %s", strerror(errno));
		if (!spawners[cpu]) {
			workload__repeat(program, nr);
			_exit(0);
		}
		children__add(spawners[cpu]);
	}
	for (unsigned long cpu = 0; cpu < nr_cpus; cpu++)
		workload__wait(spawners[cpu], NULL);
	kib = memory_beside_ring(run.pid);
	tool_run__stop(&run);
	records__load(&records, &run);
	test__check(kib > 0 && kib <= MEMORY_KIB_MAX, "memory: at most 16 MB beside the ring",
		    "it has %ld KiB", kib);
	test__equal("memory: every exec of all CPUs is recorded",
		    records__count(&records, "exec", file_name(program)), nr * nr_cpus);
	check_account(records__account(&records), "memory");
	records__free(&records);
	tool_run__free(&run);
}

/* Runs the program nr times at the rate, each with its number as argument; *started tells how many
 * there were. */
_Noreturn static void spawn_numbered(unsigned long nr, atomic_ulong *started)
{
	uint64_t begin_ns = test__now_ns();
	char number[24];
	char *const argv[] = { (char *)(uintptr_t)program, number, NULL };
	pid_t pid;

	for (unsigned long i = 0; i < nr; i++) {
		uint64_t due_ns = begin_ns + i * 1000000000 / test__scaled(EXECS_PER_SECOND);

		snprintf(number, sizeof(number), "%lu", i);
		if (posix_spawn(&pid, program, NULL, NULL, argv, NULL) || workload__wait(pid, NULL))
			_exit(1);
		atomic_store(started, i + 1);
		if (test__now_ns() + 1000000 < due_ns)
			test__sleep_ms((due_ns - test__now_ns()) / 1000000);
	}
	_exit(0);
}

/* What came out by the paced reader, and then the rest. */
struct taken {
	unsigned long whole; /* numbers from 0 on without one missing */
	unsigned long nr;
};

static void take_line(struct taken *taken, const char *line)
{
	const char *args = strstr(line, "\"args\":[");
	const char *number = args ? strchr(args, ',') : NULL;

	if (!number)
		return;
	taken->whole += taken->whole == taken->nr && strtoul(number + 2, NULL, 10) == taken->whole;
	taken->nr++;
}

/* Of 2,000 commands that start in a second the reader takes half: nothing is lost as long as the
 * ring lasts; then each loss is counted, said once, and the account closes. */
static void check_slow_reader(void)
{
	unsigned long nr = test__scaled(12000) + 4 * SLOW_RING_RECORDS, nr_warnings = 0;
	struct taken taken = {};
	struct records records;
	struct tool_run run;
	atomic_ulong *started;
	const char *line;
	pid_t spawner;

	tool_run__trace(&run, &(struct tool_setup){ .pipe = true },
			ARGS("-j", "--ring-size", SLOW_RING, "--comm", file_name(program)));
	started = mmap(NULL, sizeof(*started), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (started == MAP_FAILED || (spawner = fork()) < 0)
		test__fatal("slow reader", "%s", strerror(errno));
	if (!spawner)
		spawn_numbered(nr, started);
	children__add(spawner);
	while (!process__ends(spawner, 0)) {
		line = 2 * taken.nr < atomic_load(started) ? tool_run__line(&run, 100) : NULL;
		if (line)
			take_line(&taken, line);
		else
			test__sleep_ms(1);
	}
	test__equal("slow reader: the workload ran", (uint64_t)workload__wait(spawner, NULL), 0);
	tool_run__signal(&run, SIGINT);
	while ((line = tool_run__line(&run, test__patience_ms(10000))))
		take_line(&taken, line);
	tool_run__wait(&run);
	records__load(&records, &run);
	check_account(records__account(&records), "slow reader");
	test__check(taken.whole >= SLOW_RING_RECORDS,
		    "slow reader: nothing is lost while the ring lasts",
		    "number %lu is missing; the ring holds %d", taken.whole, SLOW_RING_RECORDS);
	test__equal("slow reader: each is recorded or counted as lost",
		    taken.nr + (uint64_t)account__term(records__account(&records), "exec", "lost"),
		    nr);
	test__check(taken.nr < nr, "slow reader: some are lost", "none of %lu", nr);
	for (const char *at = run.err; (at = strstr(at, "\"type\":\"warning\"")); at++)
		nr_warnings++;
	test__check(nr_warnings == 1 && strstr(run.err, "--ring-size"),
		    "slow reader: one warning says so, and what to do", "saw: %s", run.err);
	munmap(started, sizeof(*started));
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__small_program("target");
	check_binary();
	check_start();
	check_memory();
	check_slow_reader();
	return test__done();
}
