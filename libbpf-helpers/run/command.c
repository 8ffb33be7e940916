// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/command.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/wait.h>

#include "run/log.h"

/* Status of a child that never exec'ed, and of a command whose own status cannot be had. */
#define NOT_RUN 127

static ssize_t read_whole(int fd, void *data, size_t size)
{
	ssize_t got;

	do
		got = read(fd, data, size);
	while (got < 0 && errno == EINTR);
	return got;
}

/*
 * The child: mask and dispositions are still those the tool was started with. So few
 * bytes, sent in one piece, arrive in one.
 */
static void __attribute__((noreturn)) child__wait_and_exec(int go_fd, int failed_fd, char **argv)
{
	char go;
	int err;

	if (read_whole(go_fd, &go, sizeof(go)) != sizeof(go))
		_exit(NOT_RUN);
	execvp(argv[0], argv);
	err = errno;
	/* If the parent is gone nobody is left to be told. */
	send(failed_fd, &err, sizeof(err), MSG_NOSIGNAL);
	_exit(NOT_RUN);
}

/* go[0], failed[0]: the child's ends. Sockets, because a write to a pipe whose reader has died
 * would need SIGPIPE ignored, which the command would inherit. */
static int open_channels(int go[2], int failed[2])
{
	int err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, go))
		return -errno;
	if (!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, failed))
		return 0;
	err = -errno;
	close(go[0]);
	close(go[1]);
	return err;
}

int command__fork(struct command *command, char **argv)
{
	int go[2], failed[2], err;
	pid_t pid;

	err = open_channels(go, failed);
	if (err)
		return log_error(err, NULL, "cannot prepare to run '%s'", argv[0]);
	pid = fork();
	if (pid == 0) {
		/* Its own copy of the parent's end would keep it from seeing the parent die. */
		close(go[1]);
		close(failed[1]);
		child__wait_and_exec(go[0], failed[0], argv);
	}
	err = -errno;
	close(go[0]);
	close(failed[0]);
	if (pid < 0) {
		close(go[1]);
		close(failed[1]);
		return log_error(err, NULL, "cannot fork to run '%s'", argv[0]);
	}
	/* A tool that was started with SIGCHLD ignored would never get the command's status. */
	signal(SIGCHLD, SIG_DFL);
	*command = (struct command){
		.pid = pid,
		.name = argv[0],
		.go_fd = go[1],
		.failed_fd = failed[1],
		.status = W_EXITCODE(NOT_RUN, 0),
	};
	return 0;
}

static const char *exec_hint(int err, const char *name)
{
	bool by_path = strchr(name, '/') == NULL;

	if (err == ENOENT)
		return by_path ? "No directory of PATH has it: check its name, or give its path." :
				 "Check the path, and that a script's interpreter is there.";
	if (err == EACCES)
		return by_path ? "What PATH has under this name, or a directory of PATH, is closed "
				 "to this user." :
				 "It must be a file that this user may execute.";
	return NULL;
}

static void command__wait(struct command *command)
{
	while (waitpid(command->pid, &command->status, 0) < 0 && errno == EINTR)
		;
	command->ended = true;
}

static void command__close_fds(struct command *command)
{
	if (command->go_fd >= 0)
		close(command->go_fd);
	if (command->failed_fd >= 0)
		close(command->failed_fd);
	command->go_fd = command->failed_fd = -1;
}

int command__exec(struct command *command)
{
	const char go = 1;
	ssize_t got;
	int err = 0;

	if (send(command->go_fd, &go, sizeof(go), MSG_NOSIGNAL) < 0) {
		command__close_fds(command);
		command__wait(command);
		return log_error_because(ECHILD, "its process was killed before it could start",
					 NULL, "cannot run '%s'", command->name);
	}
	got = read_whole(command->failed_fd, &err, sizeof(err));
	if (got < 0)
		err = errno;
	command__close_fds(command);
	if (got == 0)
		return 0;
	command__wait(command);
	return log_error(err, exec_hint(err, command->name), "cannot run '%s'", command->name);
}

bool command__reap(struct command *command)
{
	pid_t pid;

	if (!command->pid || command->ended)
		return command->ended;
	do
		pid = waitpid(command->pid, &command->status, WNOHANG);
	while (pid < 0 && errno == EINTR);
	if (pid < 0)
		log_error(errno, NULL, "cannot get the status of '%s'", command->name);
	command->ended = pid != 0;
	return command->ended;
}

int command__exit_status(const struct command *command)
{
	if (WIFSIGNALED(command->status))
		return 128 + WTERMSIG(command->status);
	return WEXITSTATUS(command->status);
}

void command__close(struct command *command)
{
	bool let_go = command->go_fd < 0;

	if (!command->pid)
		return;
	command__close_fds(command);
	if (!let_go && !command->ended)
		command__wait(command);
	command->pid = 0;
}
