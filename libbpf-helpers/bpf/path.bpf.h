/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Paths as the current process sees them, found by walking from a dentry up to the root of the
 * process, across mounts: bpf_d_path() is only for programs at a few functions, and gives no more
 * than the names anyway. While a directory above is renamed, the names can be of both.
 */
#ifndef VANTAGE_BPF_PATH_H
#define VANTAGE_BPF_PATH_H

#include "bpf/kernel.bpf.h"
#include "shared/path.h"

/* Whether the name has been removed (include/linux/dcache.h: d_unlinked()), or is that of a file
 * that never had one (fs/d_path.c: simple_dname()), and is not the root of its mount. */
static __always_inline bool dentry__is_deleted(struct dentry *dentry, struct vfsmount *mount)
{
	if (BPF_CORE_READ(dentry, d_hash.pprev))
		return false;
	return BPF_CORE_READ(dentry, d_parent) != dentry ||
	       BPF_CORE_READ(mount, mnt_root) != dentry;
}

/* Where a walk is. What is known of it lies in memory, where verifiers do not follow it. */
struct path_walk {
	struct dentry *dentry;
	struct vfsmount *mount;
	struct dentry *root; /* of the process */
	struct vfsmount *root_mount;
	__u64 used; /* bytes of names */
};

/* Steps from the root of a mount to the place that it is mounted on. False at the top. */
static __always_inline bool path_walk__leave_mount(struct path_walk *walk)
{
	struct vfsmount *inner = walk->mount;
	struct mount *mount, *parent;

	/* struct vfsmount is embedded in its mount (fs/mount.h). */
	mount = (struct mount *)((char *)inner - bpf_core_field_offset(struct mount, mnt));
	parent = BPF_CORE_READ(mount, mnt_parent);
	if (!parent || parent == mount)
		return false;
	walk->dentry = BPF_CORE_READ(mount, mnt_mountpoint);
	walk->mount = (struct vfsmount *)((char *)parent +
					  bpf_core_field_offset(struct mount, mnt));
	return true;
}

/* One name, or the border of a mount. Not 0 at the end, which *path has then. A subprogram, which
 * is in a program once for all steps. */
static __noinline int path_walk__step(struct path_walk *walk, struct path_names *path, __u64 room)
{
	struct dentry *dentry = walk->dentry, *parent;
	struct vfsmount *mount = walk->mount;
	__u64 used = walk->used;
	long size;

	if (dentry == walk->root && mount == walk->root_mount) {
		path->end = PATH_AT_ROOT;
		return 1;
	}
	if (dentry == BPF_CORE_READ(mount, mnt_root)) {
		if (path_walk__leave_mount(walk))
			return 0;
		path->end = PATH_AT_TOP;
		return 1;
	}
	if (used >= room - PATH_NAME_MAX)
		return 1;
	size = bpf_probe_read_kernel_str(&path->names[used], PATH_NAME_MAX,
					 BPF_CORE_READ(dentry, d_name.name));
	if (size > 0)
		walk->used = used + size;
	parent = BPF_CORE_READ(dentry, d_parent);
	walk->dentry = parent;
	if (parent != dentry)
		return 0;
	path->end = PATH_AT_TOP;
	return 1;
}

/* So many steps, each an instruction of its own: of a loop, older verifiers forget what they have
 * seen of earlier rounds, and look at each combination of the ways through all of them. */
#define PATH_STEP                                                                                  \
	if (path_walk__step(&walk, path, room))                                                    \
		goto end;
#define PATH_4_STEPS PATH_STEP PATH_STEP PATH_STEP PATH_STEP
#define PATH_16_STEPS PATH_4_STEPS PATH_4_STEPS PATH_4_STEPS PATH_4_STEPS

/* Fills *path with the names from the dentry up. room: for the names, a constant; below
 * PATH_NAMES_BYTES, no more than 16 steps are made. */
static __always_inline void path__read(struct path_names *path, const __u64 room,
				       struct dentry *dentry, struct vfsmount *mount)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct path_walk walk = {
		.dentry = dentry,
		.mount = mount,
		.root = BPF_CORE_READ(task, fs, root.dentry),
		.root_mount = BPF_CORE_READ(task, fs, root.mnt),
	};

	path->end = PATH_CUT;
	path->deleted = dentry__is_deleted(dentry, mount);
	PATH_16_STEPS
	if (room >= PATH_NAMES_BYTES) {
		PATH_16_STEPS
	}
end:
	path->size = walk.used;
}

#endif
