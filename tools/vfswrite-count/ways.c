// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "ways.h"

#include <stdio.h>
#include <unistd.h>

#include "funcs.h"
#include "run/log.h"
#include "run/preemption.h"

#define KPROBE_TYPE_PATH "/sys/bus/event_source/devices/kprobe/type"

/* By enum vfswrite_func, so that what a run is about chooses among them. */
static struct attach_program fentry_programs[] = {
	[VFSWRITE_VFS_WRITE] = { .program = "write_exit" },
	[VFSWRITE_VFS_READ] = { .program = "read_exit" },
	[VFSWRITE_VFS_WRITEV] = { .program = "writev_exit" },
	[VFSWRITE_ITER_FILE_SPLICE_WRITE] = { .program = "splice_exit" },
	[VFSWRITE_VFS_COPY_FILE_RANGE] = { .program = "copy_exit" },
	[VFSWRITE_AIO_WRITE] = { .program = "aio_exit" },
	[VFSWRITE_IO_WRITE] = { .program = "io_exit" },
	[VFSWRITE_KERNEL_WRITE] = { .program = "kernel_exit" },
	[VFSWRITE___KERNEL_WRITE] = { .program = "inner_kernel_exit" },
};

#define NR_KPROBE_PROGRAMS (VFSWRITE_NR_FUNCTIONS + VFSWRITE_NR_WITH_BYTES)

/* The entries first: each result is then of a call whose entry was seen. */
static struct attach_program kprobe_programs[NR_KPROBE_PROGRAMS] = {
	[VFSWRITE_VFS_WRITE] = { .program = "write_call" },
	[VFSWRITE_VFS_READ] = { .program = "read_call" },
	[VFSWRITE_VFS_WRITEV] = { .program = "writev_call" },
	[VFSWRITE_ITER_FILE_SPLICE_WRITE] = { .program = "splice_call" },
	[VFSWRITE_VFS_COPY_FILE_RANGE] = { .program = "copy_call" },
	[VFSWRITE_AIO_WRITE] = { .program = "aio_call" },
	[VFSWRITE_IO_WRITE] = { .program = "io_call" },
	[VFSWRITE_KERNEL_WRITE] = { .program = "kernel_call" },
	[VFSWRITE___KERNEL_WRITE] = { .program = "inner_kernel_call" },
#define RETURN(func) [VFSWRITE_NR_FUNCTIONS + (func)]
	RETURN(VFSWRITE_VFS_WRITE) = { .program = "write_result" },
	RETURN(VFSWRITE_VFS_READ) = { .program = "read_result" },
	RETURN(VFSWRITE_VFS_WRITEV) = { .program = "writev_result" },
	RETURN(VFSWRITE_ITER_FILE_SPLICE_WRITE) = { .program = "splice_result" },
	RETURN(VFSWRITE_VFS_COPY_FILE_RANGE) = { .program = "copy_result" },
	RETURN(VFSWRITE_KERNEL_WRITE) = { .program = "kernel_result" },
	RETURN(VFSWRITE___KERNEL_WRITE) = { .program = "inner_kernel_result" },
#undef RETURN
};

static const struct attach_program syscall_programs[] = {
	{ .program = "syscall_exit", .target = "sys_exit" },
};

#define WAY(way_mechanism, way_programs, nr, way_traced)                                           \
	{                                                                                          \
		.mechanism = way_mechanism, .programs = way_programs, .nr_programs = nr,           \
		.traced = way_traced                                                               \
	}
#define FENTRY(nr) WAY(ATTACH_FENTRY, fentry_programs, nr, NULL)
#define KPROBE(nr) WAY(ATTACH_KPROBE, kprobe_programs, nr, NULL)
#define SYSCALLS WAY(ATTACH_TP_BTF, syscall_programs, 1, NULL)

static struct attach_way ways[] = {
	FENTRY(VFSWRITE_NR_FUNCTIONS),
	KPROBE(NR_KPROBE_PROGRAMS),
	SYSCALLS,
};

/* Where the kernel preempts itself, only a kprobe loses no call. */
static struct attach_way preempted_ways[] = {
	KPROBE(NR_KPROBE_PROGRAMS),
	FENTRY(VFSWRITE_NR_FUNCTIONS),
	SYSCALLS,
};

/* The function of a program, and whether it is at the return of it by kprobe. */
static size_t func_of(const struct attach_program *program, bool *is_return)
{
	*is_return = false;
	if (program >= fentry_programs && program < fentry_programs + VFSWRITE_NR_FUNCTIONS)
		return (size_t)(program - fentry_programs);
	*is_return = program >= kprobe_programs + VFSWRITE_NR_FUNCTIONS;
	return (size_t)(program - kprobe_programs) % VFSWRITE_NR_FUNCTIONS;
}

bool vfswrite_program__is_wanted(const struct attach_program *program,
				 const struct vfswrite_options *options)
{
	uint32_t counted = vfswrite_options__counted(options);
	bool is_return;
	size_t func;

	if (program == syscall_programs)
		return true;
	func = func_of(program, &is_return);
	if (is_return)
		return counted & 1U << func;
	return counted & 1U << func || vfswrite_funcs[func].is_other_path;
}

bool vfswrite_program__is_aside(const struct attach_program *program,
				const struct vfswrite_options *options)
{
	uint32_t counted = vfswrite_options__counted(options);
	bool is_return;

	return program != syscall_programs &&
	       (!(counted & 1U << func_of(program, &is_return)) || is_return);
}

static void name_targets(void)
{
	static char returns[VFSWRITE_NR_WITH_BYTES][48];

	for (size_t i = 0; i < VFSWRITE_NR_FUNCTIONS; i++) {
		fentry_programs[i].target = kprobe_programs[i].target = vfswrite_funcs[i].name;
	}
	for (size_t i = 0; i < VFSWRITE_NR_WITH_BYTES; i++) {
		snprintf(returns[i], sizeof(returns[i]), "return of %s", vfswrite_funcs[i].name);
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
