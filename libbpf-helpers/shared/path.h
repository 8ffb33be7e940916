/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A path as the kernel side finds it: from its last name up to the root of the process that uses
 * it, one name after another. User space puts them together (collect/path.h).
 */
#ifndef VANTAGE_SHARED_PATH_H
#define VANTAGE_SHARED_PATH_H

#include "shared/types.h"

/* Bytes of one name, with its NUL (include/uapi/linux/limits.h: NAME_MAX). */
#define PATH_NAME_MAX 256
/* Room for the names of a path, which can be 32 (and borders of mounts, which count as such); what
 * lies above is cut. Most need far less: 16 are looked for where there is less room. */
#define PATH_NAMES_BYTES 4096
#define PATH_NAMES_FEW_BYTES 512

/* Where the walk ended. */
enum path_end {
	PATH_AT_ROOT, /* of the process */
	PATH_AT_TOP, /* of a tree that the process's root is not above: a pipe, a lazy unmount */
	PATH_CUT, /* no room for what lies above */
};

struct path_names {
	__u32 size; /* bytes in names */
	__u16 end; /* enum path_end */
	__u16 deleted; /* the last name has been removed */
	char names[]; /* each ended by a NUL, the last one first; at most PATH_NAMES_BYTES */
};

#endif
