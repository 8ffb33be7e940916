/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A file that is replaced as a whole: whoever opens it finds the old content or the new one, and
 * never a part. It does not know what it holds.
 */
#ifndef VANTAGE_OUTPUT_REPLACED_FILE_H
#define VANTAGE_OUTPUT_REPLACED_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "output/buffer.h"

struct replaced_file;

/* Whether a file of this name can be replaced: it is a regular one (also by a symbolic link), or
 * there is none yet. A device or a pipe cannot. */
bool replaced_file__is_possible(const char *path);

/*
 * Opens the directory of the file, so that it is found again without the right to search those
 * above; a symbolic link is followed now. Nothing is created. 0 or -errno, not reported.
 */
int replaced_file__open(struct replaced_file **file, const char *path);

/* The user that owns the directory. */
uid_t replaced_file__owner(const struct replaced_file *file);

/* Makes a file in the directory and removes it again. 0 or -errno, not reported. */
int replaced_file__try(const struct replaced_file *file);

/* The content is in a new file of the directory before that gets the name. 0 or -errno, not
 * reported: the old file is then as it was. */
int replaced_file__replace(const struct replaced_file *file, const struct buffer *content);

/* file may be NULL. */
void replaced_file__close(struct replaced_file *file);

#endif
