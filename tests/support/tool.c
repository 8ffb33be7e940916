// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "children.h"
#include "scratch.h"
#include "test.h"

/* Nothing a test does keeps a tool busy longer than this. */
#define END_LIMIT_MS 60000
#define READY_LIMIT_MS 30000

#define ARGS_MAX 64

static const char *own_folder(void)
{
	static char path[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (size <= 0)
		test__fatal("tool folder", "cannot read /proc/self/exe: %s", strerror(errno));
	path[size] = '\0';
	*strrchr(path, '/') = '\0';
	return path;
}

const char *tool__folder(void)
{
	static char folder[PATH_MAX];
	const char *given = getenv("VANTAGE_BIN");
	char path[PATH_MAX + 16];

	if (*folder)
		return folder;
	if (given)
		snprintf(path, sizeof(path), "%s", given);
	else
		snprintf(path, sizeof(path), "%s/../../bin", own_folder());
	if (!realpath(path, folder))
		test__fatal("tool folder", "cannot find '%s': %s", path, strerror(errno));
	return folder;
}

static const char *tool_path(const struct tool_setup *setup)
{
	static char path[PATH_MAX + 256];
	const char *name = setup->name ? setup->name : program_invocation_short_name;

	if (setup->path)
		return setup->path;
	snprintf(path, sizeof(path), "%s/%.*s", tool__folder(), (int)strcspn(name, "_"), name);
	return path;
}

static void must(int result, const char *what)
{
	if (result < 0)
		test__fatal("starting the tool", "%s: %s", what, strerror(errno));
}

/* Copies args and puts --ready-fd before a "--". */
static void build_args(const char **list, const char *path, const char *const *args,
		       const char *ready_word)
{
	size_t nr = 0;

	list[nr++] = strrchr(path, '/') + 1;
	while (*args && strcmp(*args, "--") && nr < ARGS_MAX)
		list[nr++] = *args++;
	if (*ready_word) {
		list[nr++] = "--ready-fd";
		list[nr++] = ready_word;
	}
	while (*args && nr < ARGS_MAX)
		list[nr++] = *args++;
	if (*args)
		test__fatal("starting the tool", "more than %d arguments", ARGS_MAX);
	list[nr] = NULL;
}

_Noreturn static void become_tool(const struct tool_setup *setup, const char *path,
				  const char *const *list, int out_fd, int err_fd)
{
	int null_fd = open("/dev/null", O_RDONLY);

	if (null_fd < 0 || dup2(null_fd, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(err_fd, 2) < 0)
		_exit(126);
	if (null_fd > 2)
		close(null_fd);
	if (setup->prepare)
		setup->prepare(setup->ctx);
	execv(path, (char *const *)(const void *)list);
	fprintf(stderr, "cannot run '%s': %s\n", path, strerror(errno));
	_exit(127);
}

static int temporary_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC);

	must(fd, "memfd_create");
	return fd;
}

static void wait_until_ready(struct tool_run *run, int ready_fd, uint64_t started_ns)
{
	struct pollfd poll_fd = { .fd = ready_fd, .events = POLLIN };
	int nr = poll(&poll_fd, 1, (int)test__patience_ms(READY_LIMIT_MS));
	char byte;

	if (nr > 0 && read(ready_fd, &byte, 1) == 1) {
		run->ready = true;
		run->ready_after_ns = test__now_ns() - started_ns;
	}
}

bool tool_run__start(struct tool_run *run, const struct tool_setup *setup, const char *const *args)
{
	static const struct tool_setup plain;
	const char *list[ARGS_MAX + 4], *path;
	int ready[2] = { -1, -1 }, out[2] = { -1, -1 };
	char ready_word[16] = "";
	uint64_t started_ns;

	if (!setup)
		setup = &plain;
	path = tool_path(setup);
	*run = (struct tool_run){ .out_fd = -1, .err_fd = temporary_file("stderr") };
	if (!setup->no_ready) {
		must(pipe2(ready, O_CLOEXEC), "pipe");
		snprintf(ready_word, sizeof(ready_word), "%d", ready[1]);
	}
	if (setup->pipe)
		must(pipe2(out, O_CLOEXEC), "pipe");
	else if (setup->stdout_fd <= 0)
		out[0] = out[1] = temporary_file("stdout");
	build_args(list, path, args, ready_word);
	started_ns = test__now_ns();
	run->pid = fork();
	must(run->pid, "fork");
	if (!run->pid) {
		if (ready[1] >= 0)
			fcntl(ready[1], F_SETFD, 0);
		become_tool(setup, path, list, setup->stdout_fd > 0 ? setup->stdout_fd : out[1],
			    run->err_fd);
	}
	children__add(run->pid);
	run->end_fd = (int)syscall(SYS_pidfd_open, run->pid, 0);
	must(run->end_fd, "pidfd_open");
	run->piped = setup->pipe;
	run->out_fd = out[0];
	if (setup->pipe)
		close(out[1]);
	if (setup->no_ready)
		return run->ready = true;
	close(ready[1]);
	wait_until_ready(run, ready[0], started_ns);
	close(ready[0]);
	return run->ready;
}

void tool_run__trace(struct tool_run *run, const struct tool_setup *setup, const char *const *args)
{
	if (tool_run__start(run, setup, args))
		return;
	tool_run__signal(run, SIGINT);
	tool_run__wait(run);
	test__fatal("the tool starts", "no ready byte; status %d, stderr: %s", run->status,
		    run->err);
}

int tool_run__once(struct tool_run *run, const struct tool_setup *setup, const char *const *args)
{
	struct tool_setup once = setup ? *setup : (struct tool_setup){ 0 };

	once.no_ready = true;
	tool_run__start(run, &once, args);
	return tool_run__wait(run);
}

void tool_run__signal(const struct tool_run *run, int signal)
{
	if (!run->ended)
		kill(run->pid, signal);
}

/* Takes what the pipe has; false at its end. */
static bool read_pipe_once(struct tool_run *run)
{
	char *room = realloc(run->out, run->out_size + 65537);
	ssize_t got;

	if (!room)
		test__fatal("memory", "out of memory");
	run->out = room;
	got = read(run->out_fd, run->out + run->out_size, 65536);
	if (got > 0)
		run->out_size += (size_t)got;
	run->out[run->out_size] = '\0';
	run->out_ended = got == 0;
	return got > 0;
}

static bool ends_until(struct tool_run *run, uint64_t until_ns, bool read_pipe)
{
	siginfo_t info;

	while (!run->ended) {
		uint64_t now_ns = test__now_ns();
		struct pollfd fds[2] = {
			{ .fd = run->end_fd, .events = POLLIN },
			{ .fd = -1, .events = POLLIN },
		};

		if (now_ns >= until_ns)
			return false;
		if (read_pipe && run->piped && !run->out_ended)
			fds[1].fd = run->out_fd;
		poll(fds, 2, (int)((until_ns - now_ns) / 1000000 + 1));
		if (fds[1].revents)
			read_pipe_once(run);
		if (fds[0].revents && !waitid(P_PID, (id_t)run->pid, &info, WEXITED)) {
			run->ended = true;
			children__remove(run->pid);
			run->status = info.si_code == CLD_EXITED ? info.si_status :
								   128 + info.si_status;
		}
	}
	return true;
}

bool tool_run__ends(struct tool_run *run, uint64_t ms, bool read_pipe)
{
	return ends_until(run, test__now_ns() + test__patience_ms(ms) * 1000000, read_pipe);
}

bool tool_run__goes_on(struct tool_run *run, uint64_t ms)
{
	return !ends_until(run, test__now_ns() + ms * 1000000, false);
}

int tool_run__wait(struct tool_run *run)
{
	if (!tool_run__ends(run, END_LIMIT_MS, true)) {
		char *err = tool_run__stderr(run);

		test__check(false, "the tool ends", "it hangs and is killed; stderr: %s", err);
		free(err);
		kill(run->pid, SIGKILL);
		tool_run__ends(run, END_LIMIT_MS, true);
	}
	while (run->piped && run->out_fd >= 0 && !run->out_ended)
		read_pipe_once(run);
	if (!run->piped && run->out_fd >= 0 && !run->out)
		run->out = file__read_fd(run->out_fd, &run->out_size);
	if (!run->err)
		run->err = file__read_fd(run->err_fd, &run->err_size);
	return run->status;
}

int tool_run__stop(struct tool_run *run)
{
	tool_run__signal(run, SIGINT);
	return tool_run__wait(run);
}

const char *tool_run__line(struct tool_run *run, uint64_t ms)
{
	uint64_t until_ns = test__now_ns() + test__patience_ms(ms) * 1000000;

	for (;;) {
		struct pollfd poll_fd = { .fd = run->out_fd, .events = POLLIN };
		char *line = run->out ? run->out + run->line_start : NULL;
		char *end = line ? memchr(line, '\n', run->out_size - run->line_start) : NULL;
		uint64_t now_ns = test__now_ns();

		if (end) {
			/* The stream keeps its newline: the line is a copy. */
			static char *copy;

			free(copy);
			copy = strndup(line, (size_t)(end - line));
			run->line_start = (size_t)(end - run->out) + 1;
			return copy;
		}
		if (now_ns >= until_ns || run->out_ended)
			return NULL;
		if (poll(&poll_fd, 1, (int)((until_ns - now_ns) / 1000000 + 1)) > 0)
			read_pipe_once(run);
	}
}

void tool_run__close_pipe(struct tool_run *run)
{
	close(run->out_fd);
	run->out_fd = -1;
	run->piped = false;
}

size_t tool_run__output_size(const struct tool_run *run)
{
	struct stat info;

	must(fstat(run->out_fd, &info), "fstat of the tool's stdout");
	return (size_t)info.st_size;
}

void tool_run__wait_for_output(const struct tool_run *run, size_t size)
{
	uint64_t until_ns = test__now_ns() + test__patience_ms(10000) * 1000000;

	while (tool_run__output_size(run) < size && test__now_ns() < until_ns)
		test__sleep_ms(20);
}

char *tool_run__stderr(const struct tool_run *run)
{
	return file__read_fd(run->err_fd, NULL);
}

void tool_run__free(struct tool_run *run)
{
	if (run->pid > 0 && !run->ended) {
		kill(run->pid, SIGKILL);
		tool_run__ends(run, END_LIMIT_MS, true);
	}
	if (run->out_fd >= 0)
		close(run->out_fd);
	close(run->err_fd);
	close(run->end_fd);
	free(run->out);
	free(run->err);
	*run = (struct tool_run){ .out_fd = -1 };
}

bool process__ends(pid_t pid, uint64_t ms)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	bool ended = true;

	if (fd >= 0) {
		ended = poll(&poll_fd, 1, (int)test__patience_ms(ms)) > 0;
		close(fd);
	}
	return ended;
}

char *status_line(const char *text, const char *name)
{
	size_t length = strlen(name);
	const char *line = text;

	while (line && (strncmp(line, name, length) || line[length] != ':')) {
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	if (!line)
		return NULL;
	line += length + 1;
	line += strspn(line, " \t");
	return strndup(line, strcspn(line, "\n"));
}

char *process__status_line(pid_t pid, const char *name)
{
	char path[64], *text, *value;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	text = file__read(path, NULL);
	value = text ? status_line(text, name) : NULL;
	free(text);
	return value;
}
