// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "execsnoop/commands.h"
#include "test.h"

static void begin(struct commands *commands, __u32 pid, __u64 fork_ns, const char *path)
{
	const struct exec_event exec = {
		.process = { .pid = pid, .fork_ns = fork_ns },
		.filename = { path, strlen(path) },
		.args = { "a\0b", 4 },
	};

	test__equal("an exec is remembered", -commands__begin(commands, exec_event__copy(&exec)),
		    0);
}

static void test_join(void)
{
	struct execsnoop_process end = { .pid = 10, .fork_ns = 5 };
	struct commands *commands = commands__new();
	struct exec_event *exec, *stale;

	begin(commands, 10, 5, "/bin/first");
	begin(commands, 10, 5, "/bin/second");
	begin(commands, 10 + 4096, 6, "/bin/same-bucket");
	exec = commands__end(commands, &end, &stale);
	test__check(exec && exec->filename.size == 11 &&
			    !memcmp(exec->filename.data, "/bin/second", 11),
		    "an exit ends the last exec of its process", "another one");
	test__check(!stale, "nothing is stale then", "something is");
	free(exec);
	test__check(!commands__end(commands, &end, &stale) && !stale, "only once",
		    "it was still there");
	end = (struct execsnoop_process){ .pid = 10 + 4096, .fork_ns = 7 };
	test__check(!commands__end(commands, &end, &stale),
		    "a process id in use again matches nothing", "an earlier process was joined");
	test__check(stale && stale->process.fork_ns == 6, "but the earlier process is handed over",
		    "it is not");
	free(stale);
	begin(commands, 11, 1, "/bin/still-running");
	commands__free(commands);
}

static void test_take(void)
{
	struct commands *commands = commands__new();
	struct exec_event *exec;
	unsigned int pids = 0;

	begin(commands, 1, 5, "/bin/one");
	begin(commands, 2, 5, "/bin/two");
	begin(commands, 2 + 4096, 5, "/bin/four");
	while ((exec = commands__take(commands))) {
		pids += exec->process.pid;
		free(exec);
	}
	test__equal("what still runs can be taken out, each once", pids, 1 + 2 + 2 + 4096);
	commands__free(commands);
}

int main(void)
{
	test_join();
	test_take();
	return test__done();
}
