// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/opener_server.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>
#include <linux/openat2.h>

#include "symbols/lines.h"
#include "symbols/proc_maps.h"

#define DEBUG_FOLDER "/usr/lib/debug"

/* Reads a small file of /proc; ended by NUL. Bytes or -errno. */
static ssize_t read_small(int folder, const char *name, char *text, size_t size)
{
	int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = read(fd, text, size - 1);
	if (got < 0)
		got = -errno;
	else
		text[got] = '\0';
	close(fd);
	return got;
}

/* Compares with field 22 of /proc/PID/stat, which counts clock ticks. 0, -ESTALE or -errno. */
static int check_start(int process, uint64_t start_ns)
{
	char text[1024], *field;
	uint64_t ticks;
	ssize_t got;

	if (!start_ns)
		return 0;
	got = read_small(process, "stat", text, sizeof(text));
	if (got < 0)
		return got;
	/* The command's name, field 2, can hold anything; no later field has a parenthesis. */
	field = strrchr(text, ')');
	for (int i = 2; field && i < 22; i++) {
		field = strchr(field, ' ');
		field += field != NULL;
	}
	if (!field)
		return -EIO;
	ticks = strtoull(field, NULL, 10);
	return ticks == start_ns / (1000000000ULL / sysconf(_SC_CLK_TCK)) ? 0 : -ESTALE;
}

/* A descriptor of /proc/PID that leads to no later process. */
static int open_process(const struct opener_request *request)
{
	char path[32];
	int process, err;

	snprintf(path, sizeof(path), "/proc/%" PRIu32, request->pid);
	process = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (process < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	err = check_start(process, request->start_ns);
	if (err) {
		close(process);
		return err == -ENOENT ? -ESRCH : err;
	}
	return process;
}

/* Opens what an O_PATH descriptor stands for, if it is a regular file; closes the descriptor. */
static int reopen(int place, struct stat *info)
{
	struct statfs system;
	char path[32];
	int fd;

	if (place < 0)
		return place;
	if (fstat(place, info) || fstatfs(place, &system))
		fd = -errno;
	else if (!S_ISREG(info->st_mode))
		fd = -ENODEV;
	else if (system.f_type == FUSE_SUPER_MAGIC)
		fd = -EREMOTE;
	else {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", place);
		fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	close(place);
	return fd;
}

/* Hands an ELF file on, and closes any other. */
static int only_elf(int fd)
{
	char magic[4];

	if (fd < 0 || (pread(fd, magic, 4, 0) == 4 && !memcmp(magic, "\177ELF", 4)))
		return fd;
	close(fd);
	return -ENOEXEC;
}

/* A path as a process with this root sees it; symbolic links stay inside the root. */
static int open_in_root(int process, const char *path, int flags)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int root = process < 0 ? open("/", O_PATH | O_DIRECTORY | O_CLOEXEC) :
				 openat(process, "root", O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	if (root < 0)
		return -errno;
	fd = syscall(SYS_openat2, root, path, &how, sizeof(how));
	if (fd < 0)
		fd = -errno;
	close(root);
	return fd;
}

/* The path of a mapping without what the maps add to it. */
static void copy_path(char *path, const char *shown)
{
	static const char deleted[] = " (deleted)";
	size_t size = strlen(shown);

	if (size >= sizeof(deleted) && !strcmp(shown + size - strlen(deleted), deleted))
		size -= strlen(deleted);
	while (size--) {
		/* The one byte that seq_path() escapes here. */
		if (size >= 3 && !memcmp(shown, "\\012", 4)) {
			*path++ = '\n';
			shown += 4;
			size -= 3;
		} else {
			*path++ = *shown++;
		}
	}
	*path = '\0';
}

/* What the process's own maps say of the mapping: its inode and its path (PATH_MAX bytes). */
static int find_mapping(int process, const struct opener_request *request, uint64_t *inode,
			char *path)
{
	static struct lines lines;
	struct proc_maps_line line;
	int fd = openat(process, "maps", O_RDONLY | O_CLOEXEC), err = -ENOENT;
	size_t size;
	char *text;

	if (fd < 0)
		return -errno;
	lines__begin(&lines, fd);
	while ((text = lines__next(&lines, &size))) {
		if (!proc_maps__parse_line(text, &line) || line.start != request->start ||
		    line.end != request->end)
			continue;
		*inode = line.inode;
		err = line.path[0] == '/' && strlen(line.path) < PATH_MAX ? 0 : -ENOENT;
		if (!err)
			copy_path(path, line.path);
		break;
	}
	close(fd);
	return lines.err ? lines.err : err;
}

static int open_by_path(int process, const struct opener_request *request)
{
	char path[PATH_MAX];
	struct stat info;
	uint64_t inode;
	int fd, err;

	err = find_mapping(process, request, &inode, path);
	if (err)
		return err;
	fd = reopen(open_in_root(process, path, 0), &info);
	/* The device is not compared: overlayfs and btrfs show another one in the maps. */
	if (fd >= 0 && info.st_ino != inode) {
		close(fd);
		return -EXDEV;
	}
	return fd;
}

static int open_mapped_file(int process, const struct opener_request *request)
{
	char name[64];
	struct stat info;
	int fd;

	/* As the kernel prints it, without leading zeros. */
	snprintf(name, sizeof(name), "map_files/%" PRIx64 "-%" PRIx64, request->start,
		 request->end);
	fd = openat(process, name, O_PATH | O_CLOEXEC);
	if (fd >= 0) {
		fd = reopen(fd, &info);
		if (fd != -EACCES && fd != -EPERM)
			return only_elf(fd);
	}
	return only_elf(open_by_path(process, request));
}

/* The effective user of a process, and its id in its own PID namespace. */
static int read_identity(int process, unsigned int *uid, char *own_id, size_t size)
{
	char text[4096], *line, *last;
	ssize_t got = read_small(process, "status", text, sizeof(text));

	if (got < 0)
		return got;
	line = strstr(text, "\nUid:");
	if (!line || sscanf(line, "\nUid: %*u %u", uid) != 1)
		return -EIO;
	line = strstr(text, "\nNSpid:");
	if (!line)
		return -EIO;
	line[1 + strcspn(line + 1, "\n")] = '\0';
	/* One id for each level of namespaces, the innermost last. */
	last = strrchr(line, '\t');
	if (!last || !last[1])
		return -EIO;
	snprintf(own_id, size, "%s", last + 1);
	return 0;
}

static int open_perf_map(int process)
{
	char own_id[16], path[64];
	unsigned int uid;
	struct stat info;
	int fd, err;

	err = read_identity(process, &uid, own_id, sizeof(own_id));
	if (err)
		return err;
	snprintf(path, sizeof(path), "/tmp/perf-%s.map", own_id);
	fd = reopen(open_in_root(process, path, O_NOFOLLOW), &info);
	/* Whoever may write to /tmp could name another one's functions. */
	if (fd >= 0 && info.st_uid != uid) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

static int open_debug_build_id(int process, const struct opener_request *request)
{
	char path[sizeof(DEBUG_FOLDER) + 32 + 2 * OPENER_BUILD_ID_MAX];
	struct stat info;
	int at;

	if (request->build_id_size < 2 || request->build_id_size > OPENER_BUILD_ID_MAX ||
	    request->place > 1)
		return -ENOENT;
	at = sprintf(path, DEBUG_FOLDER "/.build-id/%02x/", request->build_id[0]);
	for (uint32_t i = 1; i < request->build_id_size; i++)
		at += sprintf(path + at, "%02x", request->build_id[i]);
	strcpy(path + at, ".debug");
	/* A link to the real place; it is followed inside the root. */
	return only_elf(reopen(open_in_root(request->place ? -1 : process, path, 0), &info));
}

static int open_debug_link(int process, const struct opener_request *request)
{
	static const struct {
		const char *before;
		const char *after;
		bool own_root;
	} places[] = {
		{ "", "", false },
		{ "", ".debug/", false },
		{ DEBUG_FOLDER, "", false },
		{ DEBUG_FOLDER, "", true },
	};
	char mapped[PATH_MAX], path[sizeof(DEBUG_FOLDER) + PATH_MAX + OPENER_NAME_MAX + 16];
	struct stat info;
	uint64_t inode;
	int err;

	if (request->place >= sizeof(places) / sizeof(*places) || !request->name[0] ||
	    strnlen(request->name, sizeof(request->name)) == sizeof(request->name) ||
	    strchr(request->name, '/'))
		return -ENOENT;
	err = find_mapping(process, request, &inode, mapped);
	if (err)
		return err;
	*(strrchr(mapped, '/') + 1) = '\0';
	snprintf(path, sizeof(path), "%s%s%s%s", places[request->place].before, mapped,
		 places[request->place].after, request->name);
	if (places[request->place].own_root)
		process = -1;
	return only_elf(reopen(open_in_root(process, path, 0), &info));
}

int opener_server__open(const struct opener_request *request)
{
	int process = -1, fd;

	if (request->what == OPENER_DEBUG_BUILD_ID && request->place == 1)
		return open_debug_build_id(-1, request);
	process = open_process(request);
	if (process < 0)
		return process;
	switch (request->what) {
	case OPENER_MAPS:
		fd = openat(process, "maps", O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			fd = errno == ENOENT ? -ESRCH : -errno;
		break;
	case OPENER_MAPPED_FILE:
		fd = open_mapped_file(process, request);
		break;
	case OPENER_PERF_MAP:
		fd = open_perf_map(process);
		break;
	case OPENER_DEBUG_BUILD_ID:
		fd = open_debug_build_id(process, request);
		break;
	case OPENER_DEBUG_LINK:
		fd = open_debug_link(process, request);
		break;
	default:
		fd = -EINVAL;
	}
	close(process);
	return fd;
}
