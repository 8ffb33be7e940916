/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The commands that run now, from their exec to their exit: what joins an exit with
 * the exec it ends. One entry a process, so never more than there are process ids.
 * Knows no libbpf.
 */
#ifndef VANTAGE_EXECSNOOP_COMMANDS_H
#define VANTAGE_EXECSNOOP_COMMANDS_H

#include "execsnoop.h"

/* Bytes of arguments remembered for a command's exit; its exec record had them all. */
#define COMMAND_ARGS_KEPT 4096

struct commands;

/* NULL when out of memory. */
struct commands *commands__new(void);

/* Remembers a copy of an exec, in place of an earlier one of the same process. 0 or -ENOMEM. */
int commands__begin(struct commands *commands, const struct execsnoop_exec *exec);

/*
 * Takes out the exec that an exit ends: by process id and time of fork, so that a process id in
 * use again matches nothing. NULL if it was not seen. The caller frees it.
 */
struct execsnoop_exec *commands__end(struct commands *commands,
				     const struct execsnoop_process *process);

/* commands may be NULL. */
void commands__free(struct commands *commands);

#endif
