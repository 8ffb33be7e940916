// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "funcs.h"

#define FUNCTION(function) .name = function, .numbers = { -1, -1 }
#define OTHER(function) FUNCTION(function), .is_other_path = true
/* Numbers: arch/x86/entry/syscalls/syscall_64.tbl and syscall_32.tbl. */
#define SYSCALL(call, number, compat)                                                              \
	.name = call, .is_syscall = true, .numbers = { number, compat }

const struct func vfswrite_funcs[VFSWRITE_NR_FUNCS] = {
	[VFSWRITE_VFS_WRITE] = { FUNCTION("vfs_write") },
	[VFSWRITE_VFS_READ] = { FUNCTION("vfs_read"), .reads = true },
	[VFSWRITE_VFS_WRITEV] = { OTHER("vfs_writev") },
	[VFSWRITE_ITER_FILE_SPLICE_WRITE] = { OTHER("iter_file_splice_write") },
	[VFSWRITE_VFS_COPY_FILE_RANGE] = { OTHER("vfs_copy_file_range") },
	[VFSWRITE_AIO_WRITE] = { OTHER("aio_write") },
	[VFSWRITE_IO_WRITE] = { OTHER("io_write") },
	[VFSWRITE_KERNEL_WRITE] = { OTHER("kernel_write") },
	[VFSWRITE___KERNEL_WRITE] = { OTHER("__kernel_write") },
	[VFSWRITE_SYS_WRITE] = { SYSCALL("write", 1, 4) },
	[VFSWRITE_SYS_PWRITE64] = { SYSCALL("pwrite64", 18, 181) },
	[VFSWRITE_SYS_READ] = { SYSCALL("read", 0, 3), .reads = true },
	[VFSWRITE_SYS_PREAD64] = { SYSCALL("pread64", 17, 180), .reads = true },
	[VFSWRITE_SYS_WRITEV] = { SYSCALL("writev", 20, 146), .is_other_path = true },
	[VFSWRITE_SYS_PWRITEV] = { SYSCALL("pwritev", 296, 334), .is_other_path = true },
	[VFSWRITE_SYS_PWRITEV2] = { SYSCALL("pwritev2", 328, 379), .is_other_path = true },
	[VFSWRITE_SYS_SENDFILE] = { SYSCALL("sendfile", 40, 187), .is_other_path = true },
	[VFSWRITE_SYS_SPLICE] = { SYSCALL("splice", 275, 313), .is_other_path = true },
	[VFSWRITE_SYS_COPY_FILE_RANGE] = { SYSCALL("copy_file_range", 326, 377),
					   .is_other_path = true },
};

/* 32-bit code has a second sendfile, with 64-bit positions. */
#define COMPAT_SENDFILE64 239

__u32 funcs__counted(bool all_paths, bool reads)
{
	__u32 counted = 0;

	for (__u32 i = 0; i < VFSWRITE_NR_FUNCS; i++) {
		const struct func *func = &vfswrite_funcs[i];

		if (func->reads ? reads : all_paths || !func->is_other_path)
			counted |= 1U << i;
	}
	return counted;
}

void funcs__fill_syscalls(__u32 counted, __u8 syscalls[VFSWRITE_NR_ABIS][VFSWRITE_NR_SYSCALLS])
{
	for (__u32 i = 0; i < VFSWRITE_NR_FUNCS; i++) {
		const struct func *func = &vfswrite_funcs[i];

		if (!func->is_syscall || (!(counted & 1U << i) && !func->is_other_path))
			continue;
		for (int abi = 0; abi < VFSWRITE_NR_ABIS; abi++)
			syscalls[abi][func->numbers[abi]] = (__u8)(i + 1);
	}
	syscalls[1][COMPAT_SENDFILE64] = syscalls[1][187];
}
