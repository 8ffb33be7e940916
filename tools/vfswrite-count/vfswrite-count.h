/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What vfswrite-count's two sides agree on. */
#ifndef VANTAGE_VFSWRITE_COUNT_H
#define VANTAGE_VFSWRITE_COUNT_H

#include "shared/path.h"
#include "shared/types.h"

#define VFSWRITE_COMM_SIZE 16

/* The one kind of the account. */
enum vfswrite_kind {
	VFSWRITE_CALL,
};

/* What was called: functions of the kernel, then system calls, which are counted in their place. */
enum vfswrite_func {
	VFSWRITE_VFS_WRITE,
	VFSWRITE_VFS_READ,
	VFSWRITE_VFS_WRITEV,
	VFSWRITE_ITER_FILE_SPLICE_WRITE,
	VFSWRITE_VFS_COPY_FILE_RANGE,
	VFSWRITE_KERNEL_WRITE,
	VFSWRITE___KERNEL_WRITE,
	VFSWRITE_NR_WITH_BYTES, /* what those below return says nothing of the bytes */
	VFSWRITE_AIO_WRITE = VFSWRITE_NR_WITH_BYTES,
	VFSWRITE_IO_WRITE,
	VFSWRITE_NR_FUNCTIONS,
	VFSWRITE_SYS_WRITE = VFSWRITE_NR_FUNCTIONS,
	VFSWRITE_SYS_PWRITE64,
	VFSWRITE_SYS_READ,
	VFSWRITE_SYS_PREAD64,
	VFSWRITE_SYS_WRITEV,
	VFSWRITE_SYS_PWRITEV,
	VFSWRITE_SYS_PWRITEV2,
	VFSWRITE_SYS_SENDFILE,
	VFSWRITE_SYS_SPLICE,
	VFSWRITE_SYS_COPY_FILE_RANGE,
	VFSWRITE_NR_FUNCS,
};

/* Numbers of system calls that are looked at, of 64-bit and of 32-bit callers. */
#define VFSWRITE_NR_SYSCALLS 512
#define VFSWRITE_NR_ABIS 2

/* What calls can be counted by; bits of vfswrite_config.by. */
enum vfswrite_by {
	VFSWRITE_BY_COMM, /* command name of the process */
	VFSWRITE_BY_PID,
	VFSWRITE_BY_TID,
	VFSWRITE_BY_UID,
	VFSWRITE_BY_CGROUP,
	VFSWRITE_BY_CPU, /* the one that the call is counted on */
	VFSWRITE_BY_FUNC,
	VFSWRITE_BY_FILE,
	VFSWRITE_BY_DEVICE,
	VFSWRITE_BY_FS,
};

/* The keys that are about what is written to. */
#define VFSWRITE_BY_PLACE (1U << VFSWRITE_BY_FILE | 1U << VFSWRITE_BY_DEVICE | 1U << VFSWRITE_BY_FS)

/* What a histogram is of. */
enum vfswrite_distribution {
	VFSWRITE_NO_DISTRIBUTION,
	VFSWRITE_SIZES, /* the bytes of each call that did not fail */
	VFSWRITE_TIMES, /* from the entry of each call to its return */
};

struct vfswrite_config {
	__u32 by; /* bits of enum vfswrite_by */
	__u32 distribution; /* enum vfswrite_distribution */
	__u32 distribution_by; /* bits of enum vfswrite_by; 0: one histogram of all */
	__u32 key_size; /* of a row, as the tables have it */
	__u32 row_size; /* of the values of all CPUs */
	__u32 hist_size; /* of a struct hist_keyed on all CPUs */
	__u32 hot_size; /* of a hot row on all CPUs; 0: the key is too long for them */
	__u32 counted; /* bit n: enum vfswrite_func n has rows; else it is counted aside */
	/* By ABI and number: 1 + enum vfswrite_func, or 0. */
	__u8 syscalls[VFSWRITE_NR_ABIS][VFSWRITE_NR_SYSCALLS];
};

/*
 * What a row is of. The tables are made with the size of the part up to the last member in use, as
 * a longer key costs each call more. The rest is 0.
 */
struct vfswrite_key {
	/* Of the process by comm or pid, of the thread by tid: also beside an id, so that there is
	 * a name for it when it is gone. */
	char comm[VFSWRITE_COMM_SIZE];
	__u32 pid;
	__u32 tid;
	__u32 func; /* enum vfswrite_func */
	__u32 cpu;
	__u32 uid;
	__u32 place; /* the id of what is written to; 0: not known */
	__u64 cgroup_id;
};

/* No place found room. */
#define VFSWRITE_NO_PLACE (~(__u32)0)

#define VFSWRITE_FS_SIZE 16

/* What is written to, once for each place. */
struct vfswrite_place {
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 inode; /* its number */
	__u32 id;
	__u32 mode; /* the type of the file, as stat(2) has it; 0 for anonymous inodes */
	__u32 device; /* of the file system, or of a device file the device: dev_t of the kernel */
	__u32 magic; /* of the file system's type (include/uapi/linux/magic.h) */
	char fs[VFSWRITE_FS_SIZE]; /* the name of that type */
	struct path_names path; /* by file; else empty */
};

/* Per CPU; only ever grows. */
struct vfswrite_row {
	__u64 calls;
	__u64 results; /* of calls in flight when they were counted (kprobe); else 0 */
	__u64 bytes; /* that were written, by the results */
};

/* Words of a key that is short enough for the table in front of the rows. */
#define VFSWRITE_HOT_WORDS 3
#define VFSWRITE_HOT_ROWS 64

/*
 * A row of a CPU's own small table, which is found without the cost of a hash table. Once it has
 * a key it keeps it; its counts are beside those of the key's row. words[0] is written last: 0 as
 * long as the others are not valid.
 */
struct vfswrite_hot {
	__u64 words[VFSWRITE_HOT_WORDS];
	struct vfswrite_row row;
};

/* The key of the failures of a row. Its end is cut as that of the row's key. */
struct vfswrite_error_key {
	__u32 error; /* errno */
	__u32 unused; /* 0 */
	struct vfswrite_key key;
};

#endif
