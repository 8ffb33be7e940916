// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Functions that cannot be timed, of the kernel that runs: each is refused before anything is
 * attached, with a sentence and what to do; one whose name has a suffix is timed by that name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"

#define NAME_SIZE 128
#define SUFFIX ".isra.0"
#define TRIES 8

static const struct {
	const char *function;
	const char *cause;
	const char *hint;
} refusals[] = {
	{ "vfs_wirte", "none of that name", "Did you mean vfs_write" },
	{ "no_function_has_this_name", "none of that name", "/proc/kallsyms" },
	{ "type_show", "functions of that name", "a caller" },
	{ "__rcu_read_lock", "tracing itself calls it", "a caller" },
	{ "migrate_disable", "tracing itself calls it", "a caller" },
	{ "do_exit", "never returns", "it calls" },
	{ "vfs_write.cold", "seldom run", "the function itself: vfs_write" },
};

static void check_refused(const char *function, const char *cause, const char *hint)
{
	struct tool_run run;
	char check[2 * NAME_SIZE];
	int status = tool_run__once(&run, NULL, ARGS(function));

	snprintf(check, sizeof(check), "refused: %s", function);
	test__check(status == 1 && strstr(run.err, cause) && strstr(run.err, hint) && !run.out_size,
		    check, "status %d, stderr: %s", status, run.err);
	tool_run__free(&run);
}

/* What the kernel keeps from being traced can be told where a tracefs shows what it does not. */
static void check_untraceable(void)
{
	if (access("/sys/kernel/tracing/available_filter_functions", R_OK) &&
	    access("/sys/kernel/debug/tracing/available_filter_functions", R_OK)) {
		test__check(!getenv("VANTAGE_GUEST"), "untraceable: a guest has a tracefs",
			    "it has none");
		return;
	}
	check_refused("sched_clock", "notrace", "a caller");
}

/* The nth function of which there is nothing but a variant; its name without the suffix. */
static bool find_variant(unsigned int n, char base[NAME_SIZE])
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], type;
	bool found = false;

	if (!file)
		test__fatal("kallsyms", "cannot be read");
	while (!found && fgets(line, sizeof(line), file)) {
		char *suffix;

		/* Those of modules are left out, and what tracing calls. */
		if (strchr(line, '[') || sscanf(line, "%*s %c %127s", &type, base) != 2 ||
		    type != 't' || strstr(base, "bpf") || !strncmp(base, "__pfx_", 6))
			continue;
		suffix = strstr(base, SUFFIX);
		if (!suffix || suffix[strlen(SUFFIX)] || n--)
			continue;
		*suffix = '\0';
		found = true;
	}
	fclose(file);
	return found;
}

static void check_variants(void)
{
	char base[NAME_SIZE], full[NAME_SIZE + sizeof(SUFFIX)];
	bool refused = false, traced = false;
	struct tool_run run;

	for (unsigned int i = 0; i < TRIES && find_variant(i, base); i++) {
		snprintf(full, sizeof(full), "%s%s", base, SUFFIX);
		if (!refused && !kernel__has(base)) {
			check_refused(base, "variants", full);
			refused = true;
		}
		if (traced || !getenv("VANTAGE_GUEST"))
			continue;
		/* Some of them are kept from being traced. */
		traced = tool_run__start(&run, NULL, ARGS(full));
		if (traced)
			test__check(tool_run__stop(&run) == 0 && strstr(run.err, "by kprobe"),
				    "a variant by its full name", "%s", run.err);
		else
			tool_run__wait(&run);
		tool_run__free(&run);
	}
	test__check(refused, "a function that has variants alone was found", "none");
	test__check(traced || !getenv("VANTAGE_GUEST"), "and one was traced", "none");
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++)
		check_refused(refusals[i].function, refusals[i].cause, refusals[i].hint);
	check_untraceable();
	check_variants();
	return test__done();
}
