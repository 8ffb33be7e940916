/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Addresses to names, of the kernel and of processes, also of those that have ended
 * and whose maps were read before. What cannot be named has a reason: unknown rather
 * than wrong. It does not unwind stacks and knows neither BPF nor output: names are the
 * bytes that files hold, and whoever prints them escapes them.
 *
 * The order in a tool: symbolizer__open() while it has its privileges, give them up, and then
 * symbolizer__remember() when a process is seen first, at its execs and its exit. Names
 * can be asked for at any time, also after the process has ended. What needs privileges
 * later (opening the maps and files of processes) does a process of its own, see opener.h.
 *
 * Not for use by several threads at once.
 */
#ifndef VANTAGE_SYMBOLS_SYMBOLIZER_H
#define VANTAGE_SYMBOLS_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/symbol.h"

struct symbolizer;

struct symbolizer_options {
	bool kernel; /* names of kernel addresses are wanted */
	bool user; /* names of user addresses are wanted: starts the opener */
	bool raw_names; /* --no-demangle: C++ and Rust names as the files hold them */
	size_t max_bytes; /* memory for symbol tables; 0: 512 MiB. Beyond: SYMBOL_LIMIT */
};

/* Which process, for ever: ids are used again. */
struct symbolizer_process {
	uint32_t pid; /* tgid in the PID namespace of this process's /proc */
	/* start_boottime of the thread group's leader (task_struct), in nanoseconds; 0: not
	 * known, and then a process that got the id later is taken for this one. */
	uint64_t start_ns;
};

/* What has happened over the life of a symbolizer. */
struct symbolizer_counts {
	uint64_t processes; /* of which something was asked or remembered */
	uint64_t exited_early; /* of these: ended before their maps could be read */
	uint64_t unreadable; /* of these: maps that could not be read for another reason */
	uint64_t files; /* mapped files that were opened */
	uint64_t bytes; /* memory of the symbol tables now */
};

/*
 * Opens the kernel's symbols (the first lookup reads them, which takes about 100 ms) and starts
 * the opener, as the options want. That kernel symbols are hidden is no error: it is said
 * once as a warning (kernel addresses then have SYMBOL_KERNEL_HIDDEN). No descriptor but
 * the standard three gets into the opener, so it may be called with BPF descriptors open.
 * Processes are watched by nobody: call symbolizer__remember(). 0 or -errno, reported.
 */
int symbolizer__open(struct symbolizer **symbolizer, const struct symbolizer_options *options);

/* Ends the opener, waits for it and frees all; symbols that were filled are then void. NULL is
 * allowed. */
void symbolizer__close(struct symbolizer *symbolizer);

/*
 * Reads a process's maps and opens the files it has mapped, so that its addresses can be
 * named when it has ended. Costs one read of /proc/PID/maps, and an opening for each
 * file that no process had before. To be called at first sight and at each exec and, where
 * it is early enough, at exit: each call adds what is new to what is known. 0 or -errno, not
 * reported: -ESRCH when the process has ended (counted unless there were maps before), -EACCES
 * or -EPERM, -ENOMEM. The reason of later lookups is the same as that of the error.
 */
int symbolizer__remember(struct symbolizer *symbolizer, const struct symbolizer_process *process);

/*
 * The name of a kernel address: a return address minus one, or an instruction's own. An
 * address that is not known makes the symbols be read again, at most once a second, since
 * modules and BPF programs come and go (the file was opened with the privileges of the start).
 */
void symbolizer__kernel(struct symbolizer *symbolizer, uint64_t address, struct symbol *symbol);

/*
 * The name of an address of a process (of 64 or 32 bits). When the process is not known yet it
 * is remembered first; an address that no known mapping covers makes the maps be read again,
 * at most once a second for a process. The first lookup in a file reads its symbols.
 */
void symbolizer__user(struct symbolizer *symbolizer, const struct symbolizer_process *process,
		      uint64_t address, struct symbol *symbol);

void symbolizer__counts(const struct symbolizer *symbolizer, struct symbolizer_counts *counts);

#endif
