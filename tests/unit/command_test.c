// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sys/wait.h>

#include "run/command.h"
#include "run/log.h"
#include "scratch.h"
#include "test.h"

/* An argument vector. */
#define WORDS(...) ((char **)(const char *const[]){ __VA_ARGS__, NULL })

static char last_message[256];

static void keep_message(const struct log_message *message)
{
	snprintf(last_message, sizeof(last_message), "%s: %s", message->message,
		 message->cause ? message->cause : "");
}

static bool open_pipe(int ends[2])
{
	return !pipe(ends) || test__check(false, "a pipe for the test", "%s", strerror(errno));
}

/* Forks a command, which waits. */
static bool start(struct command *command, char **argv)
{
	int err = command__fork(command, argv);

	return !err || test__check(false, "a command is forked", "%s", strerror(-err));
}

static bool wait_for_end(struct command *command)
{
	for (int i = 0; i < 10000 && !command__reap(command); i++)
		usleep(1000);
	return command->ended;
}

/* Runs to the end. Its exit status, or a negative errno. */
static int run(char **argv)
{
	struct command command = {};
	int status;

	status = command__fork(&command, argv);
	if (!status)
		status = command__exec(&command);
	if (!status)
		status = wait_for_end(&command) ? command__exit_status(&command) : -ETIME;
	command__close(&command);
	return status;
}

static int run_shell(const char *script)
{
	return run(WORDS("sh", "-c", script));
}

static void test_statuses(void)
{
	test__equal("true gives 0", run(WORDS("true")), 0);
	test__equal("false gives 1", run(WORDS("false")), 1);
	test__equal("its own status", run_shell("exit 3"), 3);
	test__equal("killed by SIGTERM", run_shell("kill -TERM $$"), 128 + SIGTERM);
	test__equal("killed by SIGKILL", run_shell("kill -KILL $$"), 128 + SIGKILL);
}

static void test_arguments_and_path(void)
{
	test__equal("arguments arrive as they are",
		    run(WORDS("sh", "-c", "test \"$1\" = 'a  b' -a $# = 1", "sh", "a  b")), 0);
	test__equal("a path with a slash", run(WORDS("/bin/true")), 0);
}

static void test_not_found(void)
{
	last_message[0] = '\0';
	test__check(run(WORDS("no-such-command-here")) == -ENOENT, "not found is ENOENT",
		    "another result");
	test__same("not found is told", last_message,
		   "cannot run 'no-such-command-here': No such file or directory");
}

static void test_not_executable(void)
{
	char expected[256];
	const char *path = scratch__write("plain", "true\n", 5, 0644);

	last_message[0] = '\0';
	test__check(run(WORDS(path)) == -EACCES, "not executable is EACCES", "another result");
	snprintf(expected, sizeof(expected), "cannot run '%s': Permission denied", path);
	test__same("not executable is told", last_message, expected);
}

static void test_failed_exec_has_ended(void)
{
	struct command command;

	if (!start(&command, WORDS("no-such-command-here")))
		return;
	command__exec(&command);
	test__check(command.ended, "a command that cannot be run has ended", "it has not");
	test__check(waitpid(command.pid, NULL, WNOHANG) < 0 && errno == ECHILD,
		    "a command that cannot be run leaves no zombie", "there is one");
	command__close(&command);
}

static void test_waits_for_the_word(void)
{
	const char *path = scratch__path("waited");
	struct command command;

	if (!start(&command, WORDS("touch", path)))
		return;
	usleep(50000);
	test__check(access(path, F_OK) && !command__reap(&command),
		    "before it is let go nothing runs", "it ran or ended");
	command__exec(&command);
	test__check(wait_for_end(&command) && !access(path, F_OK), "let go, it runs",
		    "its file is not there");
	command__close(&command);
}

static void test_closed_without_the_word(void)
{
	const char *path = scratch__path("closed");
	struct command command;
	pid_t pid;

	if (!start(&command, WORDS("touch", path)))
		return;
	pid = command.pid;
	command__close(&command);
	test__check(kill(pid, 0) < 0 && errno == ESRCH, "never let go, its process is gone",
		    "process %d is still there", pid);
	test__check(access(path, F_OK), "never let go, it never runs", "its file is there");
}

/* The child sees its parent die and ends; the test sees that by the pipe it holds open. */
static void test_parent_dies(void)
{
	const char *path = scratch__path("orphan");
	int alive[2];
	char byte;
	pid_t parent;

	if (!open_pipe(alive))
		return;
	parent = fork();
	if (!parent) {
		struct command command;

		close(alive[0]);
		command__fork(&command, WORDS("touch", path));
		_exit(0);
	}
	close(alive[1]);
	waitpid(parent, NULL, 0);
	test__check(read(alive[0], &byte, 1) == 0, "when the parent dies the child ends",
		    "the pipe it holds was not closed");
	test__check(access(path, F_OK), "when the parent dies nothing runs", "its file is there");
	close(alive[0]);
}

static void test_killed_while_waiting(void)
{
	struct command command;

	if (!start(&command, WORDS("true")))
		return;
	kill(command.pid, SIGKILL);
	/* Its ends of the channels are closed once it is a zombie. */
	waitid(P_PID, command.pid, &(siginfo_t){}, WEXITED | WNOWAIT);
	test__check(command__exec(&command) == -ECHILD, "killed while it waits is an error",
		    "another result");
	test__equal("killed while it waits: its status", command__exit_status(&command),
		    128 + SIGKILL);
	command__close(&command);
}

static void test_left_running(void)
{
	struct command command;
	pid_t pid;

	if (!start(&command, WORDS("sleep", "60")))
		return;
	command__exec(&command);
	pid = command.pid;
	test__check(!command__reap(&command), "a running command has not ended", "it has");
	command__close(&command);
	test__check(!kill(pid, 0), "a running command is left running", "it is gone");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The masks of blocked and ignored signals in the text of /proc/PID/status. */
static void read_masks(const char *path, char masks[2][32])
{
	char line[128];
	FILE *file = fopen(path, "re");

	masks[0][0] = masks[1][0] = '\0';
	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "SigBlk: %31s", masks[0]);
		sscanf(line, "SigIgn: %31s", masks[1]);
	}
	if (file)
		fclose(file);
}

static void test_signals_are_the_callers(void)
{
	const char *path = scratch__path("status");
	char own[2][32], seen[2][32];
	struct command command;
	sigset_t given, later;

	sigemptyset(&given);
	sigaddset(&given, SIGUSR1);
	sigprocmask(SIG_BLOCK, &given, NULL);
	signal(SIGUSR2, SIG_IGN);
	read_masks("/proc/self/status", own);
	if (!start(&command,
		   WORDS("sh", "-c", "exec grep Sig /proc/self/status >\"$1\"", "sh", path)))
		return;
	/* What a tool does once the command waits. */
	sigfillset(&later);
	sigprocmask(SIG_BLOCK, &later, &given);
	signal(SIGPIPE, SIG_IGN);
	command__exec(&command);
	wait_for_end(&command);
	read_masks(path, seen);
	test__same("the command's blocked signals are the caller's", seen[0], own[0]);
	test__same("the command's ignored signals are the caller's", seen[1], own[1]);
	command__close(&command);

	signal(SIGPIPE, SIG_DFL);
	signal(SIGUSR2, SIG_DFL);
	sigdelset(&given, SIGUSR1);
	sigprocmask(SIG_SETMASK, &given, NULL);
}

static void test_status_with_sigchld_ignored(void)
{
	signal(SIGCHLD, SIG_IGN);
	test__equal("started with SIGCHLD ignored, the status is still had", run_shell("exit 5"),
		    5);
	signal(SIGCHLD, SIG_DFL);
}

static unsigned int count_inheritable_fds(void)
{
	unsigned int nr = 0;

	for (int fd = 0; fd < 1024; fd++) {
		int flags = fcntl(fd, F_GETFD);

		nr += flags >= 0 && !(flags & FD_CLOEXEC);
	}
	return nr;
}

static void test_descriptors(void)
{
	/* ls has one more, for the directory; $2 is the user's own. */
	const char *script = "exec 1>\"$1\"; echo here >&\"$2\"; exec ls /proc/self/fd";
	const char *path = scratch__path("fds");
	char number[16], text[8] = "", line[32];
	unsigned int expected, nr = 0;
	int users[2];
	FILE *file;

	if (!open_pipe(users))
		return;
	snprintf(number, sizeof(number), "%d", users[1]);
	expected = count_inheritable_fds() + 1;
	test__equal("a command that lists its descriptors",
		    run(WORDS("sh", "-c", script, "sh", path, number)), 0);
	close(users[1]);
	test__check(read(users[0], text, sizeof(text) - 1) == 5 && !strcmp(text, "here\n"),
		    "a descriptor of the user's reaches the command", "saw \"%s\"", text);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		nr++;
	if (file)
		fclose(file);
	test__equal("no descriptor of the tool's reaches the command", nr, expected);
	close(users[0]);
}

static void test_no_command(void)
{
	struct command none = {};

	test__check(!command__reap(&none), "no command never ends", "it has ended");
	command__close(&none);
	test__equal("closing no command does nothing", none.pid, 0);
}

int main(void)
{
	log__init("command_test");
	log__set_writer(keep_message);
	/* A directory that the user may not search would turn ENOENT into EACCES. */
	setenv("PATH", "/usr/bin:/bin", 1);
	test_statuses();
	test_arguments_and_path();
	test_not_found();
	test_not_executable();
	test_failed_exec_has_ended();
	test_waits_for_the_word();
	test_closed_without_the_word();
	test_parent_dies();
	test_killed_while_waiting();
	test_left_running();
	test_signals_are_the_callers();
	test_status_with_sigchld_ignored();
	test_descriptors();
	test_no_command();
	return test__done();
}
