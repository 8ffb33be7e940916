// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/filter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run/number.h"

/* (uid_t)-1 means "no user" in system calls. */
#define UID_MAX (UINT32_MAX - 1)

/*
 * Reads the user id of a line "name:password:uid:..." if its name is the one.
 * 0; -ENOENT when the line is another's; -EBADMSG when it has no valid id.
 */
static int uid_of_line(char *line, const char *name, uint32_t *uid)
{
	char *rest = line, *field;
	uint64_t number;

	field = strsep(&rest, ":");
	if (strcmp(field, name))
		return -ENOENT;
	strsep(&rest, ":");
	field = strsep(&rest, ":");
	if (!field || number__parse(field, 0, UID_MAX, &number))
		return -EBADMSG;
	*uid = (uint32_t)number;
	return 0;
}

static int find_in_passwd(const char *name, uint32_t *uid)
{
	FILE *file = fopen("/etc/passwd", "re");
	char *line = NULL;
	size_t capacity = 0;
	int err = -ENOENT;

	if (!file)
		return -errno;
	while (err == -ENOENT) {
		errno = 0;
		if (getline(&line, &capacity, file) < 0) {
			if (errno)
				err = -errno;
			break;
		}
		err = uid_of_line(line, name, uid);
	}
	free(line);
	fclose(file);
	return err;
}

int user__find(const char *name, uint32_t *uid)
{
	uint64_t number;
	int err;

	err = number__parse(name, 0, UID_MAX, &number);
	if (!err)
		*uid = (uint32_t)number;
	return err == -EINVAL ? find_in_passwd(name, uid) : err;
}
