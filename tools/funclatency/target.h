/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a run times: TARGET as the user writes it. Knows no libbpf. */
#ifndef VANTAGE_FUNCLATENCY_TARGET_H
#define VANTAGE_FUNCLATENCY_TARGET_H

#include <limits.h>
#include <stddef.h>

#include "funclatency.h"
#include "functions.h"
#include "run/function_type.h"
#include "run/target.h"
#include "settings.h"

enum target_kind {
	TARGET_FUNCTION, /* a function of the kernel, by name */
	TARGET_SYSCALLS, /* sys:NAME, sys:GLOB, sys:NAME,GLOB,... */
	TARGET_USER, /* PATH:NAME, LIBRARY:NAME, :NAME of a user program */
};

struct target {
	enum target_kind kind;
	const char *name; /* of the function; for system calls the glob; in text */
	char binary[PATH_MAX]; /* what stands before the name of a user program's function */
	size_t nr_syscalls;
	__u8 syscalls[FUNCLATENCY_NR_ABIS][FUNCLATENCY_NR_SYSCALLS];
	struct function_facts facts; /* of a function of the kernel */
	struct function_type type; /* its, where what it returns is asked for */
	struct user_function user; /* where that of a user program lies */
};

/* Reads the text, which is borrowed. 0; -EINVAL: it has not the form of a target; or -ENOENT:
 * there is no such system call. Reported. */
int target__parse(const char *text, struct target *target);

/* Reads the target of the options, and looks up what it names before anything is attached. The
 * options are borrowed. 0; -EINVAL: a usage error; or -errno. Reported. */
int target__find(struct target *target, const struct funclatency_options *options);

/* Which system call can be timed in the place of a function that cannot; NULL for other targets.
 * size: at least 128. */
const char *target__otherwise(const struct target *target, char *text, size_t size);

/* "calls of vfs_write", "the system call write", "12 system calls (read*)". size: at least 128. */
const char *target__describe(const struct target *target, char *text, size_t size);

#endif
