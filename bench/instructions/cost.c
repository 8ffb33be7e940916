// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cost.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "handing.h"
#include "small_program.h"
#include "test.h"

/* Batches of which the median is taken, at most. */
#define BATCHES_MAX 101

int null__fd(void)
{
	static int fd = -1;

	if (fd < 0)
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		test__fatal("/dev/null", "cannot open it: %s", strerror(errno));
	return fd;
}

static void write_once(void)
{
	if (write(null__fd(), "", 1) != 1)
		test__fatal("write", "cannot write to /dev/null: %s", strerror(errno));
}

static void exec_once(void)
{
	/* A command line as people have them. */
	static char *const argv[] = { "cc", "-O2", "-c", "-o", "build/main.o", "main.c", NULL };
	static char *const envp[] = { NULL };
	static const char *path;
	int status;
	pid_t pid;

	if (!path)
		path = small_program("least");
	pid = vfork();
	if (!pid) {
		execve(path, argv, envp);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		test__fatal("exec", "cannot run '%s'", path);
}

const struct workload writing = {
	"one write(2) of a byte to /dev/null", write_once, .batch = 200, .batches = 25, .events = 1,
};
const struct workload executing = {
	"one vfork, exec, exit and wait", exec_once,   .batch = 1,
	.batches = BATCHES_MAX,		  .events = 1,
};
const struct workload handing = {
	"one wake-up through a pipe and the switch to who is woken",
	handing__once,
	.batch = 100,
	.batches = 25,
	.events = 2,
};

void workload__repeat(const struct workload *workload, unsigned int n)
{
	while (n--)
		workload->once();
}

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

double workload__cost(const struct workload *workload)
{
	double costs[BATCHES_MAX];

	workload__repeat(workload, workload->batch * 4);
	for (unsigned int i = 0; i < workload->batches; i++) {
		uint64_t begin_ns = test__now_ns();

		workload__repeat(workload, workload->batch);
		costs[i] = (double)(test__now_ns() - begin_ns) /
			   (workload->batch * workload->events);
	}
	qsort(costs, workload->batches, sizeof(costs[0]), compare);
	return costs[workload->batches / 2];
}

void programs__add(struct programs *programs, int fd)
{
	if (fd < 0 || programs->nr == PROGRAMS_MAX)
		test__fatal("programs", "cannot look at program number %u", programs->nr);
	programs->fds[programs->nr++] = fd;
}

void program__info(int fd, struct bpf_prog_info *info)
{
	__u32 size = sizeof(*info);

	*info = (struct bpf_prog_info){};
	if (bpf_obj_get_info_by_fd(fd, info, &size))
		test__fatal("programs", "cannot read what the kernel counts: %s", strerror(errno));
}

double programs__cost(const struct programs *programs, const struct workload *workload,
		      unsigned int nr_events)
{
	int statistics = bpf_enable_stats(BPF_STATS_RUN_TIME);
	double least = 0;

	if (statistics < 0)
		test__fatal("statistics", "cannot switch them on: %s", strerror(errno));
	workload__repeat(workload, nr_events);
	for (int round = 0; round < PROGRAMS_COST_ROUNDS; round++) {
		struct bpf_prog_info before[PROGRAMS_MAX], after;
		uint64_t sum_ns = 0;

		for (unsigned int i = 0; i < programs->nr; i++)
			program__info(programs->fds[i], &before[i]);
		workload__repeat(workload, nr_events);
		for (unsigned int i = 0; i < programs->nr; i++) {
			program__info(programs->fds[i], &after);
			if (after.run_cnt - before[i].run_cnt < nr_events)
				test__fatal(after.name, "it did not run for each event");
			sum_ns += after.run_time_ns - before[i].run_time_ns;
		}
		if (!round || (double)sum_ns / nr_events < least)
			least = (double)sum_ns / nr_events;
	}
	close(statistics);
	return least;
}
