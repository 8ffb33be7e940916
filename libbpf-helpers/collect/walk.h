/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Walks: programs that the kernel runs once for each task, or for each entry of a map
 * (SEC("iter/...")), and that write records or only do something.
 */
#ifndef VANTAGE_COLLECT_WALK_H
#define VANTAGE_COLLECT_WALK_H

#include <stdbool.h>
#include <stddef.h>

#include <sys/types.h>

struct bpf_link;
struct bpf_map;
struct bpf_program;

/* Before load: whether the run needs the walk. */
void walk__want(struct bpf_program *program, bool wanted);

/* Attaches a walk over the entries of a map, or over what its program names (map NULL). NULL when
 * it cannot, reported. The link is the caller's. */
struct bpf_link *walk__attach(struct bpf_program *program, const struct bpf_map *map);

/* link: of walk__attach(), or NULL. */
void walk__detach(struct bpf_link *link);

/* A descriptor whose reading to its end is one walk, with no map; the caller's. -errno,
 * reported. */
int walk__start(struct bpf_program *program);

/* Called for each record of a walk; data is gone after the call. 0 to go on. */
typedef int (*walk_fn)(void *ctx, const void *record);

/* Reads a walk to its end. record_size: of its records, in bytes, at most WALK_RECORD_MAX. fn: NULL
 * when it writes none. 0; the first return of fn that is not 0; or -errno, reported. */
int walk__read(int fd, size_t record_size, walk_fn fn, void *ctx);

#define WALK_RECORD_MAX 8192

/* The next bytes of a walk, at most size; 0 at its end; -errno. */
ssize_t walk__read_bytes(int fd, void *data, size_t size);

#endif
