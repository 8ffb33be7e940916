/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What is known of one address: its name, or why it has none.
 */
#ifndef VANTAGE_SYMBOLS_SYMBOL_H
#define VANTAGE_SYMBOLS_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

/* Why an address has no name. The names for JSON and the sentences are in symbol.c. */
enum symbol_reason {
	SYMBOL_NAMED, /* it has one */

	SYMBOL_KERNEL_HIDDEN, /* kallsyms shows addresses of zero */
	SYMBOL_KERNEL_UNREADABLE, /* kallsyms cannot be read, or was not asked for */
	SYMBOL_KERNEL_LATER, /* in the area of modules, where nothing was when they were read */
	SYMBOL_KERNEL_UNKNOWN, /* no text symbol covers it */

	SYMBOL_EXITED_EARLY, /* the process ended before its maps were read */
	SYMBOL_PID_REUSED, /* another process has the id */
	SYMBOL_NO_PERMISSION, /* the maps may not be read */
	SYMBOL_UNMAPPED, /* no mapping covers it */
	SYMBOL_NOT_CODE, /* in memory that is not executable */
	SYMBOL_AMBIGUOUS, /* two files were mapped there, one after the other */
	SYMBOL_ANONYMOUS, /* code in anonymous memory, and no perf map */
	SYMBOL_NOT_IN_PERF_MAP, /* the same, and its perf map does not name it */

	SYMBOL_FILE_GONE, /* neither the mapping nor its path leads to the file */
	SYMBOL_FILE_REPLACED, /* the path leads to another file than the mapped one */
	SYMBOL_FILE_NO_PERMISSION,
	SYMBOL_FILE_NOT_REGULAR, /* a device, FIFO or socket */
	SYMBOL_FILE_WAITS, /* on FUSE, or the file system does not answer */
	SYMBOL_FILE_NOT_ELF,
	SYMBOL_FILE_BROKEN, /* an ELF file that contradicts itself, or cannot be read */
	SYMBOL_OUTSIDE_SEGMENTS, /* no loadable segment holds that part of the file */
	SYMBOL_NO_SYMBOLS, /* stripped, and no debug file was found */
	SYMBOL_NOT_IN_SYMBOLS, /* the file has symbols, but none for the place */
	SYMBOL_OTHER_VDSO, /* the vDSO of another ABI than this program's */

	SYMBOL_LIMIT, /* it would take more memory, files or mappings than allowed */
	SYMBOL_NO_MEMORY,
	SYMBOL_NO_OPENER, /* user names were not asked for, or the opener has died */

	SYMBOL_NR_REASONS,
};

/* Strings are owned by what filled it and stay valid until that is closed. */
struct symbol {
	const char *name; /* NULL: see the reason */
	uint64_t offset; /* of the address from the start of what the name stands for */
	uint64_t size; /* of that; where the file has none: up to the next symbol */
	/* Kernel: the module ("bpf" for BPF programs), or NULL for the kernel itself. User: path of
	 * the mapped file as /proc/PID/maps shows it, "[vdso]", the perf map, or NULL. */
	const char *module;
	/* The address in the module: of a file as its symbols count (the value of st_value), or the
	 * file offset where no segment holds it. */
	uint64_t module_address;
	enum symbol_reason reason;
	/* User, with a name: the function sets up a frame pointer, by which a stack can be walked
	 * to its caller. False also where that is not known. */
	bool has_frame;
};

/* One lower-case word with underscores, for JSON. */
const char *symbol_reason__name(enum symbol_reason reason);

/* What to tell a person: a sentence without a full stop. */
const char *symbol_reason__sentence(enum symbol_reason reason);

#endif
