// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "scratch.h"
#include "test.h"
#include "tool.h"

/* A peer tells nobody when it is ready. */
#define PEER_START_MS 3000
#define READY_MS 30000

/* The descriptor of the ready byte, in the child. */
#define READY_FD 3
#define READY_WORD "--ready-fd=3"

struct tracer tracer__ours(const char *name, const char *const *words)
{
	static char path[512];
	struct tracer tracer = { .name = name, .ours = true };
	size_t nr = 0;

	snprintf(path, sizeof(path), "%s/execsnoop", tool__folder());
	tracer.argv[nr++] = path;
	tracer.argv[nr++] = READY_WORD;
	while (*words && nr + 1 < TRACER_WORDS)
		tracer.argv[nr++] = *words++;
	return tracer;
}

struct tracer tracer__parse(char *text)
{
	char *command = strchr(text, '=');
	struct tracer tracer = { .name = text };
	size_t nr = 0;

	if (!command)
		test__fatal("usage", "'%s' is not NAME=COMMAND", text);
	*command++ = '\0';
	for (char *word = strtok(command, " "); word && nr + 1 < TRACER_WORDS;
	     word = strtok(NULL, " "))
		tracer.argv[nr++] = word;
	return tracer;
}

/* A file that has no name; as records come, it grows on the disk of TMPDIR. */
static int open_file(const char *name)
{
	const char *path = scratch__path(name);
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || unlink(path))
		test__fatal("tracer", "cannot make '%s': %s", path, strerror(errno));
	return fd;
}

_Noreturn static void become(const struct tracer *tracer, int out, int err, int ready)
{
	/* Three descriptors that may be in the way of each other. */
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0 ||
	    dup2(ready, READY_FD) < 0)
		_exit(126);
	execvp(tracer->argv[0], (char *const *)(uintptr_t)tracer->argv);
	_exit(127);
}

static double cpu_seconds(pid_t pid)
{
	char path[64], *text, *after;
	unsigned long user = 0, system = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	text = file__read(path, NULL);
	after = text ? strrchr(text, ')') : NULL;
	if (!after || sscanf(after, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
			     &system) != 2)
		test__fatal("tracer", "cannot read '%s'", path);
	free(text);
	return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void wait_until_ready(struct tracer_run *run, const struct tracer *tracer)
{
	struct pollfd poll_fd = { .fd = run->ready_fd, .events = POLLIN };
	char byte;

	if (!tracer->ours) {
		test__sleep_ms(PEER_START_MS);
		if (process__ends(run->pid, 0))
			test__fatal(tracer->name, "it ended at once");
	} else if (poll(&poll_fd, 1, READY_MS) != 1 || read(run->ready_fd, &byte, 1) != 1) {
		test__fatal(tracer->name, "it does not get ready");
	}
	run->ready_ms = (double)(test__now_ns() - run->started_ns) / 1e6;
	run->cpu_before = cpu_seconds(run->pid);
}

void tracer_run__start(struct tracer_run *run, const struct tracer *tracer, bool pipe, bool wait)
{
	int ready[2], out[2] = { -1, -1 };

	*run = (struct tracer_run){ .err_fd = open_file("err") };
	if (pipe2(ready, O_CLOEXEC) || (pipe && pipe2(out, O_CLOEXEC)))
		test__fatal(tracer->name, "pipe: %s", strerror(errno));
	run->ready_fd = ready[0];
	run->out_fd = pipe ? out[0] : open_file("out");
	run->started_ns = test__now_ns();
	run->pid = fork();
	if (run->pid < 0)
		test__fatal(tracer->name, "fork: %s", strerror(errno));
	if (!run->pid)
		become(tracer, pipe ? out[1] : run->out_fd, run->err_fd, ready[1]);
	children__add(run->pid);
	close(ready[1]);
	if (pipe)
		close(out[1]);
	if (wait)
		wait_until_ready(run, tracer);
}

void tracer_run__memory(const struct tracer_run *run, long *beside_rings, long *rings)
{
	char path[64], *text, *rest, *line;
	bool ring = false;

	*beside_rings = *rings = 0;
	snprintf(path, sizeof(path), "/proc/%d/smaps", run->pid);
	text = rest = file__read(path, NULL);
	while ((line = strsep(&rest, "\n"))) {
		unsigned long from, to;
		long kib;

		if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
			ring = strstr(line, "anon_inode:");
		else if (sscanf(line, "Rss: %ld kB", &kib) == 1)
			*(ring ? rings : beside_rings) += kib;
	}
	free(text);
}

void tracer_run__interrupt(const struct tracer_run *run)
{
	kill(run->pid, SIGINT);
}

void tracer_run__end(struct tracer_run *run)
{
	struct rusage usage;
	struct stat;
	off_t size;

	tracer_run__interrupt(run);
	while (wait4(run->pid, NULL, 0, &usage) < 0)
		if (errno != EINTR)
			test__fatal("tracer", "wait: %s", strerror(errno));
	children__remove(run->pid);
	run->cpu_seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6 -
			   run->cpu_before;
	size = lseek(run->out_fd, 0, SEEK_END);
	run->out = size >= 0 ? file__read_fd(run->out_fd, NULL) : NULL;
	run->err = file__read_fd(run->err_fd, NULL);
}

void tracer_run__free(struct tracer_run *run)
{
	close(run->out_fd);
	close(run->err_fd);
	close(run->ready_fd);
	free(run->out);
	free(run->err);
}
