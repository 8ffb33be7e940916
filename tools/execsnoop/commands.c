// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "commands.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

#define NR_BUCKETS 4096 /* power of two; process ids spread over them by themselves */

struct command_entry {
	struct command_entry *next;
	struct exec_event *exec;
};

struct commands {
	struct command_entry *buckets[NR_BUCKETS];
	size_t next; /* bucket of commands__take() */
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

int commands__begin(struct commands *commands, struct exec_event *exec)
{
	struct command_entry **at = commands__find(commands, exec->process.pid);
	struct command_entry *entry = *at;

	if (entry) {
		free(entry->exec);
		entry->exec = exec;
		return 0;
	}
	entry = malloc(sizeof(*entry));
	if (!entry)
		return -ENOMEM;
	*entry = (struct command_entry){ .exec = exec };
	*at = entry;
	return 0;
}

static struct exec_event *commands__remove(struct command_entry **at)
{
	struct command_entry *entry = *at;
	struct exec_event *exec = entry->exec;

	*at = entry->next;
	free(entry);
	return exec;
}

struct exec_event *commands__end(struct commands *commands, const struct execsnoop_process *process,
				 struct exec_event **stale)
{
	struct command_entry **at = commands__find(commands, process->pid);
	struct exec_event *exec;

	*stale = NULL;
	if (!*at)
		return NULL;
	exec = commands__remove(at);
	if (exec->process.fork_ns == process->fork_ns)
		return exec;
	*stale = exec;
	return NULL;
}

const struct exec_event *commands__running(struct commands *commands, __u32 pid)
{
	struct command_entry *entry = *commands__find(commands, pid);

	return entry ? entry->exec : NULL;
}

struct exec_event *commands__take(struct commands *commands)
{
	for (; commands->next < NR_BUCKETS; commands->next++)
		if (commands->buckets[commands->next])
			return commands__remove(&commands->buckets[commands->next]);
	return NULL;
}

void commands__free(struct commands *commands)
{
	struct exec_event *exec;

	if (!commands)
		return;
	while ((exec = commands__take(commands)))
		free(exec);
	free(commands);
}
