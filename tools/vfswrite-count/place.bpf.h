/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is written to, by a number for each place: a file by its path, a device, or a type of file
 * systems, as fine as the keys of the run ask for. When a place is seen for the first time, user
 * space is told what it is.
 */
#ifndef VANTAGE_VFSWRITE_COUNT_PLACE_H
#define VANTAGE_VFSWRITE_COUNT_PLACE_H

#include "bpf/account.bpf.h"
#include "bpf/kernel.bpf.h"
#include "bpf/path.bpf.h"
#include "bpf/ring.bpf.h"
#include "vfswrite-count.h"

#define S_IFMT 0170000 /* include/uapi/linux/stat.h */
#define S_IFBLK 0060000
#define S_IFCHR 0020000

const volatile struct vfswrite_config vfswrite_config = {};

/*
 * The parts that the run does not ask for are 0. By file: an inode with one of its names, so that
 * a new file with the number of one that is gone, and a file that is given another name, are places
 * of their own; and with its mount, through which processes see different paths of it.
 */
struct place_key {
	__u64 fs; /* address of the type of the file system */
	__u64 inode; /* its number */
	__u64 name; /* hash and length of its name, with that of the directory */
	__u64 mount; /* its address */
	__u32 device;
	__u32 mode; /* the type of the file, where it is asked about or a device file */
};

/* Their ids; sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, struct place_key);
	__type(value, __u32);
} places SEC(".maps");

/* Ids that are given: whoever can make the entry here has the id alone. Kernels before 5.12 have
 * no counter that could be added to and read at once. Sized by user space. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u8);
} place_ids SEC(".maps");

#define PLACE_ID_TRIES 3

/* Sends the record of a place with this room for its names (see path__read()). False when it was
 * not sent: there is no room in the ring, or, unless it is all that there can be, for the names. */
static __always_inline bool place__send(const struct place_key *key, struct file *file, __u32 id,
					const __u32 room)
{
	struct vfswrite_place *place = bpf_ringbuf_reserve(&event_ring, sizeof(*place) + room, 0);
	struct inode *inode = BPF_CORE_READ(file, f_inode);

	if (!place)
		return false;
	place->path.size = 0;
	place->path.end = PATH_AT_TOP;
	if (vfswrite_config.by & 1U << VFSWRITE_BY_FILE)
		path__read(&place->path, room, BPF_CORE_READ(file, f_path.dentry),
			   BPF_CORE_READ(file, f_path.mnt));
	if (place->path.end == PATH_CUT && room < PATH_NAMES_BYTES) {
		bpf_ringbuf_discard(place, BPF_RB_NO_WAKEUP);
		return false;
	}
	place->time_ns = bpf_ktime_get_ns();
	place->id = id;
	place->inode = key->inode;
	place->mode = key->mode;
	place->device = key->device;
	place->magic = BPF_CORE_READ(inode, i_sb, s_magic);
	__builtin_memset(place->fs, 0, sizeof(place->fs));
	bpf_probe_read_kernel_str(place->fs, sizeof(place->fs),
				  BPF_CORE_READ(inode, i_sb, s_type, name));
	ring__submit(place, sizeof(*place) + room);
	return true;
}

static __always_inline void place__tell(const struct place_key *key, struct file *file, __u32 id)
{
	struct account_counters *account;

	if (place__send(key, file, id, PATH_NAMES_FEW_BYTES) ||
	    place__send(key, file, id, PATH_NAMES_BYTES))
		return;
	account = account__open(VFSWRITE_CALL);
	if (account)
		account__add(&account->detail_lost[ACCOUNT_DETAIL_PATH]);
}

static __always_inline void place_key__fill(struct place_key *key, struct file *file)
{
	struct inode *inode = BPF_CORE_READ(file, f_inode);
	__u32 mode = BPF_CORE_READ(inode, i_mode) & S_IFMT;
	bool is_device = mode == S_IFBLK || mode == S_IFCHR;

	if (vfswrite_config.by & (1U << VFSWRITE_BY_FS | 1U << VFSWRITE_BY_FILE))
		key->fs = (__u64)BPF_CORE_READ(inode, i_sb, s_type);
	if (vfswrite_config.by & (1U << VFSWRITE_BY_DEVICE | 1U << VFSWRITE_BY_FILE)) {
		key->device = is_device ? BPF_CORE_READ(inode, i_rdev) :
					  BPF_CORE_READ(inode, i_sb, s_dev);
		/* Both kinds of devices have the same numbers. */
		key->mode = is_device ? mode : 0;
	}
	if (vfswrite_config.by & 1U << VFSWRITE_BY_FILE) {
		key->mode = mode;
		key->inode = BPF_CORE_READ(inode, i_ino);
		key->name = BPF_CORE_READ(file, f_path.dentry, d_name.hash_len);
		key->mount = (__u64)BPF_CORE_READ(file, f_path.mnt);
	}
}

/* 0 when there is no room. */
static __always_inline __u32 place__take_id(void)
{
	const __u8 present = 1;
	__u32 id;

	for (int i = 0; i < PLACE_ID_TRIES; i++) {
		id = bpf_get_prandom_u32();
		if (id && id != VFSWRITE_NO_PLACE &&
		    !(__u32)bpf_map_update_elem(&place_ids, &id, &present, BPF_NOEXIST))
			return id;
	}
	return 0;
}

/*
 * The id of what a file is; 0 when it is not known (file NULL), VFSWRITE_NO_PLACE when there is no
 * room for it. A subprogram of its own, as it is long.
 */
static __noinline __u32 place__of(struct file *file)
{
	struct place_key key = {};
	__u32 *known, id;

	if (!file)
		return 0;
	place_key__fill(&key, file);
	known = bpf_map_lookup_elem(&places, &key);
	if (known)
		return *known;
	id = place__take_id();
	if (id && !(__u32)bpf_map_update_elem(&places, &key, &id, BPF_NOEXIST)) {
		place__tell(&key, file, id);
		return id;
	}
	if (id)
		bpf_map_delete_elem(&place_ids, &id);
	/* Another CPU was first, or there is no room. */
	known = bpf_map_lookup_elem(&places, &key);
	return known ? *known : VFSWRITE_NO_PLACE;
}

#endif
