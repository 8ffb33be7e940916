/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The user side of bpf/threads.bpf.h: where the kernel side keeps what it knows of each thread,
 * and the walk that begins with those that are there.
 */
#ifndef VANTAGE_COLLECT_THREADS_H
#define VANTAGE_COLLECT_THREADS_H

#include <stdbool.h>

#include <linux/types.h>

struct bpf_map;
struct bpf_program;

/* Of one BPF object. */
struct threads {
	struct bpf_map *storage;
	struct bpf_map *by_tid;
	struct bpf_program *walk; /* over all tasks, making a struct thread for each */
	__u64 *failures; /* walk_failures in the object's data */
	bool in_storage;
};

/* The same of a skeleton with bpf/threads.bpf.h in it. */
#define THREADS(skel, walk_program, has_storage)                                                   \
	(struct threads)                                                                           \
	{                                                                                          \
		.storage = (skel)->maps.threads, .by_tid = (skel)->maps.threads_by_tid,            \
		.walk = (skel)->progs.walk_program,                                                \
		.failures = (__u64 *)&(skel)->bss->walk_failures, .in_storage = has_storage,       \
	}

/* Whether this kernel has task storage (5.11); it is asked once in a run. */
bool threads__have_storage(void);

/* Before load: chooses and sizes the maps, and has the walk loaded. 0 or -errno, reported. */
int threads__prepare(const struct threads *threads);

/* Walks over the threads that are there, again while there is no memory for some. 0 or -errno,
 * reported. */
int threads__walk(const struct threads *threads);

#endif
