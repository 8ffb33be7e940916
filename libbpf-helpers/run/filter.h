/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user's side of the task filters: lists as options give them, their checks
 * against this machine, and their way into the kernel's tables. What a filter
 * means is in shared/filter.h.
 */
#ifndef VANTAGE_RUN_FILTER_H
#define VANTAGE_RUN_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "shared/filter.h"

struct bpf_map;

/* Growing list of numbers; all zero is the empty list. */
struct number_list {
	uint64_t *items;
	size_t nr;
};

/* 0 or -ENOMEM. */
int number_list__add(struct number_list *list, uint64_t number);
void number_list__free(struct number_list *list);

/* Growing list of borrowed words; all zero is the empty list. */
struct word_list {
	const char **items;
	size_t nr;
};

/* 0 or -ENOMEM. */
int word_list__add(struct word_list *list, const char *word);
void word_list__free(struct word_list *list);

struct task_filter {
	struct number_list wanted[FILTER_NR_KINDS];
	struct word_list cgroups; /* as given: paths or ids; resolved by task_filter__resolve() */
	struct word_list comms; /* the globs as given */
	struct filter_globs globs;
	bool has_globs;
	struct number_list roots; /* processes to follow with all their descendants */
	size_t nr_trees; /* the first of them, which may have descendants already */
};

/*
 * Adds a glob (* ? [a-z] [!a-z], \ before a character takes it as it is) to the
 * automaton, or leaves it as it was. Characters are bytes. 0; -EINVAL malformed or empty;
 * -ENAMETOOLONG it asks for more than the 15 bytes a command name has; -E2BIG no positions left.
 */
int glob__add(struct filter_globs *globs, const char *pattern);

/* Runs the automaton, as the kernel does, over a name of size bytes, NUL-ended if shorter. */
bool glob__matches(const struct filter_globs *globs, const char *name, size_t size);

/* A user by number or by name in /etc/passwd. 0; -ENOENT the name is not there; -ERANGE a number
 * that no user has; or -errno. Not reported. */
int user__find(const char *name, uint32_t *uid);

/* Adds a command-name glob. word is borrowed. Errors of glob__add(), or -ENOMEM; not reported. */
int task_filter__add_comm(struct task_filter *filter, const char *word);

/* Adds a process whose descendants are followed, too. 0 or -errno, reported. */
int task_filter__add_root(struct task_filter *filter, uint64_t pid);

/*
 * Checks what the filter names against this machine: each pid, tid and ppid must
 * live (a pid must be a process, a tid a thread), each cgroup exist in the
 * cgroup2 hierarchy (a path below its mount or absolute, or an id).
 * 0 or -errno, reported with the offending word.
 */
int task_filter__resolve(struct task_filter *filter);

/* Writes what the kernel side reads before load. config: in the object's rodata; values and
 * tree: the maps of wanted values and of followed processes, sized here. 0 or -errno, reported. */
int task_filter__configure(const struct task_filter *filter, struct filter_config *config,
			   struct bpf_map *values, struct bpf_map *tree);

/* Fills the map of wanted values; after load, before attach. 0 or -errno, reported. */
int task_filter__fill(const struct task_filter *filter, struct bpf_map *values);

/* Makes the kernel side follow the roots and all they fork from now on; after load, before any
 * of them runs on. 0 or -errno, reported. */
int task_filter__follow(const struct task_filter *filter, struct bpf_map *tree);

/* Says which of the named pids and tids are gone; at the end of a run. */
void task_filter__report_vanished(const struct task_filter *filter);

/* One line with every limit for the heading ("pid 12, comm nginx*"); "" when there is none.
 * What does not fit ends with "...". size: at least 4. */
void task_filter__describe(const struct task_filter *filter, char *text, size_t size);

void task_filter__free(struct task_filter *filter);

#endif
