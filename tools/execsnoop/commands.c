// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "commands.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define NR_BUCKETS 4096 /* power of two; process ids spread over them by themselves */

struct command_entry {
	struct command_entry *next;
	struct execsnoop_exec *exec;
};

struct commands {
	struct command_entry *buckets[NR_BUCKETS];
};

struct commands *commands__new(void)
{
	return calloc(1, sizeof(struct commands));
}

/* Where the entry of a process id is, or would be. */
static struct command_entry **commands__find(struct commands *commands, __u32 pid)
{
	struct command_entry **at = &commands->buckets[pid % NR_BUCKETS];

	while (*at && (*at)->exec->process.pid != pid)
		at = &(*at)->next;
	return at;
}

/* A copy with the arguments right behind the path and cut to what is kept. */
static struct execsnoop_exec *exec__remember(const struct execsnoop_exec *exec)
{
	__u32 kept = exec->args_size < COMMAND_ARGS_KEPT ? exec->args_size : COMMAND_ARGS_KEPT;
	struct execsnoop_exec *copy = malloc(sizeof(*copy) + exec->filename_size + kept);

	if (!copy)
		return NULL;
	*copy = *exec;
	copy->args_offset = exec->filename_size;
	copy->args_size = kept;
	copy->args_cut += exec->args_size - kept;
	memcpy(copy->data, exec->data, exec->filename_size);
	memcpy(copy->data + copy->args_offset, exec->data + exec->args_offset, kept);
	return copy;
}

int commands__begin(struct commands *commands, const struct execsnoop_exec *exec)
{
	struct command_entry **at = commands__find(commands, exec->process.pid);
	struct execsnoop_exec *copy = exec__remember(exec);
	struct command_entry *entry;

	if (!copy)
		return -ENOMEM;
	if (*at) {
		free((*at)->exec);
		(*at)->exec = copy;
		return 0;
	}
	entry = malloc(sizeof(*entry));
	if (!entry) {
		free(copy);
		return -ENOMEM;
	}
	*entry = (struct command_entry){ .exec = copy };
	*at = entry;
	return 0;
}

struct execsnoop_exec *commands__end(struct commands *commands,
				     const struct execsnoop_process *process)
{
	struct command_entry **at = commands__find(commands, process->pid);
	struct command_entry *entry = *at;
	struct execsnoop_exec *exec;

	if (!entry)
		return NULL;
	exec = entry->exec;
	*at = entry->next;
	free(entry);
	if (exec->process.fork_ns == process->fork_ns)
		return exec;
	/* An earlier process of that id, whose exit was lost. */
	free(exec);
	return NULL;
}

void commands__free(struct commands *commands)
{
	if (!commands)
		return;
	for (size_t i = 0; i < NR_BUCKETS; i++) {
		while (commands->buckets[i]) {
			struct command_entry *entry = commands->buckets[i];

			commands->buckets[i] = entry->next;
			free(entry->exec);
			free(entry);
		}
	}
	free(commands);
}
