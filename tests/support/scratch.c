// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

struct known_path {
	struct known_path *next;
	char *path;
};

static char *folder;
static pid_t owner;
static struct known_path *known;

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
	(void)info;
	(void)kind;
	(void)where;
	if (remove(path))
		fprintf(stderr, "cannot remove '%s': %s\n", path, strerror(errno));
	return 0;
}

static void remove_folder(void)
{
	if (getpid() == owner)
		nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void make_folder(void)
{
	const char *parent = getenv("TMPDIR");

	if (asprintf(&folder, "%s/vantage-test.XXXXXX", parent && *parent ? parent : "/tmp") < 0 ||
	    !mkdtemp(folder) || chmod(folder, 0755))
		test__fatal("scratch folder", "cannot make '%s': %s", folder, strerror(errno));
	owner = getpid();
	atexit(remove_folder);
}

const char *scratch__path(const char *name)
{
	struct known_path *entry;

	if (!folder)
		make_folder();
	for (entry = known; entry; entry = entry->next)
		if (!strcmp(entry->path + strlen(folder) + 1, name))
			return entry->path;
	entry = malloc(sizeof(*entry));
	if (!entry || asprintf(&entry->path, "%s/%s", folder, name) < 0)
		test__fatal("scratch folder", "out of memory");
	entry->next = known;
	known = entry;
	return entry->path;
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t done = write(fd, data, size);

		if (done < 0 && errno != EINTR)
			return -errno;
		if (done > 0) {
			data += done;
			size -= (size_t)done;
		}
	}
	return 0;
}

const char *scratch__write(const char *name, const void *data, size_t size, unsigned int mode)
{
	const char *path = scratch__path(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int err = fd < 0 ? -errno : write_all(fd, data, size);

	/* Not by the mode of open(), which the umask cuts. */
	if (!err && fchmod(fd, mode))
		err = -errno;
	if (fd >= 0)
		close(fd);
	if (err)
		test__fatal("scratch folder", "cannot write '%s': %s", path, strerror(-err));
	return path;
}

const char *scratch__folder(const char *name)
{
	const char *path = scratch__path(name);

	if (mkdir(path, 0755) && errno != EEXIST)
		test__fatal("scratch folder", "cannot make '%s': %s", path, strerror(errno));
	return path;
}

const char *scratch__copy(const char *from, const char *name)
{
	const char *path;
	size_t size;
	char *data = file__read(from, &size);

	if (!data)
		test__fatal("scratch folder", "cannot read '%s': %s", from, strerror(errno));
	path = scratch__write(name, data, size, 0755);
	free(data);
	return path;
}

char *file__read_fd(int fd, size_t *size)
{
	size_t room = 1 << 16, used = 0;
	char *data = malloc(room);

	while (data) {
		ssize_t got = pread(fd, data + used, room - used - 1, (off_t)used);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			if (!got)
				break;
			free(data);
			return NULL;
		}
		used += (size_t)got;
		if (used == room - 1) {
			room *= 2;
			data = realloc(data, room);
		}
	}
	if (!data)
		test__fatal("memory", "out of memory");
	data[used] = '\0';
	if (size)
		*size = used;
	return data;
}

char *file__read(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *data;

	if (fd < 0)
		return NULL;
	data = file__read_fd(fd, size);
	close(fd);
	return data;
}

int file__write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = write(fd, text, strlen(text)) < 0 ? -errno : 0;
	close(fd);
	return err;
}

bool scratch__private_mounts(void)
{
	if (unshare(CLONE_NEWNS))
		return false;
	if (!mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return true;
	/* Of a chroot only what is mounted in it can be named. */
	return errno == EINVAL && !mount(NULL, "/sys", NULL, MS_REC | MS_PRIVATE, NULL);
}
