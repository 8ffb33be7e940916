/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands that run now, from their exec to their end: what joins an exit with
 * the exec it ends. One entry a process, so never more than there are process ids.
 * Knows no libbpf.
 */
#ifndef VANTAGE_EXECSNOOP_COMMANDS_H
#define VANTAGE_EXECSNOOP_COMMANDS_H

#include "event.h"

struct commands;

/* NULL when out of memory. */
struct commands *commands__new(void);

/* Remembers an exec, which is then owned, in place of an earlier one of the same process.
 * 0 or -ENOMEM. */
int commands__begin(struct commands *commands, struct exec_event *exec);

/*
 * Takes out the exec that an event of this process ends: by process id and time of fork, so that
 * a process id in use again matches nothing. NULL if it was not seen. The caller frees it. *stale
 * gets the exec of an earlier process of that id, whose exit was lost, to be freed; or NULL.
 */
struct exec_event *commands__end(struct commands *commands, const struct execsnoop_process *process,
				 struct exec_event **stale);

/* The exec that the process with this id was seen to make, which stays owned; NULL: none. */
const struct exec_event *commands__running(struct commands *commands, __u32 pid);

/* Takes out any exec; NULL when there is none left. The caller frees it. */
struct exec_event *commands__take(struct commands *commands);

/* commands may be NULL. */
void commands__free(struct commands *commands);

#endif
