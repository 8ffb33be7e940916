/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The working directory of a process as it sees it itself: below its own root, through the mounts
 * of its namespace. Names are read from the innermost directory outwards, as the kernel's own
 * d_path() (fs/d_path.c) goes, but without its locks: a directory that is renamed at this moment
 * may be shown half so, half so.
 */
#ifndef VANTAGE_EXECSNOOP_CWD_BPF_H
#define VANTAGE_EXECSNOOP_CWD_BPF_H

#include "bpf/kernel.bpf.h"
#include "execsnoop.h"

#define NAME_ROOM 256 /* NAME_MAX of include/uapi/linux/limits.h, and a NUL */

/* Directories and mounts that are passed on the way outwards. */
#define CWD_STEPS 32

/*
 * Too large for the stack. What is known of the reading lies here, too, and not in registers: what
 * it cannot follow, the verifier need not look at once for each value.
 */
struct cwd {
	__u32 size; /* of names */
	__u32 end; /* enum execsnoop_cwd_end */
	char names[EXECSNOOP_CWD_MAX + NAME_ROOM];
};

/* A program is never run inside itself on a CPU, but it may be inside another: each has its own. */
enum cwd_reader {
	CWD_OF_EXEC,
	CWD_OF_FAILED,
	CWD_NR_READERS,
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, CWD_NR_READERS);
	__type(key, __u32);
	__type(value, struct cwd);
} cwd_scratch SEC(".maps");

/*
 * From the program that reads it to the one that makes the record, by the address of the task: no
 * more than there can be tasks that were preempted in between. Two programs, since what only the
 * first one knows of the kernel's types costs its load some milliseconds, asked for or not.
 */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct cwd);
} cwds SEC(".maps");

/* Where a directory is: its dentry, and the mount in which it is seen. */
struct place {
	struct dentry *dentry;
	struct mount *mount;
};

static __always_inline struct mount *mount__of(struct vfsmount *vfsmount)
{
	return (struct mount *)((char *)vfsmount - bpf_core_field_offset(struct mount, mnt));
}

/* Adds the name of a directory; false: there is no more room, or it cannot be read. */
static __always_inline bool cwd__add(struct cwd *cwd, struct dentry *dentry)
{
	__u32 used = cwd->size;
	long length;

	if (used >= EXECSNOOP_CWD_MAX)
		return false;
	length = bpf_probe_read_kernel_str(cwd->names + used, NAME_ROOM,
					   BPF_CORE_READ(dentry, d_name.name));
	if (length <= 1 || used + length > EXECSNOOP_CWD_MAX)
		return false;
	cwd->size = used + length;
	return true;
}

/* Goes one step outwards. false: that was the end, which cwd has. */
static __always_inline bool cwd__step(struct cwd *cwd, struct place *place,
				      const struct place *root)
{
	struct dentry *dentry = place->dentry, *outer;
	struct mount *mount = place->mount, *parent;

	if (dentry == root->dentry && mount == root->mount) {
		cwd->end = EXECSNOOP_CWD_WHOLE;
		return false;
	}
	if (dentry == BPF_CORE_READ(mount, mnt.mnt_root)) {
		parent = BPF_CORE_READ(mount, mnt_parent);
		*place = (struct place){ BPF_CORE_READ(mount, mnt_mountpoint), parent };
		if (parent == mount)
			cwd->end = EXECSNOOP_CWD_UNREACHABLE;
		return parent != mount;
	}
	outer = BPF_CORE_READ(dentry, d_parent);
	place->dentry = outer;
	if (outer == dentry) {
		cwd->end = EXECSNOOP_CWD_UNREACHABLE;
		return false;
	}
	return cwd__add(cwd, dentry);
}

static __always_inline void cwd__read(struct cwd *cwd, struct task_struct *task)
{
	struct fs_struct *fs = BPF_CORE_READ(task, fs);
	struct place place = { BPF_CORE_READ(fs, pwd.dentry),
			       mount__of(BPF_CORE_READ(fs, pwd.mnt)) };
	const struct place root = { BPF_CORE_READ(fs, root.dentry),
				    mount__of(BPF_CORE_READ(fs, root.mnt)) };

	cwd->size = 0;
	cwd->end = EXECSNOOP_CWD_CUT;
	for (int i = 0; i < CWD_STEPS; i++)
		if (!cwd__step(cwd, &place, &root))
			break;
}

/* Reads that of the current task, and keeps it for the program behind this one. */
static __always_inline void cwd__keep(__u32 reader)
{
	struct task_struct *task = (struct task_struct *)bpf_get_current_task();
	struct cwd *cwd = bpf_map_lookup_elem(&cwd_scratch, &reader);
	__u64 key = (__u64)task;

	if (!cwd)
		return;
	cwd__read(cwd, task);
	bpf_map_update_elem(&cwds, &key, cwd, BPF_ANY);
}

/* NULL if it could not be kept. */
static __always_inline struct cwd *cwd__kept(void)
{
	__u64 key = bpf_get_current_task();

	return bpf_map_lookup_elem(&cwds, &key);
}

static __always_inline void cwd__forget(void)
{
	__u64 key = bpf_get_current_task();

	bpf_map_delete_elem(&cwds, &key);
}

#endif
