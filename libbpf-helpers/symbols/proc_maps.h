/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a process has mapped, from the text of /proc/PID/maps: a parser that allocates
 * nothing, and a list of mappings for searching. It opens no files.
 */
#ifndef VANTAGE_SYMBOLS_PROC_MAPS_H
#define VANTAGE_SYMBOLS_PROC_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/lines.h"

/* More are not kept: twice the kernel's own default limit (vm.max_map_count is 65,530). */
#define PROC_MAPS_MAX (128 * 1024)

/* One line. */
struct proc_maps_line {
	uint64_t start;
	uint64_t end; /* after the last byte */
	uint64_t offset; /* of start in the file */
	uint64_t inode; /* 0: no file */
	uint32_t major;
	uint32_t minor;
	bool executable;
	/* As the file shows it (newlines as \012, " (deleted)" at the end), "" if none; in the line's
	 * buffer. */
	const char *path;
};

/* Whether a line has the format; fills all of parsed. text is ended by NUL. */
bool proc_maps__parse_line(const char *text, struct proc_maps_line *parsed);

struct proc_mapping {
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	/* What it is of: the user's number for the file, or one of the kinds. */
	uint32_t file;
	bool executable;
};

/* Kinds of mappings without a file to open. */
enum {
	PROC_MAPS_ANONYMOUS = UINT32_MAX,
	PROC_MAPS_VDSO = UINT32_MAX - 1,
	PROC_MAPS_NOT_KEPT = UINT32_MAX - 2 /* no memory, or too many files */
};

/* By rising address, without overlaps. Mappings that are not executable are joined where they
 * touch and have file 0. All zero: empty. */
struct proc_maps {
	struct proc_mapping *mappings;
	size_t nr;
	size_t capacity;
	bool cut; /* there were more than PROC_MAPS_MAX */
};

/* The number of the file of an executable mapping; PROC_MAPS_NOT_KEPT is allowed. */
typedef uint32_t (*proc_maps_file_fn)(void *ctx, const struct proc_maps_line *line);

/*
 * Reads all lines. Lines of another format, and those that do not lie above the line before (the
 * maps changed while they were read), are left out. 0; -ESRCH when there is no line (the
 * process has ended); -ENOMEM or the error of reading.
 */
int proc_maps__read(struct proc_maps *maps, struct lines *lines, proc_maps_file_fn file, void *ctx);

/* The mapping that covers an address, or NULL. */
const struct proc_mapping *proc_maps__find(const struct proc_maps *maps, uint64_t address);

/* Whether both say the same. */
bool proc_maps__is_same(const struct proc_maps *left, const struct proc_maps *right);

void proc_maps__free(struct proc_maps *maps);

#endif
