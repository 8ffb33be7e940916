// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ways.h"

#include <stdio.h>
#include <unistd.h>

#include "funcs.h"
#include "run/log.h"
#include "run/preemption.h"

#define KPROBE_TYPE_PATH "/sys/bus/event_source/devices/kprobe/type"

/* By enum vfswrite_func, so that what a run is about chooses among them. */
#define NR_PROGRAMS (2 * VFSWRITE_NR_FUNCTIONS)
#define SECOND(func) [VFSWRITE_NR_FUNCTIONS + (func)]

/* At the returns; then at the entries, for the time between. */
static struct attach_program fentry_programs[NR_PROGRAMS] = {
	[VFSWRITE_VFS_WRITE] = { .program = "write_exit" },
	[VFSWRITE_VFS_READ] = { .program = "read_exit" },
	[VFSWRITE_VFS_WRITEV] = { .program = "writev_exit" },
	[VFSWRITE_ITER_FILE_SPLICE_WRITE] = { .program = "splice_exit" },
	[VFSWRITE_VFS_COPY_FILE_RANGE] = { .program = "copy_exit" },
	[VFSWRITE_AIO_WRITE] = { .program = "aio_exit" },
	[VFSWRITE_IO_WRITE] = { .program = "io_exit" },
	[VFSWRITE_KERNEL_WRITE] = { .program = "kernel_exit" },
	[VFSWRITE___KERNEL_WRITE] = { .program = "inner_kernel_exit" },
	SECOND(VFSWRITE_VFS_WRITE) = { .program = "write_entry" },
	SECOND(VFSWRITE_VFS_READ) = { .program = "read_entry" },
	SECOND(VFSWRITE_VFS_WRITEV) = { .program = "writev_entry" },
	SECOND(VFSWRITE_ITER_FILE_SPLICE_WRITE) = { .program = "splice_entry" },
	SECOND(VFSWRITE_VFS_COPY_FILE_RANGE) = { .program = "copy_entry" },
	SECOND(VFSWRITE_AIO_WRITE) = { .program = "aio_entry" },
	SECOND(VFSWRITE_IO_WRITE) = { .program = "io_entry" },
	SECOND(VFSWRITE_KERNEL_WRITE) = { .program = "kernel_entry" },
	SECOND(VFSWRITE___KERNEL_WRITE) = { .program = "inner_kernel_entry" },
};

/* The entries first: each result is then of a call whose entry was seen. */
static struct attach_program kprobe_programs[NR_PROGRAMS] = {
	[VFSWRITE_VFS_WRITE] = { .program = "write_call" },
	[VFSWRITE_VFS_READ] = { .program = "read_call" },
	[VFSWRITE_VFS_WRITEV] = { .program = "writev_call" },
	[VFSWRITE_ITER_FILE_SPLICE_WRITE] = { .program = "splice_call" },
	[VFSWRITE_VFS_COPY_FILE_RANGE] = { .program = "copy_call" },
	[VFSWRITE_AIO_WRITE] = { .program = "aio_call" },
	[VFSWRITE_IO_WRITE] = { .program = "io_call" },
	[VFSWRITE_KERNEL_WRITE] = { .program = "kernel_call" },
	[VFSWRITE___KERNEL_WRITE] = { .program = "inner_kernel_call" },
	SECOND(VFSWRITE_VFS_WRITE) = { .program = "write_result" },
	SECOND(VFSWRITE_VFS_READ) = { .program = "read_result" },
	SECOND(VFSWRITE_VFS_WRITEV) = { .program = "writev_result" },
	SECOND(VFSWRITE_ITER_FILE_SPLICE_WRITE) = { .program = "splice_result" },
	SECOND(VFSWRITE_VFS_COPY_FILE_RANGE) = { .program = "copy_result" },
	SECOND(VFSWRITE_AIO_WRITE) = { .program = "aio_result" },
	SECOND(VFSWRITE_IO_WRITE) = { .program = "io_result" },
	SECOND(VFSWRITE_KERNEL_WRITE) = { .program = "kernel_result" },
	SECOND(VFSWRITE___KERNEL_WRITE) = { .program = "inner_kernel_result" },
};

static const struct attach_program syscall_programs[] = {
	{ .program = "syscall_exit", .target = "sys_exit" },
	{ .program = "syscall_entry", .target = "sys_enter" },
};

#define WAY(way_mechanism, way_programs, nr, way_traced)                                           \
	{                                                                                          \
		.mechanism = way_mechanism, .programs = way_programs, .nr_programs = nr,           \
		.traced = way_traced                                                               \
	}
#define FENTRY WAY(ATTACH_FENTRY, fentry_programs, NR_PROGRAMS, NULL)
#define KPROBE WAY(ATTACH_KPROBE, kprobe_programs, NR_PROGRAMS, NULL)
#define SYSCALLS WAY(ATTACH_TP_BTF, syscall_programs, 2, NULL)

static struct attach_way ways[] = {
	FENTRY,
	KPROBE,
	SYSCALLS,
};

/* Where the kernel preempts itself, only a kprobe loses no call. */
static struct attach_way preempted_ways[] = {
	KPROBE,
	FENTRY,
	SYSCALLS,
};

static bool is_syscall(const struct attach_program *program)
{
	return program == &syscall_programs[0] || program == &syscall_programs[1];
}

/* The function of a program, and whether it is the second one at it. */
static size_t func_of(const struct attach_program *program, bool *is_second)
{
	const struct attach_program *first = program >= fentry_programs &&
							     program <
								     fentry_programs + NR_PROGRAMS ?
						     fentry_programs :
						     kprobe_programs;

	*is_second = program >= first + VFSWRITE_NR_FUNCTIONS;
	return (size_t)(program - first) % VFSWRITE_NR_FUNCTIONS;
}

bool vfswrite_program__is_wanted(const struct attach_program *program,
				 const struct vfswrite_options *options)
{
	const uint32_t counted = vfswrite_options__counted(options);
	const bool times = options->latency;
	bool is_second,
		is_kprobe = program >= kprobe_programs && program < kprobe_programs + NR_PROGRAMS;
	size_t func;

	if (is_syscall(program))
		return program == &syscall_programs[0] || times;
	func = func_of(program, &is_second);
	if (!is_second)
		return counted & 1U << func || vfswrite_funcs[func].is_other_path;
	return counted & 1U << func && (times || (is_kprobe && func < VFSWRITE_NR_WITH_BYTES));
}

bool vfswrite_program__is_aside(const struct attach_program *program,
				const struct vfswrite_options *options)
{
	const uint32_t counted = vfswrite_options__counted(options);
	bool is_second;

	if (is_syscall(program))
		return program == &syscall_programs[1];
	return !(counted & 1U << func_of(program, &is_second)) || is_second;
}

static void name_targets(void)
{
	static char returns[VFSWRITE_NR_FUNCTIONS][48], entries[VFSWRITE_NR_FUNCTIONS][48];

	for (size_t i = 0; i < VFSWRITE_NR_FUNCTIONS; i++) {
		const char *name = vfswrite_funcs[i].name;

		snprintf(returns[i], sizeof(returns[i]), "return of %s", name);
		snprintf(entries[i], sizeof(entries[i]), "entry of %s", name);
		fentry_programs[i].target = kprobe_programs[i].target = name;
		fentry_programs[VFSWRITE_NR_FUNCTIONS + i].target = entries[i];
		kprobe_programs[VFSWRITE_NR_FUNCTIONS + i].target = returns[i];
	}
}

/* What the line at the start says of the system calls. */
static void name_syscalls(const struct vfswrite_options *options)
{
	static const char *const syscalls[2][2] = {
		{ "the system calls write and pwrite64, in place of vfs_write",
		  "the system calls write, pwrite64, read and pread64, in place of vfs_write and "
		  "vfs_read" },
		{ "the system calls that write, in place of all paths of a write",
		  "the system calls that write, read and pread64, in place of all paths of a "
		  "write and vfs_read" },
	};
	const char *traced = syscalls[options->paths == 1][options->also != 0];

	ways[VFSWRITE_NR_WAYS - 1].traced = preempted_ways[VFSWRITE_NR_WAYS - 1].traced = traced;
}

const char *ways__traced(const struct vfswrite_options *options)
{
	static const char *const functions[2][2] = {
		{ "calls of vfs_write", "calls of vfs_write and vfs_read" },
		{ "all paths of a write", "all paths of a write, and vfs_read" },
	};

	return functions[options->paths == 1][options->also != 0];
}

const struct attach_way *ways__choose(const struct vfswrite_options *options)
{
	struct preemption preemption;

	name_targets();
	name_syscalls(options);
	/* Reading the mode takes time: only where it decides. */
	if (options->common.attach != ATTACH_AUTO || options->common.json_schema ||
	    access(KPROBE_TYPE_PATH, F_OK))
		return ways;
	preemption__read(&preemption);
	log_debug("preemption of the kernel: %s, from %s", preemption.mode, preemption.source);
	return preemption.preempts ? preempted_ways : ways;
}
