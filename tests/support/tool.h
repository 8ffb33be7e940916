/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Runs a tool as a user would: starts it with arguments, waits for its ready byte,
 * sends signals, takes its exit status and what it wrote. What hangs is killed by
 * its pid and reported as a failed check. Knows no tool's records.
 */
#ifndef VANTAGE_TESTS_TOOL_H
#define VANTAGE_TESTS_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Arguments of a tool or workload as a NULL-terminated array. */
#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NO_ARGS ((const char *const[]){ NULL })

struct tool_setup {
	const char *path; /* NULL: the tool of this name among the built ones */
	const char *name; /* NULL: the first word of the test program's name, up to '_' */
	bool pipe; /* stdout is a pipe that the test reads with tool_run__line() */
	int stdout_fd; /* > 0: stdout is this descriptor, which stays the caller's */
	bool no_ready; /* no --ready-fd */
	void (*prepare)(void *ctx); /* in the child, just before the exec; _exit()s on failure */
	void *ctx;
};

struct tool_run {
	pid_t pid;
	bool ready; /* the ready byte has come */
	uint64_t ready_after_ns; /* from the start to the ready byte */
	bool ended;
	int status; /* the exit status, or 128+N when signal N ended it */
	char *out; /* all of stdout after the end, unless stdout_fd was given; a NUL follows */
	size_t out_size;
	char *err; /* all of stderr after the end; a NUL follows */
	size_t err_size;

	/* The tool's own. */
	int out_fd;
	int err_fd;
	int end_fd;
	bool piped;
	bool out_ended;
	size_t line_start; /* of what tool_run__line() gives next */
};

/* The folder with the tools: VANTAGE_BIN, or ../../bin of the test program's own folder. */
const char *tool__folder(void);

/*
 * Starts a tool and waits until it is ready, has ended, or no longer wants to be
 * ready. setup may be NULL. Returns run->ready (with no_ready: true). Failures of
 * the system end the program.
 */
bool tool_run__start(struct tool_run *run, const struct tool_setup *setup, const char *const *args);

/* tool_run__start(), and a failed check (which ends the program) when it is not ready. */
void tool_run__trace(struct tool_run *run, const struct tool_setup *setup, const char *const *args);

/* Runs a tool to its end, without --ready-fd. setup may be NULL. Returns the exit status. */
int tool_run__once(struct tool_run *run, const struct tool_setup *setup, const char *const *args);

void tool_run__signal(const struct tool_run *run, int signal);

/* Whether the tool ends within ms milliseconds; a pipe is read meanwhile if read_pipe. */
bool tool_run__ends(struct tool_run *run, uint64_t ms, bool read_pipe);

/* Whether the tool still runs after ms milliseconds, whatever the machine's pace. */
bool tool_run__goes_on(struct tool_run *run, uint64_t ms);

/* Waits for the end (a tool that hangs is killed, which is a failed check); then run->status,
 * out and err are there. Returns the status. */
int tool_run__wait(struct tool_run *run);

/* SIGINT and tool_run__wait(). */
int tool_run__stop(struct tool_run *run);

/* The next line of a piped stdout without its newline, valid until the next call; NULL at the
 * end of the stream or when none came in ms milliseconds. */
const char *tool_run__line(struct tool_run *run, uint64_t ms);

/* Stops reading a piped stdout for good. */
void tool_run__close_pipe(struct tool_run *run);

/* Waits until a stdout that is a file holds at least size bytes, or too much time is over. */
void tool_run__wait_for_output(const struct tool_run *run, size_t size);

/* Bytes that a stdout that is a file holds by now. */
size_t tool_run__output_size(const struct tool_run *run);

/* What stderr holds by now, to be freed. */
char *tool_run__stderr(const struct tool_run *run);

/* Frees what a run holds; ends a tool that still runs. */
void tool_run__free(struct tool_run *run);

/* Whether the process with this pid ends within ms milliseconds. */
bool process__ends(pid_t pid, uint64_t ms);

/* The value of a line "name:\tvalue" of /proc/PID/status or of such text; to be freed, or NULL. */
char *status_line(const char *text, const char *name);
char *process__status_line(pid_t pid, const char *name);

#endif
