// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "functions.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/log.h"
#include "symbols/lines.h"

/* What every program at a function calls itself, before and after it: a trampoline there enters
 * itself without end. __rcu_read_lock so stops a machine with Linux 6.1 for good. */
static const char *const under_tracing[] = {
	"__rcu_read_lock",
	"__rcu_read_unlock",
	"rcu_read_unlock_strict",
	"migrate_disable",
	"migrate_enable",
	"preempt_count_add",
	"preempt_count_sub",
	"debug_lockdep_rcu_enabled",
	NULL,
};

/* The same by how their names begin: what runs BPF programs. */
static const char *const under_tracing_prefixes[] = { "bpf_", "__bpf_", NULL };

/* Those that one may meet of the list in tools/objtool/noreturns.h, Linux 6.12. */
static const char *const without_return[] = {
	"__stack_chk_fail",
	"cpu_startup_entry",
	"do_exit",
	"do_group_exit",
	"do_task_dead",
	"kthread_complete_and_exit",
	"kthread_exit",
	"make_task_dead",
	"panic",
	"rewind_stack_and_make_dead",
	"start_kernel",
	NULL,
};

static bool is_among(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static bool begins_with_any(const char *name, const char *const *prefixes)
{
	for (; *prefixes; prefixes++)
		if (!strncmp(name, *prefixes, strlen(*prefixes)))
			return true;
	return false;
}

/* Adds a word to the others, once. */
static void append(char text[FUNCTION_TEXT_SIZE], const char *word)
{
	size_t used = strlen(text);

	if (strstr(text, word))
		return;
	snprintf(text + used, FUNCTION_TEXT_SIZE - used, "%s%s", used ? ", " : "", word);
}

/* "ffffffff81234560 T vfs_write" or "... t name	[module]": cuts the line into the name and the
 * module (NULL: none). False when it is no function. */
static bool symbol__split(char *line, char **name, char **module)
{
	char *type = strchr(line, ' ');

	if (!type || !strchr("tTwW", type[1]) || type[2] != ' ')
		return false;
	*name = type + 3;
	/* The bytes before a function, which some kernels name, too. */
	if (!strncmp(*name, "__pfx_", 6))
		return false;
	*module = strchr(*name, '\t');
	if (*module) {
		**module = '\0';
		*module += strspn(*module + 1, "[") + 1;
		(*module)[strcspn(*module, "]")] = '\0';
	}
	return true;
}

typedef void (*line_fn)(void *ctx, char *line);

static int read_lines(const char *path, line_fn fn, void *ctx)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct lines *lines;
	char *line;
	size_t size;

	if (fd < 0)
		return 0;
	lines = malloc(sizeof(*lines));
	if (!lines) {
		close(fd);
		return -ENOMEM;
	}
	lines__begin(lines, fd);
	while ((line = lines__next(lines, &size)))
		fn(ctx, line);
	close(fd);
	free(lines);
	return 0;
}

struct search {
	const char *name;
	size_t length;
	struct function_facts *facts;
	bool any; /* there are symbols at all */
	struct near_names near;
};

static void search__symbol(void *ctx, char *line)
{
	struct search *search = ctx;
	struct function_facts *facts = search->facts;
	char *name, *module;

	if (!symbol__split(line, &name, &module))
		return;
	search->any = true;
	if (strncmp(name, search->name, search->length))
		return;
	if (name[search->length] == '.' && !strstr(name + search->length, ".cold"))
		append(facts->variants, name);
	if (name[search->length])
		return;
	facts->nr++;
	append(facts->modules, module ? module : "the kernel");
}

static void search__near(void *ctx, char *line)
{
	struct search *search = ctx;
	char *name, *module;

	if (symbol__split(line, &name, &module))
		near_names__offer(&search->near, name);
}

struct listing {
	const char *name;
	bool any;
	bool found;
};

/* "vfs_write" or "name [module]" */
static void listing__line(void *ctx, char *line)
{
	struct listing *listing = ctx;

	line[strcspn(line, " \t")] = '\0';
	listing->any = true;
	listing->found = listing->found || !strcmp(line, listing->name);
}

static int function__look_up(const char *name, const char *kallsyms, const char *traceable,
			     struct function_facts *facts)
{
	struct search search = {
		.name = name, .length = strlen(name), .facts = facts, .near = { .wanted = name }
	};
	struct listing listing = { .name = name };
	int err = read_lines(kallsyms, search__symbol, &search);

	if (err || !search.any)
		return err;
	if (facts->nr > 1) {
		facts->verdict = FUNCTION_SEVERAL;
	} else if (!facts->nr && *facts->variants) {
		facts->verdict = FUNCTION_ONLY_WITH_SUFFIX;
	} else if (!facts->nr) {
		facts->verdict = FUNCTION_UNKNOWN;
		err = read_lines(kallsyms, search__near, &search);
		near_names__text(&search.near, facts->near, sizeof(facts->near));
	} else if (traceable) {
		err = read_lines(traceable, listing__line, &listing);
		if (listing.any && !listing.found)
			facts->verdict = FUNCTION_UNTRACEABLE;
	}
	return err;
}

int function__judge(const char *name, const char *kallsyms, const char *traceable,
		    struct function_facts *facts)
{
	*facts = (struct function_facts){ .has_suffix = strchr(name, '.') };
	if (is_among(name, under_tracing) || begins_with_any(name, under_tracing_prefixes))
		facts->verdict = FUNCTION_UNDER_TRACING;
	else if (is_among(name, without_return))
		facts->verdict = FUNCTION_NO_RETURN;
	else if (strstr(name, ".cold"))
		facts->verdict = FUNCTION_PART;
	if (facts->verdict != FUNCTION_FINE)
		return 0;
	return function__look_up(name, kallsyms, traceable, facts);
}

int function__report(const char *name, const struct function_facts *facts)
{
	char cause[2 * FUNCTION_TEXT_SIZE], hint[2 * FUNCTION_TEXT_SIZE];

	snprintf(
		cause, sizeof(cause), "%s",
		"this kernel has none of that name: it may be inlined wherever it is called, or be "
		"in a module that is not loaded");
	snprintf(hint, sizeof(hint), "/proc/kallsyms has the names of all that can be.");
	switch (facts->verdict) {
	case FUNCTION_FINE:
		return 0;
	case FUNCTION_UNKNOWN:
		if (*facts->near)
			snprintf(hint, sizeof(hint), "Did you mean %s?", facts->near);
		break;
	case FUNCTION_ONLY_WITH_SUFFIX:
		snprintf(
			cause, sizeof(cause),
			"the compiler has made variants of it, with other arguments or parts of it");
		snprintf(hint, sizeof(hint), "Ask for one by its full name: %s.", facts->variants);
		break;
	case FUNCTION_SEVERAL:
		snprintf(cause, sizeof(cause), "there are %zu functions of that name (in %s)",
			 facts->nr, facts->modules);
		snprintf(hint, sizeof(hint), "Time a caller of the one that is meant.");
		break;
	case FUNCTION_PART:
		snprintf(cause, sizeof(cause),
			 "it is the part of a function that is seldom run, which is jumped to and "
			 "not called");
		snprintf(hint, sizeof(hint), "Time the function itself: %.*s.",
			 (int)strcspn(name, "."), name);
		break;
	case FUNCTION_UNTRACEABLE:
		snprintf(cause, sizeof(cause),
			 "the kernel keeps it from being traced (notrace or noinstr)");
		snprintf(hint, sizeof(hint), "Time a caller of it.");
		break;
	case FUNCTION_NO_RETURN:
		snprintf(cause, sizeof(cause), "a function that never returns lasts no time");
		snprintf(hint, sizeof(hint), "Time one that it calls.");
		break;
	case FUNCTION_UNDER_TRACING:
		snprintf(cause, sizeof(cause),
			 "tracing itself calls it, so that tracing it would not end");
		snprintf(hint, sizeof(hint), "Time a caller of it.");
		break;
	}
	log_error_because(ENOENT, cause, hint, "cannot time %s", name);
	return -ENOENT;
}

const char *function__traceable_path(void)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing/available_filter_functions",
		"/sys/kernel/debug/tracing/available_filter_functions",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!access(paths[i], R_OK))
			return paths[i];
	return NULL;
}

bool function__may_sleep(const char *name)
{
	static const char *const words[] = { "sleep", "wait",	"poll", "schedule", "select",
					     "futex", "accept", "recv", "pause",    "msgrcv" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(name, words[i]))
			return true;
	return false;
}
