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

/* Where the group with this id stands among the others, which are in the order of their ids, or
 * would stand. */
static size_t groups__position(const struct groups *groups, uint64_t id)
{
	size_t low = 0, high = groups->nr;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (groups->items[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct group *groups__find(const struct groups *groups, uint64_t id)
{
	size_t at = groups__position(groups, id);

	return at < groups->nr && groups->items[at].id == id ? &groups->items[at] : NULL;
}

/* path: owned then; NULL: a group that has none. False when out of memory. */
static bool groups__insert(struct groups *groups, uint64_t id, char *path)
{
	size_t at = groups__position(groups, id);
	struct group *items = reallocarray(groups->items, groups->nr + 1, sizeof(*items));

	if (!items)
		return false;
	groups->items = items;
	memmove(items + at + 1, items + at, (groups->nr - at) * sizeof(*items));
	items[at] = (struct group){ id, path };
	groups->nr++;
	return true;
}

static int groups__add(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	const char *below = path + root_length;
	char *copy;

	(void)ftw;
	/* One that may not be read has a name all the same. */
	if ((type != FTW_D && type != FTW_DNR) || groups__find(walked, status->st_ino))
		return 0;
	copy = strdup(*below ? below : "/");
	if (copy && groups__insert(walked, status->st_ino, copy))
		return 0;
	free(copy);
	return 1;
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

bool groups__learn(struct groups *groups)
{
	const char *root = find_root();
	bool whole;

	if (!root)
		return false;
	walked = groups;
	root_length = strlen(root);
	/* A group without a name is shown by its id alone. */
	whole = !nftw(root, groups__add, WALK_DESCRIPTORS, FTW_PHYS);
	walked = NULL;
	return whole;
}

const char *groups__path(struct groups *groups, uint64_t id)
{
	const struct group *group = groups__find(groups, id);

	if (!group) {
		bool whole = groups__learn(groups);

		group = groups__find(groups, id);
		/* It is gone, and no other gets its id: there is nothing to look for again. */
		if (!group && whole)
			groups__insert(groups, id, NULL);
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
