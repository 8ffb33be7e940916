// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "run/log.h"
#include "run/number.h"

#define MOUNTINFO "/proc/self/mountinfo"

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* Blanks and backslashes of a path stand in mountinfo as \ and three octal digits. */
static void unescape_octal(char *text)
{
	char *out = text;

	while (*text) {
		if (text[0] == '\\' && is_octal(text[1]) && is_octal(text[2]) &&
		    is_octal(text[3])) {
			*out++ = (char)((text[1] - '0') << 6 | (text[2] - '0') << 3 |
					(text[3] - '0'));
			text += 4;
		} else {
			*out++ = *text++;
		}
	}
	*out = '\0';
}

/*
 * The mount point in a line of mountinfo if it is of cgroup2, else NULL. proc(5): id,
 * parent, device, root, mount point, options, optional fields, "-", type, source, …
 */
static char *cgroup2_mount_point(char *line)
{
	char *type = strstr(line, " - "), *point = NULL;

	if (!type || strncmp(type, " - cgroup2 ", strlen(" - cgroup2 ")))
		return NULL;
	for (int i = 0; i < 5 && line; i++)
		point = strsep(&line, " ");
	if (line)
		unescape_octal(point);
	return line ? point : NULL;
}

/* Opens the root of the cgroup2 hierarchy. Its descriptor or -errno, reported with the word. */
static int open_root(const char *word)
{
	FILE *file = fopen(MOUNTINFO, "re");
	char *line = NULL, *point = NULL;
	size_t capacity = 0;
	int fd = -1, err;

	if (!file)
		return log_error(errno, "Mount /proc.", "cannot read %s", MOUNTINFO);
	while (!point && getline(&line, &capacity, file) > 0)
		point = cgroup2_mount_point(line);
	if (point) {
		fd = open(point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = fd < 0 ? log_error(errno, NULL, "cannot open '%s'", point) : 0;
	} else {
		err = log_error_because(
			ENOENT, "no cgroup2 hierarchy is mounted",
			"Mount it (mount -t cgroup2 none DIRECTORY) or filter by something else.",
			"cannot filter by cgroup '%s'", word);
	}
	free(line);
	fclose(file);
	return err ? err : fd;
}

static int is_cgroup2(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return -errno;
	return fs.f_type == CGROUP2_SUPER_MAGIC;
}

/*
 * Opens a path below dir_fd (AT_FDCWD: as it is) as a group. The descriptor, or -EXDEV
 * when it is no directory of cgroup2, or -errno; not reported.
 */
static int open_group(int dir_fd, const char *path)
{
	int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int found;

	if (fd < 0)
		return -errno;
	found = is_cgroup2(fd);
	if (found == 1)
		return fd;
	close(fd);
	return found ? found : -EXDEV;
}

/* Why neither way to read the path gave a group: the way that got further tells more. */
static int report_path(const char *path, int as_given, int below)
{
	struct statfs fs;

	if (as_given == -EXDEV && !statfs(path, &fs) && fs.f_type == CGROUP_SUPER_MAGIC)
		return log_error_because(
			EXDEV, "it is a group of cgroup v1, and a filter needs one of cgroup2",
			"Give its path below the mount of cgroup2; /proc/PID/cgroup shows it after 0::.",
			"cannot filter by cgroup '%s'", path);
	if (as_given == -EXDEV || below == -EXDEV)
		return log_error_because(EXDEV, "it is no directory of the cgroup2 hierarchy",
					 "/proc/PID/cgroup shows the group of a process after 0::.",
					 "cannot filter by cgroup '%s'", path);
	if (below == -ENOENT && as_given != -ENOENT)
		below = as_given;
	return log_error(below, "/proc/PID/cgroup shows the group of a process after 0::.",
			 "cannot filter by cgroup '%s'", path);
}

static int find_path(int root_fd, const char *path, uint64_t *id)
{
	const char *relative = path + strspn(path, "/");
	int as_given, below, fd, err = 0;
	struct stat st;

	as_given = fd = open_group(AT_FDCWD, path);
	if (fd < 0)
		below = fd = open_group(root_fd, *relative ? relative : ".");
	if (fd < 0)
		return report_path(path, as_given, below);
	if (fstat(fd, &st))
		err = log_error(errno, NULL, "cannot read the id of cgroup '%s'", path);
	else
		*id = st.st_ino;
	close(fd);
	return err;
}

/*
 * Looks for the group with an id in the subtree of an open directory, which is closed.
 * 1 found; 0 not there; -errno: a directory could not be read, and it was in no other.
 */
static int search_id(int fd, uint64_t id)
{
	DIR *dir = fdopendir(fd);
	struct dirent *entry;
	int found = 0, below, child;

	if (!dir) {
		found = -errno;
		close(fd);
		return found;
	}
	while (found != 1) {
		errno = 0;
		entry = readdir(dir);
		if (!entry)
			break;
		if (entry->d_type != DT_DIR || !strcmp(entry->d_name, ".") ||
		    !strcmp(entry->d_name, ".."))
			continue;
		if (entry->d_ino == id) {
			found = 1;
			continue;
		}
		child = openat(dirfd(dir), entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		below = child < 0 ? -errno : search_id(child, id);
		/* Groups come and go. */
		if (below && below != -ENOENT && below != -ENODEV)
			found = below;
	}
	if (found != 1 && errno)
		found = -errno;
	closedir(dir);
	return found;
}

static int find_id(int root_fd, uint64_t id)
{
	struct stat st;
	int fd, found;

	if (fstat(root_fd, &st))
		return log_error(errno, NULL, "cannot read the cgroup2 hierarchy");
	if (st.st_ino == id)
		return 0;
	fd = openat(root_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	found = fd < 0 ? -errno : search_id(fd, id);
	if (found < 0)
		return log_error(found, NULL, "cannot look for cgroup %llu in all of cgroup2",
				 (unsigned long long)id);
	if (!found)
		return log_error_because(ENOENT, "no group of cgroup2 has this id",
					 "The id is the inode number of its directory (ls -di).",
					 "cannot filter by cgroup %llu", (unsigned long long)id);
	return 0;
}

int cgroup__find(const char *word, uint64_t *id)
{
	int root_fd = open_root(word);
	int err;

	if (root_fd < 0)
		return root_fd;
	err = number__parse(word, 1, UINT64_MAX, id);
	if (err == -EINVAL)
		err = find_path(root_fd, word, id);
	else if (err)
		err = log_error_because(err, "it is no id of a cgroup", NULL,
					"cannot filter by cgroup %s", word);
	else
		err = find_id(root_fd, *id);
	close(root_fd);
	return err;
}
