// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What --check says of a tool is what comes of a run; a kernel that forbids it is named. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"

/* A target for the tools that need one. */
static const struct {
	const char *tool, *target;
} targets[] = {
	{ "funclatency", "sys:write" },
};

static bool is_confidential(void)
{
	char *mode = file__read("/sys/kernel/security/lockdown", NULL);
	bool is = mode && strstr(mode, "[confidentiality]");

	free(mode);
	return is;
}

static void check_tool(const char *name)
{
	const struct tool_setup setup = { .name = name };
	const char *target = NULL;
	struct tool_run asked, ran;
	char check[96];

	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++)
		if (!strcmp(targets[i].tool, name))
			target = targets[i].target;
	tool_run__once(&asked, &setup, ARGS("--check", target));
	tool_run__once(&ran, &setup, ARGS("--duration=0.1", target));
	snprintf(check, sizeof(check), "%s: --check foretells the run", name);
	test__check(asked.status == ran.status, check, "%d, but the run ended with %d: %s",
		    asked.status, ran.status, ran.err);
	snprintf(check, sizeof(check), "%s: only lockdown forbids it, and is named", name);
	test__check(!ran.status || (is_confidential() && strstr(ran.err, "lockdown") &&
				    strstr(asked.out, "lockdown")),
		    check, "status %d: %s", ran.status, ran.err);
	tool_run__free(&asked);
	tool_run__free(&ran);
}

int main(int argc, char **argv)
{
	struct dirent *entry;
	DIR *folder;

	role__play(argc, argv);
	folder = opendir(tool__folder());
	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			check_tool(entry->d_name);
	if (folder)
		closedir(folder);
	return test__done();
}
