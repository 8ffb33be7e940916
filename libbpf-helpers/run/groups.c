// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/groups.h"

#include <ftw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <linux/magic.h>

/* Descriptors that the walk may hold open. */
#define WALK_DESCRIPTORS 16

/* nftw() hands no context to its callback. */
static struct groups *walked;
static size_t root_length;

static const struct group *groups__find(const struct groups *groups, uint64_t id)
{
	for (size_t i = 0; i < groups->nr; i++)
		if (groups->items[i].id == id)
			return &groups->items[i];
	return NULL;
}

static int groups__add(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	struct group *items;
	const char *below = path + root_length;
	char *copy;

	(void)ftw;
	if (type != FTW_D || groups__find(walked, status->st_ino))
		return 0;
	copy = strdup(*below ? below : "/");
	items = copy ? reallocarray(walked->items, walked->nr + 1, sizeof(*items)) : NULL;
	if (!items) {
		free(copy);
		return 1;
	}
	walked->items = items;
	items[walked->nr++] = (struct group){ status->st_ino, copy };
	return 0;
}

/* Where cgroup2 is mounted: alone, or beside version 1; NULL elsewhere. */
static const char *find_root(void)
{
	static const char *const roots[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct statfs fs;

	for (size_t i = 0; i < sizeof(roots) / sizeof(roots[0]); i++)
		if (!statfs(roots[i], &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
			return roots[i];
	return NULL;
}

void groups__learn(struct groups *groups)
{
	const char *root = find_root();

	if (!root)
		return;
	walked = groups;
	root_length = strlen(root);
	/* A group without a name is shown by its id alone. */
	nftw(root, groups__add, WALK_DESCRIPTORS, FTW_PHYS);
	walked = NULL;
}

const char *groups__path(struct groups *groups, uint64_t id)
{
	const struct group *group = groups__find(groups, id);

	if (!group) {
		groups__learn(groups);
		group = groups__find(groups, id);
	}
	return group ? group->path : NULL;
}

void groups__free(struct groups *groups)
{
	for (size_t i = 0; i < groups->nr; i++)
		free(groups->items[i].path);
	free(groups->items);
	*groups = (struct groups){};
}
