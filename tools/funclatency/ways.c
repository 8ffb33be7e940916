// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ways.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "functions.h"
#include "run/log.h"
#include "run/preemption.h"

#define KPROBE_TYPE_PATH "/sys/bus/event_source/devices/kprobe/type"

/* The returns first: a return whose entry was not seen is of a call that had begun before, and an
 * entry whose return is not seen would be in flight. */
enum { AT_RETURN, AT_ENTRY, NR_PROGRAMS };

static struct attach_program fentry_programs[NR_PROGRAMS] = {
	{ .program = "function_exit" },
	{ .program = "function_entry" },
};

static struct attach_program kprobe_programs[NR_PROGRAMS] = {
	{ .program = "function_return" },
	{ .program = "function_call" },
};

static struct attach_program user_programs[NR_PROGRAMS] = {
	{ .program = "user_return" },
	{ .program = "user_call" },
};

static const struct attach_program syscall_programs[NR_PROGRAMS] = {
	{ .program = "syscall_exit", .target = "sys_exit" },
	{ .program = "syscall_enter", .target = "sys_enter" },
};

#define WAY(way_mechanism, way_programs)                                                           \
	{                                                                                          \
		.mechanism = way_mechanism, .programs = way_programs, .nr_programs = NR_PROGRAMS   \
	}

enum { WAY_FENTRY, WAY_KPROBE, WAY_UPROBE, WAY_SYSCALLS, NR_WAYS };

static const struct attach_way all_ways[NR_WAYS] = {
	[WAY_FENTRY] = WAY(ATTACH_FENTRY, fentry_programs),
	[WAY_KPROBE] = WAY(ATTACH_KPROBE, kprobe_programs),
	[WAY_UPROBE] = WAY(ATTACH_UPROBE, user_programs),
	[WAY_SYSCALLS] = WAY(ATTACH_TP_BTF, syscall_programs),
};

static const struct attach_way kprobe_first[] = {
	WAY(ATTACH_KPROBE, kprobe_programs),
	WAY(ATTACH_FENTRY, fentry_programs),
};

static void name_programs(struct attach_program *programs, const char *target)
{
	static char returns[PATH_MAX + 16];

	snprintf(returns, sizeof(returns), "return of %s", target);
	programs[AT_RETURN].target = returns;
	programs[AT_ENTRY].target = target;
}

static const struct attach_way *choose_user(const char *target, const struct user_function *user)
{
	name_programs(user_programs, target);
	for (int i = 0; i < NR_PROGRAMS; i++) {
		user_programs[i].binary = user->path;
		user_programs[i].offset = user->offset;
	}
	return &all_ways[WAY_UPROBE];
}

/* Where the kernel preempts itself, only kprobes lose no call, unless many sleep inside. Reading
 * the mode takes time: only where it decides. */
static bool wants_kprobe(const struct common_options *options, const char *function)
{
	struct preemption preemption;

	if (options->attach != ATTACH_AUTO || access(KPROBE_TYPE_PATH, F_OK) ||
	    function__may_sleep(function))
		return false;
	preemption__read(&preemption);
	log_debug("preemption of the kernel: %s, from %s", preemption.mode, preemption.source);
	return preemption.preempts;
}

static const struct attach_way *choose_function(const struct common_options *options,
						const struct target *target, size_t *nr)
{
	const char *function = target->name;
	bool has_suffix = target->facts.has_suffix;

	name_programs(fentry_programs, function);
	name_programs(kprobe_programs, function);
	for (int i = 0; i < NR_PROGRAMS; i++)
		fentry_programs[i].function = kprobe_programs[i].function = function;
	/* The kernel's types have no names with a suffix. */
	*nr = has_suffix ? 1 : 2;
	return has_suffix || wants_kprobe(options, function) ? kprobe_first : all_ways;
}

const struct attach_way *ways__choose(const struct funclatency_options *options,
				      const struct target *target, size_t *nr)
{
	*nr = NR_WAYS;
	if (!target)
		return all_ways;
	if (target->kind == TARGET_FUNCTION)
		return choose_function(&options->common, target, nr);
	*nr = 1;
	if (target->kind == TARGET_USER)
		return choose_user(options->target, &target->user);
	return &all_ways[WAY_SYSCALLS];
}
