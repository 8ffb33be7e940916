// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "execsnoop/commands.h"
#include "test.h"

/* An exec with a gap between path and arguments, as the ring's records have. */
static struct execsnoop_exec *make_exec(__u32 pid, __u64 fork_ns, const char *path,
					const char *args, __u32 args_size)
{
	struct execsnoop_exec *exec = calloc(1, sizeof(*exec) + 512 + args_size);

	exec->process.pid = pid;
	exec->process.fork_ns = fork_ns;
	exec->filename_size = strlen(path) + 1;
	exec->args_offset = 512;
	exec->args_size = args_size;
	memcpy(exec->data, path, exec->filename_size);
	memcpy(exec->data + 512, args, args_size);
	return exec;
}

static void begin(struct commands *commands, __u32 pid, __u64 fork_ns, const char *path)
{
	struct execsnoop_exec *exec = make_exec(pid, fork_ns, path, "a\0b", 4);

	test__equal("an exec is remembered", -commands__begin(commands, exec), 0);
	free(exec);
}

static void test_join(void)
{
	struct execsnoop_process end = { .pid = 10, .fork_ns = 5 };
	struct commands *commands = commands__new();
	struct execsnoop_exec *exec;

	begin(commands, 10, 5, "/bin/first");
	begin(commands, 10, 5, "/bin/second");
	begin(commands, 10 + 4096, 6, "/bin/same-bucket");
	exec = commands__end(commands, &end);
	test__same("an exit ends the last exec of its process", exec ? exec->data : NULL,
		   "/bin/second");
	test__check(exec && exec->args_size == 4 &&
			    !memcmp(exec->data + exec->args_offset, "a\0b", 4),
		    "arguments are kept", "other bytes");
	free(exec);
	test__check(!commands__end(commands, &end), "only once", "it was still there");
	end = (struct execsnoop_process){ .pid = 10 + 4096, .fork_ns = 7 };
	test__check(!commands__end(commands, &end), "a process id in use again matches nothing",
		    "an earlier process was joined");
	begin(commands, 11, 1, "/bin/still-running");
	commands__free(commands);
}

static void test_long_arguments(void)
{
	struct execsnoop_process end = { .pid = 1, .fork_ns = 1 };
	struct commands *commands = commands__new();
	char *args = calloc(1, 10000);
	struct execsnoop_exec *exec = make_exec(1, 1, "/x", args, 10000);

	exec->args_cut = 7;
	test__equal("a long exec is remembered", -commands__begin(commands, exec), 0);
	free(exec);
	exec = commands__end(commands, &end);
	test__equal("arguments are cut to what is kept", exec ? exec->args_size : 0,
		    COMMAND_ARGS_KEPT);
	test__equal("and what was cut is told", exec ? exec->args_cut : 0,
		    7 + 10000 - COMMAND_ARGS_KEPT);
	free(exec);
	free(args);
	commands__free(commands);
}

int main(void)
{
	test_join();
	test_long_arguments();
	return test__done();
}
