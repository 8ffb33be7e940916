/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An exec or a failed call of it as user space holds it: the parts of the ring's record,
 * cut as asked for, and copied where it outlives the record. Knows no libbpf.
 */
#ifndef VANTAGE_EXECSNOOP_EVENT_H
#define VANTAGE_EXECSNOOP_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "execsnoop.h"

/* Bytes without the NUL at their end, borrowed. data NULL: not known. */
struct text {
	const char *data;
	size_t size;
};

struct exec_event {
	struct execsnoop_process process;
	int ret; /* 0 or -errno */
	bool wanted; /* inside what was asked */
	uint64_t ended_ns; /* CLOCK_MONOTONIC of the exec that ended it; 0: none, or not known */
	struct text filename;
	struct text args; /* each ended by NUL */
	uint64_t args_cut; /* bytes left out at the end of args, or WORDS_CUT_UNKNOWN */
	const uint64_t *unreadable; /* bits of the arguments that could not be read, or NULL */
	struct text env; /* NAME=value, each ended by NUL */
	const struct execsnoop_ancestor *ancestors; /* the parent first */
	size_t nr_ancestors;
	enum execsnoop_cwd_end cwd_end;
	struct text cwd; /* names of directories, the innermost first, each ended by NUL */
};

/* The parts of a record; they borrow from it. */
struct exec_event exec_event__parse(const struct execsnoop_exec *exec);

/* Leaves of env the variables with these names, in their order; data is room for the result, as
 * large as env is. */
void exec_event__pick_env(struct exec_event *event, const char *const *names, size_t nr_names,
			  char *data);

/* Leaves the first most arguments. */
void exec_event__cut_args(struct exec_event *event, uint64_t most);

/* Leaves the first most bytes of arguments, the NUL that ends each one among them. */
void exec_event__cut_bytes(struct exec_event *event, uint64_t most);

/* The arguments with a blank between two, to be freed; NULL when out of memory. */
char *exec_event__line(const struct exec_event *event);

/* Writes the indices of the arguments that could not be read. Returns how many. */
size_t exec_event__unreadable(const struct exec_event *event,
			      uint64_t indices[EXECSNOOP_FAILED_ARGS_MAX]);

/* Room for exec_event__cwd(). */
#define CWD_PATH_MAX (EXECSNOOP_CWD_MAX + 32)

/*
 * The working directory as a path, without a NUL; its size, or 0 if it is not known. It begins with
 * a slash, or with "…/" where its beginning is left out, or with "(unreachable)/" where the process
 * is not below its own root.
 */
size_t exec_event__cwd(const struct exec_event *event, char path[CWD_PATH_MAX]);

/* The last part of a path, which names the command. */
struct text path__name(struct text path);

/* A copy in one piece, to be freed; of a successful exec only. NULL when out of memory. */
struct exec_event *exec_event__copy(const struct exec_event *event);

#endif
