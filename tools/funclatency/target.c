// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "run/log.h"
#include "syscalls.h"

#define SYSCALL_PREFIX "sys:"
#define KALLSYMS_PATH "/proc/kallsyms"

/* The names of the kernel's functions, with what compilers put behind them. */
#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_."

static int target__ask_syscalls(struct target *target, const char *glob)
{
	struct near_names near = { .wanted = glob };
	char names[NEAR_NAMES_MAX * NEAR_NAME_SIZE + 32], hint[sizeof(names) + 64];
	bool without_end;

	if (syscalls__ask(glob, &without_end, target->syscalls))
		return 0;
	if (without_end)
		return log_error_because(ENOENT, "a call that never returns lasts no time",
					 "execsnoop -e tells how processes end.",
					 "cannot time the system call %s", glob);
	syscalls__offer(&near);
	near_names__text(&near, names, sizeof(names));
	snprintf(hint, sizeof(hint),
		 *names ? "Did you mean %s?" : "man 2 syscalls has their names.", names);
	log_error_because(ENOENT, "x86 has none of that name", hint,
			  "cannot time the system call '%s'", glob);
	return -ENOENT;
}

/* Names and globs, with commas between them. */
static int target__parse_syscalls(struct target *target)
{
	char *list = strdup(target->name), *rest = list, *glob;
	int err = 0;

	if (!list)
		return log_error(ENOMEM, NULL, "cannot read '%s'", target->name);
	while (!err && (glob = strsep(&rest, ",")))
		err = target__ask_syscalls(target, glob);
	free(list);
	target->kind = TARGET_SYSCALLS;
	target->nr_syscalls = syscalls__count(target->syscalls);
	return err;
}

/* At the first colon: names of C++ and Rust have more. */
static bool target__split_user(struct target *target)
{
	size_t length = strcspn(target->name, ":");

	if (length >= sizeof(target->binary) || !target->name[length + 1])
		return false;
	memcpy(target->binary, target->name, length);
	target->binary[length] = '\0';
	target->name += length + 1;
	target->kind = TARGET_USER;
	return true;
}

int target__parse(const char *text, struct target *target)
{
	size_t length = strspn(text, NAME_CHARACTERS);

	*target = (struct target){ .kind = TARGET_FUNCTION, .name = text };
	if (!strncmp(text, SYSCALL_PREFIX, strlen(SYSCALL_PREFIX)) &&
	    text[strlen(SYSCALL_PREFIX)]) {
		target->name = text + strlen(SYSCALL_PREFIX);
		return target__parse_syscalls(target);
	}
	if (strchr(text, ':') && target__split_user(target))
		return 0;
	if (!*text || text[length])
		return log_error_because(
			EINVAL,
			"it is the name of a function of the kernel, PATH:NAME, "
			"LIBRARY:NAME or (with -p) :NAME of one of a user program, "
			"or sys:NAME of a system call (sys:NAME,NAME of several, sys:* of all)",
			"Try 'funclatency --help' for the options.", "'%s' is no target", text);
	return 0;
}

/* Reading it takes time. */
static int target__read_type(struct target *target, const struct funclatency_options *options)
{
	function_type__read(&target->type, target->name);
	if (target->type.returns_nothing && funclatency_options__by_result(options))
		return log_error_because(EINVAL, "it returns nothing",
					 "Leave out --errors and --by=ret.",
					 "calls of %s have no outcome", target->name);
	return 0;
}

int target__find(struct target *target, const struct funclatency_options *options)
{
	const struct number_list *pids = &options->common.filter.wanted[FILTER_PID];
	int err = target__parse(options->target, target);

	if (err || target->kind == TARGET_SYSCALLS)
		return err;
	if (target->kind == TARGET_USER && funclatency_options__by_result(options))
		return log_error_because(EINVAL,
					 "functions of programs have no common way to tell errors",
					 "Leave out --errors and --by=ret.",
					 "calls of %s have no outcome", options->target);
	if (target->kind == TARGET_USER)
		return user_function__find(&target->user, target->binary, target->name,
					   pids->nr == 1 ? (uint32_t)pids->items[0] : 0, true);
	err = function__judge(target->name, KALLSYMS_PATH, function__traceable_path(),
			      &target->facts);
	if (err)
		return log_error(err, NULL, "cannot look for %s", target->name);
	err = function__report(target->name, &target->facts);
	if (!err && funclatency_options__tell_results(options))
		err = target__read_type(target, options);
	return err;
}

const char *target__otherwise(const struct target *target, char *text, size_t size)
{
	const char *name;

	if (target->kind != TARGET_FUNCTION)
		return NULL;
	name = syscalls__of_function(target->name);
	snprintf(text, size, "system calls can be timed on every kernel: try sys:%s%s",
		 name ? name : "NAME", name ? "" : ", or sys:* for all of them");
	return text;
}

const char *target__describe(const struct target *target, char *text, size_t size)
{
	if (target->kind != TARGET_SYSCALLS)
		snprintf(text, size, "calls of %s", target->name);
	else if (target->nr_syscalls == 1)
		snprintf(text, size, "the system call %s", target->name);
	else
		snprintf(text, size, "%zu system calls", target->nr_syscalls);
	return text;
}
