/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Instructions of a workload and of the BPF programs that run with it. They are
 * nanoseconds of the clock: to be run where the two are the same (tests/vm/run.sh
 * --icount). Failures of the system end the program.
 */
#ifndef VANTAGE_BENCH_COST_H
#define VANTAGE_BENCH_COST_H

#include <linux/bpf.h>

struct workload {
	const char *what;
	void (*once)(void);
	unsigned int batch; /* times between two readings of the clock */
	unsigned int batches; /* of which the median is taken; an odd number */
	unsigned int events; /* of what is measured, in one of them */
};

/* write(2) of one byte to /dev/null. */
extern const struct workload writing;

/* vfork, exec of the least program there can be, its end, and wait. */
extern const struct workload executing;

/* A byte through a pipe to a thread on the same CPU and one back: two wake-ups, two switches. */
extern const struct workload handing;

/* /dev/null, open for writing. */
int null__fd(void);

void workload__repeat(const struct workload *workload, unsigned int n);

/* Instructions of one event of the workload. The median leaves out what interrupts add to some. */
double workload__cost(const struct workload *workload);

#define PROGRAMS_MAX 16

/* Programs whose runs are added up. */
struct programs {
	int fds[PROGRAMS_MAX];
	unsigned int nr;
};

void programs__add(struct programs *programs, int fd);

void program__info(int fd, struct bpf_prog_info *info);

/*
 * Instructions inside all these programs together per event of the workload, from the
 * kernel's run statistics: with the constant share of the statistics themselves,
 * without the way to the program. The least of some rounds of nr_events. Ends the
 * program when one of them does not run for each event.
 */
#define PROGRAMS_COST_ROUNDS 5
#define PROGRAMS_COST_EVENTS(nr_events) ((nr_events) * (1 + PROGRAMS_COST_ROUNDS)) /* in all */
double programs__cost(const struct programs *programs, const struct workload *workload,
		      unsigned int nr_events);

#endif
