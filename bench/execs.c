// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * execsnoop's figures on this machine, beside those of the peers that are given as "NAME=COMMAND":
 * what it adds to a command, what it shows of a storm, of the longest command lines, and to a slow
 * reader, its start, memory, CPU time and size. To be run as root; execsnoop.sh does so.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "execs/long_args.h"
#include "execs/slow_reader.h"
#include "execs/spawn.h"
#include "execs/tracer.h"
#include "test.h"
#include "tool.h"

#include "instructions.skel.h"

#define ROUNDS_MAX 99
#define TRACERS_MAX 8

/* What a run of the program does; execsnoop.sh has an option for each. */
static unsigned int rounds = 41, spawns = 100, starts = 11;
static double seconds = 30;
static const char *parts = "start,cost,storm,reader";

/* Of so many batches of commands the quickest counts, which other work disturbs least. */
#define BATCHES 8

/* A peer takes seconds to start: it takes part in one round of so many. */
#define PEER_ROUNDS 4

/* Commands start for so long after a tracer has: it shows those from its attaching on. */
#define START_SPAWN_SECONDS 1.2

static struct tracer tracers[TRACERS_MAX];
static size_t nr_tracers;

#define ALL_OPTIONS "-e", "-x", "--forks", "--ancestors", "4", "-s"

struct figures {
	double values[ROUNDS_MAX];
	unsigned int nr;
};

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static double figures__median(struct figures *figures)
{
	qsort(figures->values, figures->nr, sizeof(double), compare);
	return figures->nr ? figures->values[figures->nr / 2] : 0;
}

static void figures__add(struct figures *figures, double value)
{
	figures->values[figures->nr++] = value;
}

/* Microseconds of one command. */
static double spawn_us(void)
{
	double least = 0;

	for (int i = 0; i < BATCHES; i++) {
		struct spawned spawned = spawn__in_turn(spawns);
		double us = spawned.seconds * 1e6 / (double)spawned.nr;

		if (!i || us < least)
			least = us;
	}
	return least;
}

/* The same with empty programs attached where execsnoop's are. */
static double spawn_us_with_empty(bool at_exit)
{
	struct instructions_bpf *skel = instructions_bpf__open();
	struct bpf_link *exec, *exit = NULL;
	double us;

	if (!skel || bpf_program__set_autoload(skel->progs.at_exec, true) ||
	    bpf_program__set_autoload(skel->progs.at_exit, at_exit) || instructions_bpf__load(skel))
		test__fatal("empty program", "cannot load it: %s", strerror(errno));
	exec = bpf_program__attach(skel->progs.at_exec);
	if (at_exit)
		exit = bpf_program__attach(skel->progs.at_exit);
	if (!exec || (at_exit && !exit))
		test__fatal("empty program", "cannot attach it: %s", strerror(errno));
	us = spawn_us();
	bpf_link__destroy(exec);
	bpf_link__destroy(exit);
	instructions_bpf__destroy(skel);
	return us;
}

static double spawn_us_under(const struct tracer *tracer)
{
	struct tracer_run run;
	double us;

	tracer_run__start(&run, tracer, false, true);
	us = spawn_us();
	tracer_run__end(&run);
	tracer_run__free(&run);
	return us;
}

enum { BARE, EMPTY_EXEC, EMPTY_BOTH, NR_BARE };

static struct figures us[NR_BARE + TRACERS_MAX], ratios[NR_BARE + TRACERS_MAX];

/* One command alone and under each tracer, in turn with each other. */
static void measure_cost_round(unsigned int round)
{
	double empty[2];

	figures__add(&us[BARE], spawn_us());
	for (int ends = 0; ends < 2; ends++) {
		empty[ends] = spawn_us_with_empty(ends);
		figures__add(&us[EMPTY_EXEC + ends], empty[ends]);
	}
	for (size_t i = 0; i < nr_tracers; i++) {
		double value;

		if (!tracers[i].ours && round % PEER_ROUNDS)
			continue;
		value = spawn_us_under(&tracers[i]);
		figures__add(&us[NR_BARE + i], value);
		figures__add(&ratios[NR_BARE + i], value / empty[tracers[i].ends]);
	}
}

static void measure_cost(void)
{
	static const char *const names[] = { "no tracer", "an empty program at exec",
					     "empty programs at exec and exit" };

	for (unsigned int round = 0; round < rounds; round++)
		measure_cost_round(round);
	printf("\nOne command (posix_spawn, exec, exit and wait of a small static program), us; %u "
	       "rounds\n%-32s %8s %8s %8s %18s\n",
	       rounds, "under", "median", "least", "most", "to empty programs");
	for (size_t i = 0; i < NR_BARE + nr_tracers; i++) {
		double median = figures__median(&us[i]);

		printf("%-32s %8.1f %8.1f %8.1f",
		       i < NR_BARE ? names[i] : tracers[i - NR_BARE].name, median, us[i].values[0],
		       us[i].values[us[i].nr - 1]);
		if (i >= NR_BARE)
			printf(" %+17.1f%%", (figures__median(&ratios[i]) - 1) * 100);
		printf("\n");
	}
}

/* The last line of a text. */
static const char *last_line(char *text)
{
	size_t length = strlen(text);
	char *newline;

	while (length && text[length - 1] == '\n')
		text[--length] = '\0';
	newline = strrchr(text, '\n');
	return newline ? newline + 1 : text;
}

/* All CPUs start commands as fast as they can, and the tracer competes for them. */
static void measure_storm(void)
{
	printf("\nA storm from all CPUs for %.0f s, text to a file\n%-32s %9s %9s %9s %10s %11s %12s\n",
	       seconds, "under", "execs", "per s", "not seen", "CPU us/ev.", "memory KiB",
	       "and rings");
	for (size_t i = 0; i < nr_tracers; i++) {
		struct spawned spawned;
		struct tracer_run run;
		struct seen seen;
		long memory, rings;

		tracer_run__start(&run, &tracers[i], false, true);
		spawned = spawn__storm(seconds);
		tracer_run__memory(&run, &memory, &rings);
		tracer_run__end(&run);
		seen = spawn__seen(run.out, spawned.nr);
		printf("%-32s %9" PRIu64 " %9.0f %9" PRIu64 " %10.1f %11ld %12ld\n",
		       tracers[i].name, spawned.nr, (double)spawned.nr / spawned.seconds,
		       spawned.nr - seen.nr, run.cpu_seconds * 1e6 / (double)spawned.nr, memory,
		       rings);
		if (tracers[i].ours)
			printf("    %s\n", last_line(run.err));
		tracer_run__free(&run);
	}
}

/* When the first command was started that the tracer shows, after its own start; -1: it shows none,
 * since the machine has too much other work. */
static double first_seen_ms(const struct tracer *tracer, double *ready_ms)
{
	struct spawned spawned;
	struct tracer_run run;
	struct seen seen;
	double ms;

	tracer_run__start(&run, tracer, false, tracer->ours);
	if (tracer->ours) {
		*ready_ms = run.ready_ms;
		tracer_run__end(&run);
		tracer_run__free(&run);
		tracer_run__start(&run, tracer, false, false);
	}
	spawned = spawn__paced(1000, START_SPAWN_SECONDS);
	tracer_run__end(&run);
	seen = spawn__seen(run.out, spawned.nr);
	ms = seen.nr ? (double)(spawn__started_ns(seen.first) - run.started_ns) / 1e6 : -1;
	tracer_run__free(&run);
	return ms;
}

static void measure_start(void)
{
	static struct figures first[TRACERS_MAX], ready[TRACERS_MAX];

	for (unsigned int round = 0; round < starts; round++)
		for (size_t i = 0; i < nr_tracers; i++) {
			double ready_ms = 0, ms = first_seen_ms(&tracers[i], &ready_ms);

			if (ms >= 0)
				figures__add(&first[i], ms);
			if (tracers[i].ours)
				figures__add(&ready[i], ready_ms);
		}
	printf("\nFrom its start to the first command that is seen, ms; %u starts\n%-32s %8s %8s %8s "
	       "%24s\n",
	       starts, "", "median", "least", "most", "ready byte, least-most");
	for (size_t i = 0; i < nr_tracers; i++) {
		double median = figures__median(&first[i]),
		       ready_median = figures__median(&ready[i]);

		if (!first[i].nr)
			test__fatal(tracers[i].name, "it shows nothing");
		printf("%-32s %8.1f %8.1f %8.1f", tracers[i].name, median, first[i].values[0],
		       first[i].values[first[i].nr - 1]);
		if (tracers[i].ours)
			printf(" %8.1f, %.1f-%.1f", ready_median, ready[i].values[0],
			       ready[i].values[ready[i].nr - 1]);
		printf("\n");
	}
}

static void measure_slow_reader(void)
{
	const struct tracer small_ring = tracer__ours("execsnoop --ring-size 4M",
						      ARGS("--ring-size", "4M"));

	printf("\nA reader that takes 1,000 lines a second, 2,000 commands a second for %.0f s\n"
	       "%-32s %9s %9s %9s %15s %9s\n",
	       seconds, "under", "execs", "per s", "not seen", "first after s", "messages");
	for (size_t i = 0; i < nr_tracers; i++)
		slow_reader__measure(&tracers[i], seconds);
	slow_reader__measure(&small_ring, seconds);
}

static void measure_size(void)
{
	struct stat status;

	if (stat(tracers[0].argv[0], &status))
		test__fatal("size", "%s: %s", tracers[0].argv[0], strerror(errno));
	printf("\nThe binary: %ld bytes\n", (long)status.st_size);
}

static void add_tracer(struct tracer tracer)
{
	if (nr_tracers == TRACERS_MAX)
		test__fatal("usage", "more than %d tracers", TRACERS_MAX);
	tracers[nr_tracers++] = tracer;
}

static void parse(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "n:c:s:t:p:")) != -1) {
		char *end = NULL;

		switch (option) {
		case 'n':
			rounds = (unsigned int)strtoul(optarg, &end, 10);
			break;
		case 'c':
			spawns = (unsigned int)strtoul(optarg, &end, 10);
			break;
		case 's':
			starts = (unsigned int)strtoul(optarg, &end, 10);
			break;
		case 't':
			seconds = strtod(optarg, &end);
			break;
		case 'p':
			parts = optarg;
			end = optarg + strlen(optarg);
			break;
		}
		if (!end || *end || !rounds || rounds > ROUNDS_MAX || !spawns || !starts ||
		    starts > ROUNDS_MAX || !(seconds > 0))
			test__fatal("usage",
				    "-n rounds, -c commands, -s starts, -t seconds, -p parts");
	}
	add_tracer(tracer__ours("execsnoop", NO_ARGS));
	add_tracer(tracer__ours("execsnoop -e", ARGS("-e")));
	add_tracer(tracer__ours("execsnoop, all options on", ARGS(ALL_OPTIONS)));
	tracers[1].ends = tracers[2].ends = true;
	while (optind < argc)
		add_tracer(tracer__parse(argv[optind++]));
}

int main(int argc, char **argv)
{
	libbpf_set_print(NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(argc, argv);
	measure_size();
	long_args__measure();
	if (strstr(parts, "start"))
		measure_start();
	if (strstr(parts, "cost"))
		measure_cost();
	if (strstr(parts, "storm"))
		measure_storm();
	if (strstr(parts, "reader"))
		measure_slow_reader();
	return 0;
}
