/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a probe in a user program's file is put on: the file, found as a user names it, and the
 * place of the function in it.
 */
#ifndef VANTAGE_RUN_TARGET_H
#define VANTAGE_RUN_TARGET_H

#include <limits.h>
#include <stdint.h>

#include "symbols/elf_function.h"

struct user_function {
	char path[PATH_MAX]; /* by which this process opens the file */
	char name[ELF_FUNCTION_NAME_SIZE];
	uint64_t offset; /* in the file */
};

/*
 * Finds a function. binary: a path; the name of a library ("c" of libc.so.6), found as the loader
 * finds it; or "" for the program of the process. function: its name, or a glob over C++ and Rust
 * names as they are written. pid: the one process that is meant, in whose view of the file system
 * the file is looked for; 0: none. at_return: the returns are to be probed, too.
 * 0; -EINVAL: the process has to be named; or -errno. Reported.
 */
int user_function__find(struct user_function *user, const char *binary, const char *function,
			uint32_t pid, bool at_return);

/* The file of a library in a cache of the loader (ld.so.cache), into path. For the tests. 0,
 * -ENOENT or the error of reading. */
int loader_cache__find(const char *cache, const char *library, char path[PATH_MAX]);

#endif
