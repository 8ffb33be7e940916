// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/replaced_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

struct replaced_file {
	int directory_fd;
	uid_t owner;
	char name[NAME_MAX + 1];
};

/* No name that a collector of metrics reads. */
#define TEMPORARY_SIZE sizeof(".vantage-0123456789abcdef")

bool replaced_file__is_possible(const char *path)
{
	struct stat status;

	return stat(path, &status) ? true : S_ISREG(status.st_mode);
}

/* The path without symbolic links, also of a file that is not there yet; to be freed. NULL with
 * errno set. */
static char *real_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char *real = realpath(path, NULL), *directory, *folder;
	int length;

	if (real || errno != ENOENT)
		return real;
	if (!*name) {
		errno = EISDIR;
		return NULL;
	}
	folder = slash ? strndup(path, slash - path + 1) : strdup(".");
	directory = folder ? realpath(folder, NULL) : NULL;
	free(folder);
	if (!directory)
		return NULL;
	length = asprintf(&real, "%s/%s", directory, name);
	free(directory);
	return length < 0 ? NULL : real;
}

/* real is changed. */
static int replaced_file__set(struct replaced_file *file, char *real)
{
	char *slash = strrchr(real, '/');
	struct stat status;

	if (strlen(slash + 1) > NAME_MAX)
		return -ENAMETOOLONG;
	strcpy(file->name, slash + 1);
	/* The root directory keeps its slash. */
	slash[slash == real] = '\0';
	file->directory_fd = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (file->directory_fd < 0 || fstat(file->directory_fd, &status))
		return -errno;
	file->owner = status.st_uid;
	return 0;
}

int replaced_file__open(struct replaced_file **result, const char *path)
{
	struct replaced_file *file = calloc(1, sizeof(*file));
	char *real;
	int err;

	if (!file)
		return -ENOMEM;
	file->directory_fd = -1;
	real = real_path(path);
	err = real ? replaced_file__set(file, real) : -errno;
	free(real);
	if (err) {
		replaced_file__close(file);
		return err;
	}
	*result = file;
	return 0;
}

uid_t replaced_file__owner(const struct replaced_file *file)
{
	return file->owner;
}

/* Makes a new file with a name that nobody can foresee. Its descriptor or -errno. */
static int make_temporary(const struct replaced_file *file, char name[TEMPORARY_SIZE])
{
	uint64_t number;
	int fd;

	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	snprintf(name, TEMPORARY_SIZE, ".vantage-%016" PRIx64, number);
	fd = openat(file->directory_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		    0644);
	return fd < 0 ? -errno : fd;
}

static int remove_temporary(const struct replaced_file *file, const char *name)
{
	return unlinkat(file->directory_fd, name, 0) ? -errno : 0;
}

int replaced_file__try(const struct replaced_file *file)
{
	char name[TEMPORARY_SIZE];
	int fd = make_temporary(file, name);

	if (fd < 0)
		return fd;
	close(fd);
	return remove_temporary(file, name);
}

int replaced_file__replace(const struct replaced_file *file, const struct buffer *content)
{
	char name[TEMPORARY_SIZE];
	int fd = make_temporary(file, name), err;

	if (fd < 0)
		return fd;
	err = buffer__write(content, fd);
	/* Linux has closed the descriptor also when a signal came. */
	if (close(fd) && errno != EINTR && !err)
		err = -errno;
	if (!err && renameat(file->directory_fd, name, file->directory_fd, file->name))
		err = -errno;
	/* What failed first is what counts. */
	if (err)
		remove_temporary(file, name);
	return err;
}

void replaced_file__close(struct replaced_file *file)
{
	if (!file)
		return;
	if (file->directory_fd >= 0)
		close(file->directory_fd);
	free(file);
}
