// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What tracing costs, in instructions per event: empty programs by every mechanism, and
 * the tools. To be run as root where one nanosecond is one instruction, which
 * tests/vm/run.sh --icount gives; instructions.sh does so and judges what is printed:
 * sections headed "== NAME", in them one line a row, columns parted by two or more spaces.
 * Ends with status 1 and a line "not ok - NAME: WHY" when something cannot be measured.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "instructions/cost.h"
#include "instructions/mechanisms.h"
#include "run/attach.h"
#include "scratch.h"
#include "test.h"
#include "tool.h"

/* Events before what is measured: the first ones fill caches. */
#define WARM_UP 100
#define KERNEL_EVENTS 40
#define READER_ROUNDS 4
#define READER_EVENTS 200

/* In this time a tool takes READER_EVENTS and is idle again. A whole number of the intervals of
 * its timer, so that the same work of an idle tool falls into each window. */
#define READER_WINDOW_NS 200000000ull

#define TOOL_ARGS_MAX 16

struct tool_case {
	const char *name; /* of its rows */
	const char *tool;
	const char *const *args;
	enum places places; /* of its programs: exec, exit */
	bool records; /* its filter lets the events through to the reader */
};

static const struct tool_case tool_cases[] = {
	{ "execsnoop", "execsnoop", NO_ARGS, AT_ENTRY, true },
	{ "execsnoop -e", "execsnoop", ARGS("-e"), AT_BOTH, true },
	{ "execsnoop -e -j", "execsnoop", ARGS("-e", "-j"), AT_BOTH, true },
	{ "execsnoop -e -p 1", "execsnoop", ARGS("-e", "-p", "1"), AT_BOTH, false },
};

/* Figures that are printed after all others. */
static struct note {
	char name[NAME_WIDTH * 2];
	double figure;
} notes[32];
static size_t nr_notes;

static void note(const char *tool, const char *what, double figure)
{
	if (nr_notes == sizeof(notes) / sizeof(notes[0]))
		test__fatal("notes", "there are more than %zu", nr_notes);
	snprintf(notes[nr_notes].name, sizeof(notes[0].name), "%s, %s", tool, what);
	notes[nr_notes++].figure = figure;
}

static __u32 newest_program(void)
{
	__u32 newest = 0, id = 0;

	while (!bpf_prog_get_next_id(id, &id))
		newest = id;
	return newest;
}

/* The programs that were loaded after the one with this id. */
static void programs__find_newer(struct programs *programs, __u32 id)
{
	*programs = (struct programs){};
	while (!bpf_prog_get_next_id(id, &id)) {
		struct bpf_prog_info info;
		int fd = bpf_prog_get_fd_by_id(id);

		program__info(fd, &info);
		/* The tool does not attach it. */
		if (attach__is_idle(&info))
			close(fd);
		else
			programs__add(programs, fd);
	}
	if (!programs->nr)
		test__fatal("programs", "the tool has loaded none");
}

static void programs__close(struct programs *programs)
{
	while (programs->nr)
		close(programs->fds[--programs->nr]);
}

/* Instructions that this process, not its children, has used up so far. */
static uint64_t process__cost(pid_t pid)
{
	char path[64], *text;
	uint64_t cost;

	snprintf(path, sizeof(path), "/proc/%d/schedstat", pid);
	text = file__read(path, NULL);
	if (!text || sscanf(text, "%" SCNu64, &cost) != 1)
		test__fatal("reader", "cannot read %s", path);
	free(text);
	return cost;
}

static void sleep_until(uint64_t time_ns)
{
	const struct timespec time = { (time_t)(time_ns / 1000000000),
				       (long)(time_ns % 1000000000) };

	if (test__now_ns() >= time_ns)
		test__fatal("reader", "the events took longer than the time for them");
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL) == EINTR)
		;
}

/* Instructions of the tool's process per event, less those it takes idle: the least of some
 * rounds. */
static double reader_cost(pid_t pid)
{
	double least = 0;

	for (int round = 0; round < READER_ROUNDS; round++) {
		uint64_t begin_ns = test__now_ns();
		uint64_t begin = process__cost(pid), middle, end;
		double cost;

		workload__repeat(&executing, READER_EVENTS);
		sleep_until(begin_ns + READER_WINDOW_NS);
		middle = process__cost(pid);
		sleep_until(begin_ns + 2 * READER_WINDOW_NS);
		end = process__cost(pid);
		cost = ((double)(middle - begin) - (double)(end - middle)) / READER_EVENTS;
		if (!round || cost < least)
			least = cost;
	}
	return least;
}

/* Starts the tool, which has to record exactly this many events. */
static void tool_case__start(const struct tool_case *tool_case, unsigned int events,
			     struct tool_run *run)
{
	const struct tool_setup setup = { .name = tool_case->tool, .stdout_fd = null__fd() };
	const char *args[TOOL_ARGS_MAX] = { "--expect" };
	char expected[16];
	size_t nr = 1;

	snprintf(expected, sizeof(expected), "%u", events);
	args[nr++] = expected;
	for (size_t i = 0; tool_case->args[i]; i++) {
		if (nr == TOOL_ARGS_MAX - 1)
			test__fatal(tool_case->name, "too many arguments");
		args[nr++] = tool_case->args[i];
	}
	tool_run__trace(run, &setup, args);
}

static void tool_row(const struct tool_case *tool_case, const char *what, double cost)
{
	double floor = exec_floor(tool_case->places);
	char name[NAME_WIDTH * 2];

	if (!floor)
		test__fatal(tool_case->name, "the empty programs at its places were not measured");
	snprintf(name, sizeof(name), "%s, %s", tool_case->name, what);
	printf("%-*s  %12.1f  %12.1f  %12.1f\n", NAME_WIDTH, name, cost, floor, cost - floor);
}

static void note_programs(const struct tool_case *tool_case, const struct programs *programs)
{
	for (unsigned int i = 0; i < programs->nr; i++) {
		struct bpf_prog_info info;
		char what[NAME_WIDTH];

		program__info(programs->fds[i], &info);
		/* 5.16; what an older kernel does not fill is not 0. */
		if (!info.verified_insns)
			continue;
		snprintf(what, sizeof(what), "verifier's work on %s", info.name);
		note(tool_case->name, what, info.verified_insns);
	}
}

static void measure_tool(const struct tool_case *tool_case)
{
	const unsigned int events = WARM_UP + PROGRAMS_COST_EVENTS(KERNEL_EVENTS) +
				    READER_ROUNDS * READER_EVENTS;
	__u32 newest = newest_program();
	struct programs programs;
	struct tool_run run;
	double kernel;

	tool_case__start(tool_case, tool_case->records ? events : 0, &run);
	note(tool_case->name, "million instructions to start", run.ready_after_ns / 1e6);
	programs__find_newer(&programs, newest);
	note_programs(tool_case, &programs);

	/* The programs alone: nobody takes what they put into the ring. */
	tool_run__signal(&run, SIGSTOP);
	if (waitpid(run.pid, NULL, WUNTRACED) != run.pid)
		test__fatal(tool_case->name, "cannot stop it: %s", strerror(errno));
	workload__repeat(&executing, WARM_UP);
	kernel = programs__cost(&programs, &executing, KERNEL_EVENTS);
	programs__close(&programs);
	tool_row(tool_case, "kernel side", kernel);

	tool_run__signal(&run, SIGCONT);
	if (tool_case->records) {
		sleep_until(test__now_ns() + READER_WINDOW_NS);
		tool_row(tool_case, "with the reader", kernel + reader_cost(run.pid));
	}
	if (tool_run__stop(&run))
		test__fatal(tool_case->name, "it did not see exactly the events there were: %s",
			    run.err);
	tool_run__free(&run);
}

/* Tools at a function: a write has no place inside it where the programs alone could be counted,
 * so the whole of it is compared with one that nothing is attached to. */
static const struct tool_case write_cases[] = {
	{ "vfswrite-count, fentry", "vfswrite-count", ARGS("--attach", "fentry"), AT_RETURN, true },
	{ "vfswrite-count -P, fentry", "vfswrite-count", ARGS("-P", "--attach", "fentry"),
	  AT_RETURN, true },
	{ "vfswrite-count, kprobe", "vfswrite-count", ARGS("--attach", "kprobe"), AT_BOTH, true },
	{ "vfswrite-count, tp_btf", "vfswrite-count", ARGS("--attach", "tp_btf"), AT_RETURN, true },
	/* With percentiles and the slowest three, as its text has them. */
	{ "funclatency, fentry", "funclatency", ARGS("--attach", "fentry", "vfs_write"), AT_BOTH,
	  true },
	{ "funclatency, kprobe", "funclatency", ARGS("--attach", "kprobe", "vfs_write"), AT_BOTH,
	  true },
	{ "funclatency -p 1, fentry", "funclatency",
	  ARGS("-p", "1", "--attach", "fentry", "vfs_write"), AT_BOTH, true },
	{ "funclatency sys:write", "funclatency", ARGS("sys:write"), AT_BOTH, true },
};

/* So is a wake-up and the switch that ends its wait: of programs at both, all is added up. */
static const struct tool_case switch_cases[] = {
	{ "runqlat", "runqlat", NO_ARGS, AT_BOTH, true },
	{ "runqlat -L", "runqlat", ARGS("-L"), AT_BOTH, true },
	{ "runqlat -p 1", "runqlat", ARGS("-p", "1"), AT_BOTH, false },
};

static void measure_added_by(const struct tool_case *tool_case, const struct workload *workload,
			     double baseline)
{
	const struct tool_setup setup = { .name = tool_case->tool, .stdout_fd = null__fd() };
	struct tool_run run;
	double cost;

	tool_run__trace(&run, &setup, tool_case->args);
	workload__repeat(workload, WARM_UP);
	cost = workload__cost(workload);
	printf("%-*s  %12.1f  %12.1f  %12.1f\n", NAME_WIDTH, tool_case->name, cost, baseline,
	       cost - baseline);
	if (tool_run__stop(&run))
		test__fatal(tool_case->name, "it failed: %s", run.err);
	tool_run__free(&run);
}

static void measure_added(const char *heading, const struct workload *workload,
			  const struct tool_case *cases, size_t nr_cases)
{
	double baseline = workload__cost(workload);

	printf("\n== %-*s  %12s  %12s  %12s\n", NAME_WIDTH - 3, heading, "instructions", "without",
	       "added");
	for (size_t i = 0; i < nr_cases; i++)
		measure_added_by(&cases[i], workload, baseline);
}

static void measure_tools(void)
{
	printf("\n== %-*s  %12s  %12s  %12s\n", NAME_WIDTH - 3, "tools, one exec and its end",
	       "instructions", "floor", "net");
	for (size_t i = 0; i < sizeof(tool_cases) / sizeof(tool_cases[0]); i++)
		measure_tool(&tool_cases[i]);
	measure_added("tools, one write(2) of a byte to /dev/null", &writing, write_cases,
		      sizeof(write_cases) / sizeof(write_cases[0]));
	measure_added("tools, one wake-up by a pipe and its switch", &handing, switch_cases,
		      sizeof(switch_cases) / sizeof(switch_cases[0]));
	printf("\n== tools, start\n");
	for (size_t i = 0; i < nr_notes; i++)
		printf("%-*s  %12.0f\n", NAME_WIDTH, notes[i].name, notes[i].figure);
}

int main(void)
{
	struct utsname system;

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* A mechanism that is missing has a row that says so. */
	libbpf_set_print(NULL);
	/* How many pages a program's memory takes depends on where it happens to lie. */
	if (personality(ADDR_NO_RANDOMIZE) < 0 || uname(&system))
		test__fatal("start", "cannot prepare this process: %s", strerror(errno));
	printf("kernel: %s\n", system.release);
	printf("compilers: clang %s, gcc %s\n", bpf_compiler(), __VERSION__);
	measure_mechanisms(&writing);
	measure_mechanisms(&executing);
	measure_tools();
	return 0;
}
