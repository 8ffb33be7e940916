// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "run/log.h"

int parents__set(struct parents *parents, uint32_t child, uint32_t parent)
{
	if (child >= parents->nr) {
		uint32_t nr = child + 1 + child / 2;
		uint32_t *items = reallocarray(parents->items, nr, sizeof(*items));

		if (!items)
			return -ENOMEM;
		memset(items + parents->nr, 0, (nr - parents->nr) * sizeof(*items));
		parents->items = items;
		parents->nr = nr;
	}
	parents->items[child] = parent;
	return 0;
}

int parents__descend(const struct parents *parents, struct number_list *family)
{
	bool *inside = calloc((size_t)parents->nr + 1, sizeof(*inside));
	bool more = true;
	int err = 0;

	if (!inside)
		return -ENOMEM;
	for (size_t i = 0; i < family->nr; i++)
		if (family->items[i] < parents->nr)
			inside[family->items[i]] = true;
	/* One generation a round, or more: children mostly have higher ids than their parents. */
	while (more && !err) {
		more = false;
		for (uint32_t child = 1; child < parents->nr && !err; child++) {
			uint32_t parent = parents->items[child];

			if (inside[child] || parent >= parents->nr || !inside[parent])
				continue;
			inside[child] = more = true;
			err = number_list__add(family, child);
		}
	}
	free(inside);
	return err;
}

void parents__free(struct parents *parents)
{
	free(parents->items);
	*parents = (struct parents){};
}

int tree__configure(const struct task_filter *filter, struct bpf_map *edges)
{
	int err = bpf_map__set_max_entries(edges, filter->nr_trees ? FILTER_EDGES_MAX : 1);

	return err ? log_error(err, NULL, "cannot size the table of descendants") : 0;
}

/* The parent of a process from /proc/PID/stat, whose second field may hold anything; 0: it has
 * ended by now. */
static uint32_t read_parent(const char *pid)
{
	char path[32], line[512], *end;
	unsigned int parent = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.10s/stat", pid);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file)) {
		end = strrchr(line, ')');
		if (!end || sscanf(end + 1, " %*c %u", &parent) != 1)
			parent = 0;
	}
	fclose(file);
	return parent;
}

static int parents__read_proc(struct parents *parents)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;
	int err = 0;

	if (!proc)
		return log_error(errno, "Mount it.", "cannot open /proc");
	while (!err && (entry = readdir(proc))) {
		uint32_t parent;

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		parent = read_parent(entry->d_name);
		if (parent)
			err = parents__set(parents, (uint32_t)strtoul(entry->d_name, NULL, 10),
					   parent);
	}
	closedir(proc);
	return err ? log_error(err, NULL, "cannot keep the list of processes") : 0;
}

/* What the kernel side noted is older than what /proc showed, and so nearer the truth. */
static int parents__read_edges(struct parents *parents, const struct bpf_map *edges)
{
	__u32 child, parent, *last = NULL;
	int err = 0, fd = bpf_map__fd(edges);

	while (!err && !bpf_map_get_next_key(fd, last, &child)) {
		last = &child;
		if (!bpf_map_lookup_elem(fd, &child, &parent))
			err = parents__set(parents, child, parent);
	}
	return err ? log_error(err, NULL, "cannot keep the list of processes") : 0;
}

/* Adds the members of the family from index on; one that has ended leaves the set again, since the
 * kernel side forgets only what is freed from now on. */
static int add_members(const struct number_list *family, size_t from, const struct bpf_map *tree)
{
	const __u64 any_fork = FILTER_TREE_ANY_FORK;

	for (size_t i = from; i < family->nr; i++) {
		__u32 pid = (__u32)family->items[i];
		int err = bpf_map__update_elem(tree, &pid, sizeof(pid), &any_fork, sizeof(any_fork),
					       BPF_NOEXIST);

		if (err && err != -EEXIST)
			return log_error(err, NULL, "cannot follow process %u", pid);
		if (!err && kill((pid_t)pid, 0) && errno == ESRCH)
			bpf_map__delete_elem(tree, &pid, sizeof(pid), 0);
	}
	return 0;
}

int tree__seed(const struct task_filter *filter, struct bpf_map *tree, struct bpf_map *edges,
	       const struct attachment *attachment)
{
	struct number_list family = {};
	struct parents parents = {};
	size_t known = 0;
	int err = 0;

	for (size_t i = 0; i < filter->nr_trees && !err; i++)
		err = number_list__add(&family, filter->roots.items[i]);
	if (err)
		log_error(err, NULL, "cannot keep the list of processes");
	else
		err = parents__read_proc(&parents);
	/* Whoever forked before it was in the set has left an edge; when all programs that may not
	 * have seen the new members have ended, and none of those has forked, the set is whole. */
	while (!err && known < family.nr) {
		err = add_members(&family, known, tree);
		known = family.nr;
		if (!err)
			err = attach__wait(attachment);
		if (!err)
			err = parents__read_edges(&parents, edges);
		if (!err && parents__descend(&parents, &family))
			err = log_error(ENOMEM, NULL, "cannot keep the list of processes");
	}
	log_debug("following %zu processes at the start", family.nr);
	number_list__free(&family);
	parents__free(&parents);
	return err;
}
