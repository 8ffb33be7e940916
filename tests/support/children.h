/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes a test program has started and not yet waited for. They end with
 * it, also when a check ends it early or a time limit terminates it.
 */
#ifndef VANTAGE_TESTS_CHILDREN_H
#define VANTAGE_TESTS_CHILDREN_H

#include <sys/types.h>

/* After fork(). In a process that is itself a child of the test program it does nothing. */
void children__add(pid_t pid);

/* After the wait for it. */
void children__remove(pid_t pid);

/* fork() of a child that the kernel kills when its parent ends: 0 in the child. */
pid_t children__fork(void);

/* In a child: from now on it runs on this CPU alone. */
void children__bind(int cpu);

int children__last_cpu(void);

/* A child that has done prepare(), unless that is NULL, and then stays until children__end(). */
pid_t children__start(void (*prepare)(void));

/* Kills it and waits for it. */
void children__end(pid_t pid);

#endif
