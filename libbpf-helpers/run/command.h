/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command after "--": forked before the tool gives up its privileges, held
 * until everything is attached, then exec'ed with the caller's own privileges,
 * signal mask and none of the tool's restrictions.
 */
#ifndef VANTAGE_RUN_COMMAND_H
#define VANTAGE_RUN_COMMAND_H

#include <stdbool.h>
#include <sys/types.h>

struct command {
	pid_t pid; /* 0: there is no command */
	const char *name; /* argv[0], borrowed; for messages */
	int go_fd; /* closing it without a byte ends the child */
	int failed_fd; /* the child's errno comes here when exec fails */
	bool ended;
	int status; /* as of waitpid(), once ended */
};

/*
 * Forks the child, which waits. argv: NULL-terminated, at least one word, borrowed. 0 or -errno,
 * reported. Call before any signal is blocked, handled or ignored: the command gets the mask and
 * the dispositions of this moment. The caller's SIGCHLD becomes the default one.
 */
int command__fork(struct command *command, char **argv);
/* Lets it exec; waits until it has. 0, or -errno when it cannot be run, reported; then it has
 * ended. */
int command__exec(struct command *command);
/* Takes its status if it has ended, without waiting; returns command->ended. */
bool command__reap(struct command *command);
/* The status a shell would give: its own, or 128+N if signal N killed it. */
int command__exit_status(const struct command *command);
/* Ends a child that was never let go; a running command is left running. *command may be all
 * zero. */
void command__close(struct command *command);

#endif
