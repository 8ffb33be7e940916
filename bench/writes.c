// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What observing a write(2) of one byte adds to it on this machine: bare, with an empty program at
 * the tracepoint of all system calls, with vfswrite-count, and with the peers that are given as
 * "NAME=COMMAND" (a shell's; PID in it stands for the process that writes). All in turn with each
 * other, some cycles; of each cycle the least of its rounds counts, which other load disturbs
 * least. To be run as root; writes.sh does so.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "children.h"
#include "test.h"
#include "tool.h"

#include "instructions.skel.h"

#define CYCLES 5
#define ROUNDS 40
#define CALLS 5000UL
/* A ptrace stop for each call makes it a hundred times slower. */
#define PEER_ROUNDS 10
/* A peer tells nobody when it is ready. */
#define PEER_START_MS 3000

#define VARIANTS_MAX 8

struct variant {
	const char *name;
	const char *command; /* of a peer */
	double ns[CYCLES];
};

static int null_fd;

static double least_of_rounds(int rounds)
{
	double least = 0;

	for (int round = 0; round < rounds; round++) {
		uint64_t begin_ns = test__now_ns();
		double ns;

		for (unsigned long i = 0; i < CALLS; i++)
			if (write(null_fd, "", 1) != 1)
				test__fatal("write", "%s", strerror(errno));
		ns = (double)(test__now_ns() - begin_ns) / CALLS;
		if (!round || ns < least)
			least = ns;
	}
	return least;
}

static double with_empty_program(void)
{
	struct instructions_bpf *skel = instructions_bpf__open();
	struct bpf_link *link;
	double ns;

	if (!skel || bpf_program__set_autoload(skel->progs.at_tp_btf_return, true) ||
	    instructions_bpf__load(skel))
		test__fatal("empty program", "cannot load it: %s", strerror(errno));
	link = bpf_program__attach(skel->progs.at_tp_btf_return);
	if (!link)
		test__fatal("empty program", "cannot attach it: %s", strerror(errno));
	ns = least_of_rounds(ROUNDS);
	bpf_link__destroy(link);
	instructions_bpf__destroy(skel);
	return ns;
}

static double with_tool(void)
{
	const struct tool_setup setup = { .name = "vfswrite-count", .stdout_fd = null_fd };
	struct tool_run run;
	double ns;

	tool_run__trace(&run, &setup, ARGS("--attach", "tp_btf"));
	ns = least_of_rounds(ROUNDS);
	tool_run__stop(&run);
	tool_run__free(&run);
	return ns;
}

static double with_peer(const struct variant *variant)
{
	char command[512], pid_text[16];
	const char *place = strstr(variant->command, "PID");
	int status;
	double ns;
	pid_t pid;

	snprintf(pid_text, sizeof(pid_text), "%d", getpid());
	snprintf(command, sizeof(command), "exec %.*s%s%s",
		 (int)(place ? place - variant->command : (long)strlen(variant->command)),
		 variant->command, place ? pid_text : "", place ? place + 3 : "");
	/* strace may be no ancestor here. */
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	pid = fork();
	if (pid < 0)
		test__fatal(variant->name, "fork: %s", strerror(errno));
	if (!pid) {
		dup2(null_fd, STDOUT_FILENO);
		dup2(null_fd, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	children__add(pid);
	test__sleep_ms(PEER_START_MS);
	if (waitpid(pid, &status, WNOHANG))
		test__fatal(variant->name, "it ended at once: wait status %#x", status);
	ns = least_of_rounds(PEER_ROUNDS);
	kill(pid, SIGINT);
	waitpid(pid, &status, 0);
	children__remove(pid);
	return ns;
}

static double measure(const struct variant *variants, size_t which)
{
	switch (which) {
	case 0:
		return least_of_rounds(ROUNDS);
	case 1:
		return with_empty_program();
	case 2:
		return with_tool();
	default:
		return with_peer(&variants[which]);
	}
}

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

int main(int argc, char **argv)
{
	struct variant variants[VARIANTS_MAX] = {
		{ .name = "bare" },
		{ .name = "empty program at sys_exit" },
		{ .name = "vfswrite-count, by system call" },
	};
	size_t nr = 3;

	libbpf_set_print(NULL);
	for (int i = 1; i < argc && nr < VARIANTS_MAX; i++) {
		char *end = strchr(argv[i], '=');

		if (!end)
			test__fatal("usage", "'%s' is not NAME=COMMAND", argv[i]);
		*end = '\0';
		variants[nr].name = argv[i];
		variants[nr++].command = end + 1;
	}
	null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (null_fd < 0)
		test__fatal("/dev/null", "%s", strerror(errno));
	for (int cycle = 0; cycle < CYCLES; cycle++)
		for (size_t i = 0; i < nr; i++)
			variants[i].ns[cycle] = measure(variants, i);
	printf("%-34s %12s %12s %12s\n", "write(2) of a byte, ns", "median", "least", "added");
	for (size_t i = 0; i < nr; i++) {
		qsort(variants[i].ns, CYCLES, sizeof(double), compare);
		printf("%-34s %12.1f %12.1f %12.1f\n", variants[i].name, variants[i].ns[CYCLES / 2],
		       variants[i].ns[0], variants[i].ns[CYCLES / 2] - variants[0].ns[CYCLES / 2]);
	}
	return 0;
}
