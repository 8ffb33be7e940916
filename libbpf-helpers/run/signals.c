// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "run/log.h"

/* A handler has no argument of its own: these belong to it. */
static int wake_fd = -1;
static volatile sig_atomic_t first_signal;
static volatile sig_atomic_t first_from_terminal;
static volatile sig_atomic_t nr_interrupts;

static void signals__end_at_once(void)
{
	static const char words[] = "interrupted again: ended at once, no account\n";

	/* A failing write leaves nothing else to do: the status tells. */
	(void)!write(STDERR_FILENO, words, sizeof(words) - 1);
	_exit(1);
}

static void signals__take(int signal, siginfo_t *info, void *context)
{
	uint64_t one = 1;
	int saved = errno;

	(void)context;
	if (signal == SIGINT && nr_interrupts++)
		signals__end_at_once();
	if (!first_signal) {
		first_signal = signal;
		first_from_terminal = info->si_code == SI_KERNEL;
	}
	/* Can fail only when the counter is full, and then it is readable already. */
	(void)!write(wake_fd, &one, sizeof(one));
	errno = saved;
}

int signals__handle(void)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction action = { .sa_sigaction = signals__take, .sa_flags = SA_SIGINFO };

	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (wake_fd < 0)
		return log_error(errno, NULL, "cannot make an event descriptor for signals");
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		struct sigaction inherited;

		/* nohup ignores SIGHUP for us, and so it stays. An ignored SIGINT is only what a
		 * script's shell does to its background jobs. */
		if (ending[i] == SIGHUP && !sigaction(SIGHUP, NULL, &inherited) &&
		    inherited.sa_handler == SIG_IGN)
			continue;
		if (sigaction(ending[i], &action, NULL))
			return log_error(errno, NULL, "cannot handle signal %d", ending[i]);
	}
	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR)
		return log_error(errno, NULL, "cannot ignore SIGPIPE");
	return wake_fd;
}

int signals__taken(bool *from_terminal)
{
	*from_terminal = first_from_terminal;
	return first_signal;
}
