// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "workload.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "scratch.h"
#include "small_program.h"
#include "test.h"

const char *workload__program(const char *name)
{
	static const char *original;
	const char *path = scratch__path(name);

	if (!original)
		original = scratch__copy("/proc/self/exe", "original");
	if (link(original, path) && errno != EEXIST)
		test__fatal("workload", "cannot make '%s': %s", path, strerror(errno));
	return path;
}

const char *workload__own_program(const char *prefix)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%d", prefix, getpid());
	return workload__program(name);
}

const char *workload__small_program(const char *prefix)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%d", prefix, getpid());
	return small_program(name);
}

const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void environment(char *text, size_t size, const char *role)
{
	snprintf(text, size, "VANTAGE_ROLE=%s", role ? role : "true");
}

_Noreturn static void become_workload(const struct workload *workload)
{
	const char *const alone[] = { workload->program, NULL };
	const char *const *argv = workload->argv ? workload->argv : alone;
	char role[1024], byte;
	char *const envp[] = { role, NULL };

	environment(role, sizeof(role), workload->role);
	if (workload->gate && read(workload->gate->fds[0], &byte, 1) != 1)
		_exit(126);
	if (workload->stdin_fd > 0 && dup2(workload->stdin_fd, 0) < 0)
		_exit(126);
	if (workload->prepare)
		workload->prepare(workload->ctx);
	execve(workload->program, (char *const *)(const void *)argv, envp);
	_exit(127);
}

pid_t workload__start(const struct workload *workload)
{
	pid_t pid = fork();

	if (pid < 0)
		test__fatal("workload", "fork: %s", strerror(errno));
	if (!pid)
		become_workload(workload);
	children__add(pid);
	return pid;
}

int workload__wait(pid_t pid, struct rusage *usage)
{
	int status;

	while (wait4(pid, &status, 0, usage) < 0)
		if (errno != EINTR)
			test__fatal("workload", "wait for %d: %s", pid, strerror(errno));
	children__remove(pid);
	return status;
}

pid_t workload__execute(const char *program, const char *const *argv, const char *role)
{
	pid_t pid = workload__start(
		&(struct workload){ .program = program, .role = role, .argv = argv });

	workload__wait(pid, NULL);
	return pid;
}

int workload__run(const struct workload *workload)
{
	return workload__wait(workload__start(workload), NULL);
}

int workload__spawn(const char *program, pid_t *pid)
{
	const char *argv[] = { program, NULL };
	char role[64];
	char *const envp[] = { role, NULL };

	environment(role, sizeof(role), NULL);
	if (posix_spawn(pid, program, NULL, NULL, (char *const *)(const void *)argv, envp))
		return -1;
	return workload__wait(*pid, NULL);
}

void workload__repeat(const char *program, unsigned long n)
{
	pid_t pid;

	while (n--) {
		int status = workload__spawn(program, &pid);

		if (status)
			test__fatal("workload", "%s ended with wait status 0x%x", program, status);
	}
}

void gate__make(struct gate *gate)
{
	if (pipe2(gate->fds, O_CLOEXEC))
		test__fatal("workload", "pipe: %s", strerror(errno));
}

void gate__open(struct gate *gate)
{
	if (write(gate->fds[1], "", 1) != 1)
		test__fatal("workload", "gate: %s", strerror(errno));
	close(gate->fds[0]);
	close(gate->fds[1]);
}

void become_user(void *ctx)
{
	const unsigned int *id = ctx;

	if (setgroups(0, NULL) || setresgid(*id, *id, *id) || setresuid(*id, *id, *id))
		_exit(126);
}

void allow_long_args(void *ctx)
{
	struct rlimit limit;

	(void)ctx;
	getrlimit(RLIMIT_STACK, &limit);
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_STACK, &limit))
		_exit(126);
}
