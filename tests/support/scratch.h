/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One folder for the files of a test program, made at first use below TMPDIR or
 * /tmp, readable by every user, and removed with all that is in it when the
 * program ends.
 */
#ifndef VANTAGE_TESTS_SCRATCH_H
#define VANTAGE_TESTS_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>

/* Path of a file or folder with this name in the folder, which need not be there. Stays valid;
 * the same name gives the same pointer. */
const char *scratch__path(const char *name);

/* Makes a file with these bytes and mode; returns its path. Ends the program on failure. */
const char *scratch__write(const char *name, const void *data, size_t size, unsigned int mode);

/* Makes a folder in the folder, for every user to read. */
const char *scratch__folder(const char *name);

/* Copies a file into the folder with mode 0755. Ends the program on failure. */
const char *scratch__copy(const char *from, const char *name);

/* The bytes of a file, with a NUL after them, to be freed; NULL when it cannot be read.
 * size may be NULL. */
char *file__read(const char *path, size_t *size);

/* The same from an open file, from its beginning. */
char *file__read_fd(int fd, size_t *size);

/* Writes all bytes to an existing file in one call. 0 or -errno. */
int file__write(const char *path, const char *text);

/* A mount namespace of its own for this process, from which no mount gets out. Also below a root
 * that is no mount point (chroot). errno is set on failure. */
bool scratch__private_mounts(void);

#endif
