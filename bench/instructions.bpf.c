// SPDX-License-Identifier: GPL-2.0-only
/* Empty programs: what a mechanism costs before its program does anything. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

/* What all BPF programs of this build were compiled with. */
const volatile char clang_version[] = __clang_version__;

#define EMPTY(section, name)                                                                       \
	SEC("?" section)                                                                           \
	int name(void *ctx)                                                                        \
	{                                                                                          \
		(void)ctx;                                                                         \
		return 0;                                                                          \
	}

EMPTY("fentry/vfs_write", at_fentry)
EMPTY("fexit/vfs_write", at_fexit)
EMPTY("kprobe/vfs_write", at_kprobe_entry)
EMPTY("kretprobe/vfs_write", at_kprobe_return)
EMPTY("kprobe.multi/vfs_write", at_multi_entry)
EMPTY("kretprobe.multi/vfs_write", at_multi_return)
EMPTY("kprobe.multi/vfs_write", at_session)
EMPTY("tp/syscalls/sys_enter_write", at_tp_entry)
EMPTY("tp/syscalls/sys_exit_write", at_tp_return)
EMPTY("raw_tp/sys_enter", at_raw_tp_entry)
EMPTY("raw_tp/sys_exit", at_raw_tp_return)
EMPTY("tp_btf/sys_enter", at_tp_btf_entry)
EMPTY("tp_btf/sys_exit", at_tp_btf_return)
EMPTY("tp_btf/sched_process_exec", at_exec)
EMPTY("tp_btf/sched_process_exit", at_exit)
