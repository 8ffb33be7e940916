/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Processes whose truth is known: the test program itself, run again in a role
 * (role.h) under a file name that no other test on the machine uses at the time.
 */
#ifndef VANTAGE_TESTS_WORKLOAD_H
#define VANTAGE_TESTS_WORKLOAD_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* Holds a child back until it is opened. */
struct gate {
	int fds[2];
};

struct workload {
	const char *program; /* path */
	const char *role; /* NULL: "true" */
	const char *const *argv; /* NULL: the program's path alone */
	int stdin_fd; /* > 0: its standard input */
	struct gate *gate; /* waits here before anything else */
	void (*prepare)(void *ctx); /* in the child before the exec; _exit()s on failure */
	void *ctx;
};

/* Path of a copy of this program under this file name, which is the comm it will have. */
const char *workload__program(const char *name);

/* The same under a name of the form "PREFIX.PID": one of this test run alone. */
const char *workload__own_program(const char *prefix);

/* Path of a small_program() "PREFIX.PID": for tests that start thousands. It has no roles. */
const char *workload__small_program(const char *prefix);

/* The file name of a path. */
const char *file_name(const char *path);

/* Forks and executes. Returns the child's pid; ends the program when fork fails. A child whose
 * exec fails ends with 127. */
pid_t workload__start(const struct workload *workload);

/* Waits for the child; its wait status. usage may be NULL. */
int workload__wait(pid_t pid, struct rusage *usage);

/* Starts program in this role (NULL: "true") with these words and waits for it; its pid. */
pid_t workload__execute(const char *program, const char *const *argv, const char *role);

/* Starts it and waits; the wait status. */
int workload__run(const struct workload *workload);

/* Runs program n times, one after another, by posix_spawn; one with roles as "true". */
void workload__repeat(const char *program, unsigned long n);

/* One of them; -1 when it could not be made. *pid is its id. */
int workload__spawn(const char *program, pid_t *pid);

void gate__make(struct gate *gate);
void gate__open(struct gate *gate);

/* setresuid and setresgid to this id, in a prepare step; ctx: unsigned int *. */
void become_user(void *ctx);

/* The stack limit, by which the kernel limits arguments, to its most, in a prepare step. */
void allow_long_args(void *ctx);

#endif
