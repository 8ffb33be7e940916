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

#endif
