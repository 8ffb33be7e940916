// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cgroup.h"

#include <errno.h>
#include <mntent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scratch.h"
#include "test.h"

const char *cgroup__mount(void)
{
	static char path[512];
	FILE *mounts = setmntent("/proc/self/mounts", "r");
	struct mntent *entry;

	if (!mounts)
		return NULL;
	while (!*path && (entry = getmntent(mounts)))
		if (!strcmp(entry->mnt_type, "cgroup2"))
			snprintf(path, sizeof(path), "%s", entry->mnt_dir);
	endmntent(mounts);
	return *path ? path : NULL;
}

int cgroup__make(const char *path)
{
	return mkdir(path, 0755);
}

int cgroup__enter(const char *path)
{
	char file[600], pid[16];
	int err;

	snprintf(file, sizeof(file), "%s/cgroup.procs", path);
	snprintf(pid, sizeof(pid), "%d", getpid());
	err = file__write(file, pid);
	errno = -err;
	return err ? -1 : 0;
}

uint64_t cgroup__id(const char *path)
{
	struct stat info;

	return stat(path, &info) ? 0 : info.st_ino;
}

void cgroup__remove(const char *path)
{
	for (int i = 0; i < 100 && rmdir(path); i++) {
		if (errno != EBUSY)
			break;
		test__sleep_ms(20);
	}
}
