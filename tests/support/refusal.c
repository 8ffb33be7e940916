// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "refusal.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "tool.h"

static void check(const struct refusal *refusal)
{
	bool about_ready = refusal->args[0] && !strcmp(refusal->args[0], "--ready-fd");
	const struct tool_setup setup = { .no_ready = about_ready };
	struct tool_run run;
	char name[128];

	if (tool_run__start(&run, &setup, refusal->args) && !about_ready)
		tool_run__signal(&run, SIGINT);
	snprintf(name, sizeof(name), "usage: %s is told before tracing", refusal->name);
	test__check(!run.ready || about_ready, name, "there was a ready byte");
	tool_run__wait(&run);
	snprintf(name, sizeof(name), "usage: %s is %d", refusal->name, refusal->status);
	test__equal(name, (uint64_t)run.status, (uint64_t)refusal->status);
	snprintf(name, sizeof(name), "usage: %s: the message has \"%s\"", refusal->name,
		 refusal->word);
	test__check(strstr(run.err, refusal->word), name, "saw: %s", run.err);
	snprintf(name, sizeof(name), "usage: %s: nothing on stdout", refusal->name);
	test__check(!run.out_size, name, "saw: %s", run.out);
	tool_run__free(&run);
}

void refusal__check(const struct refusal *refusals, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		check(&refusals[i]);
}
