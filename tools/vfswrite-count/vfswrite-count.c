// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* vfswrite-count: who writes on this machine. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "funcs.h"
#include "records.h"
#include "report.h"
#include "run/interval.h"
#include "run/log.h"
#include "run/options.h"
#include "run/preemption.h"
#include "run/session.h"
#include "settings.h"
#include "vfswrite-count.h"

/* Its types come from the headers above. */
#include "vfswrite-count.skel.h"

/* Nothing goes through the ring here. */
#define RING_BYTES 4096U

/* Kernel memory that the rows may take by default, and what an element of a hash takes beside its
 * key and value: struct htab_elem, the pointer to the values per CPU, its part of the buckets. */
#define ROWS_BYTES (48ULL << 20)
#define ELEMENT_BYTES 96
#define ROWS_MAX 65536
#define ERRORS_MAX 16384
#define CALLS_MAX 32768

#define KPROBE_TYPE_PATH "/sys/bus/event_source/devices/kprobe/type"

struct vfswrite {
	struct vfswrite_options options;
	struct vfswrite_count_bpf *skel;
	struct session session;
	struct report report;
};

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

#define NR_WAYS (sizeof(ways) / sizeof(ways[0]))

static const char *const kinds[] = { "call", NULL };

static const struct record_type *const row_types[] = { &count_record_type, &total_record_type,
						       NULL };

static const struct record_type *const types[] = {
	&start_record_type,
	&interval_record_type,
	&count_record_type,
	&total_record_type,
	&other_paths_record_type,
	&account_record_type,
	NULL,
};

static const struct metric_names metrics = { .prefix = "vfswrite_count" };

static struct tool tool = {
	.question = "who writes? One event for each call of vfs_write, which write(2) and "
		    "pwrite(2) come to, on\nfiles, pipes, sockets and devices; writev(2), "
		    "sendfile(2), splice(2), io_uring and stores to\nmapped memory do not.",
	.traced = "calls of vfs_write",
	.metrics = &metrics,
	.late_heading = true,
	.ways = ways,
	.nr_ways = NR_WAYS,
	.kinds = kinds,
	.types = types,
	.rows = row_types,
};

/* Room for so many rows. */
static uint32_t rows_room(const struct vfswrite_options *options, size_t key_size, int nr_cpus)
{
	uint64_t row = ELEMENT_BYTES + key_size + (uint64_t)nr_cpus * sizeof(struct vfswrite_row);
	uint64_t room = ROWS_BYTES / row;

	if (options->max_keys.given)
		return (uint32_t)options->max_keys.count;
	return (uint32_t)(room > ROWS_MAX ? ROWS_MAX : room ? room : 1);
}

static int vfswrite__size(struct vfswrite *vfswrite)
{
	size_t key_size = vfswrite_options__key_size(&vfswrite->options);
	struct vfswrite_count_bpf *skel = vfswrite->skel;
	int nr_cpus = libbpf_num_possible_cpus(), err;
	uint32_t room;

	if (nr_cpus < 0)
		return log_error(nr_cpus, NULL, "cannot count the possible CPUs");
	vfswrite->report.nr_cpus = (size_t)nr_cpus;
	room = rows_room(&vfswrite->options, key_size, nr_cpus);
	err = bpf_map__set_key_size(skel->maps.rows, key_size);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.rows, room);
	if (!err)
		err = bpf_map__set_key_size(skel->maps.errors,
					    offsetof(struct vfswrite_error_key, key) + key_size);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.errors,
					       room < ERRORS_MAX ? room : ERRORS_MAX);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.calls, CALLS_MAX);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.hot_claims,
					       (__u32)nr_cpus * VFSWRITE_HOT_ROWS);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.event_ring, RING_BYTES);
	if (err)
		return log_error(err, NULL, "cannot size the tables");
	log_debug("room for %u rows with keys of %zu bytes", room, key_size);
	return 0;
}

static int vfswrite__open(void *ctx, struct session_object *object)
{
	struct vfswrite *vfswrite = ctx;
	struct vfswrite_count_bpf *skel = vfswrite_count_bpf__open_opts(attach__open_opts());
	struct vfswrite_config *config;
	int err;

	if (!skel)
		return log_error(errno, NULL, "cannot open the BPF programs");
	vfswrite->skel = skel;
	bpf_program__set_autoload(skel->progs.walk_rows, true);
	bpf_program__set_autoload(skel->progs.walk_errors, true);
	err = vfswrite__size(vfswrite);
	if (err)
		return err;
	config = (struct vfswrite_config *)&skel->rodata->vfswrite_config;
	*config = vfswrite_options__config(&vfswrite->options);
	config->row_size = (__u32)(vfswrite->report.nr_cpus * sizeof(struct vfswrite_row));
	if (config->key_size <= sizeof(((struct vfswrite_hot *)NULL)->words))
		config->hot_size = (__u32)(vfswrite->report.nr_cpus * sizeof(struct vfswrite_hot));
	vfswrite->report.has_hot = config->hot_size;
	bpf_program__set_autoload(skel->progs.walk_hot, config->hot_size);
	*object = SESSION_OBJECT(skel);
	return 0;
}

static void vfswrite__close(void *ctx)
{
	struct vfswrite *vfswrite = ctx;

	vfswrite_count_bpf__destroy(vfswrite->skel);
	vfswrite->skel = NULL;
}

/* The function of a program, and whether it is at the return of it by kprobe. */
static size_t func_of(const struct attach_program *program, bool *is_return)
{
	*is_return = false;
	if (program >= fentry_programs && program < fentry_programs + VFSWRITE_NR_FUNCTIONS)
		return (size_t)(program - fentry_programs);
	*is_return = program >= kprobe_programs + VFSWRITE_NR_FUNCTIONS;
	return (size_t)(program - kprobe_programs) % VFSWRITE_NR_FUNCTIONS;
}

/* Other paths of a write are always counted, by who writes or aside. */
static bool vfswrite__wants(void *ctx, const struct attach_program *program)
{
	const struct vfswrite *vfswrite = ctx;
	uint32_t counted = vfswrite_options__counted(&vfswrite->options);
	bool is_return;
	size_t func;

	if (program == syscall_programs)
		return true;
	func = func_of(program, &is_return);
	if (is_return)
		return counted & 1U << func;
	return counted & 1U << func || vfswrite_funcs[func].is_other_path;
}

static bool vfswrite__is_aside(void *ctx, const struct attach_program *program)
{
	const struct vfswrite *vfswrite = ctx;
	uint32_t counted = vfswrite_options__counted(&vfswrite->options);
	bool is_return;

	return program != syscall_programs &&
	       (!(counted & 1U << func_of(program, &is_return)) || is_return);
}

static struct bpf_link *attach_walk(struct bpf_program *program, const struct bpf_map *map)
{
	union bpf_iter_link_info info = { .map.map_fd = (__u32)bpf_map__fd(map) };
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &info,
		    .link_info_len = sizeof(info));
	struct bpf_link *link = bpf_program__attach_iter(program, &options);

	if (!link)
		log_error(errno, NULL, "cannot attach a walk over the rows");
	return link;
}

static int vfswrite__attached(void *ctx)
{
	struct vfswrite *vfswrite = ctx;
	struct vfswrite_count_bpf *skel = vfswrite->skel;

	vfswrite->report.rows_walk = attach_walk(skel->progs.walk_rows, skel->maps.rows);
	vfswrite->report.errors_walk = attach_walk(skel->progs.walk_errors, skel->maps.errors);
	if (vfswrite->report.has_hot) {
		vfswrite->report.hot_walk = attach_walk(skel->progs.walk_hot, skel->maps.hot_rows);
		if (!vfswrite->report.hot_walk)
			return -EINVAL;
	}
	return vfswrite->report.rows_walk && vfswrite->report.errors_walk ? 0 : -EINVAL;
}

static int vfswrite__event(void *ctx, const void *data, size_t size)
{
	(void)ctx;
	(void)data;
	return log_error(EINVAL, "Please report this.",
			 "there is a record of %zu bytes where none is expected", size);
}

/* The writes that went other ways, of which nothing but their number was kept. Read when nothing
 * is attached any more. */
static int vfswrite__report_aside(struct vfswrite *vfswrite)
{
	uint64_t *cpus = calloc(vfswrite->report.nr_cpus, sizeof(*cpus));
	uint64_t calls[VFSWRITE_NR_FUNCS] = {};
	int err = cpus ? 0 : log_error(ENOMEM, NULL, "cannot count the other writes");

	for (__u32 func = 0; func < VFSWRITE_NR_FUNCS && !err; func++) {
		err = bpf_map__lookup_elem(vfswrite->skel->maps.calls_aside, &func, sizeof(func),
					   cpus, vfswrite->report.nr_cpus * sizeof(*cpus), 0);
		if (err)
			log_error(err, NULL, "cannot read the other writes from the kernel");
		for (size_t cpu = 0; cpu < vfswrite->report.nr_cpus; cpu++)
			calls[func] += cpus[cpu];
	}
	free(cpus);
	return err ? err : report__aside(&vfswrite->report, calls);
}

static int vfswrite__report(void *ctx, const struct session_span *span)
{
	struct vfswrite *vfswrite = ctx;
	int err = report__interval(&vfswrite->report, span), aside_err = 0;

	if (span->last && !vfswrite->options.paths)
		aside_err = vfswrite__report_aside(vfswrite);
	return err ? err : aside_err;
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

/* What the line at the start says. */
static void name_traced(const struct vfswrite_options *options)
{
	static const char *const functions[2][2] = {
		{ "calls of vfs_write", "calls of vfs_write and vfs_read" },
		{ "all paths of a write", "all paths of a write, and vfs_read" },
	};
	static const char *const syscalls[2][2] = {
		{ "the system calls write and pwrite64, in place of vfs_write",
		  "the system calls write, pwrite64, read and pread64, in place of vfs_write and "
		  "vfs_read" },
		{ "the system calls that write, in place of all paths of a write",
		  "the system calls that write, read and pread64, in place of all paths of a "
		  "write and vfs_read" },
	};
	bool all = options->paths, reads = options->also;

	tool.traced = functions[all][reads];
	ways[NR_WAYS - 1].traced = preempted_ways[NR_WAYS - 1].traced = syscalls[all][reads];
}

/* Reading the mode takes time: only where it decides. */
static void choose_ways(const struct common_options *options)
{
	struct preemption preemption;

	if (options->attach != ATTACH_AUTO || options->json_schema ||
	    access(KPROBE_TYPE_PATH, F_OK))
		return;
	preemption__read(&preemption);
	if (preemption.preempts)
		tool.ways = preempted_ways;
	log_debug("preemption of the kernel: %s, from %s", preemption.mode, preemption.source);
}

int main(int argc, char **argv)
{
	static struct vfswrite vfswrite;
	static const char *columns[COLUMNS_MAX];
	struct session_work work = {
		.ctx = &vfswrite,
		.open = vfswrite__open,
		.close = vfswrite__close,
		.wants = vfswrite__wants,
		.is_aside = vfswrite__is_aside,
		.attached = vfswrite__attached,
		.event = vfswrite__event,
		.report = vfswrite__report,
		.columns = columns,
		.kinds = 1 << VFSWRITE_CALL,
	};
	int err;

	tool.options = vfswrite_tool_options;
	if (options__parse(&tool.options, &vfswrite.options, argc, argv) ||
	    vfswrite_options__check(&vfswrite.options))
		return STATUS_USAGE;
	count__columns(vfswrite_options__by(&vfswrite.options), vfswrite.options.errors, columns);
	work.redraw = vfswrite.options.live;
	work.interval_ns = vfswrite.options.interval.ns;
	work.max_reports = vfswrite.options.count.count;
	report__open(&vfswrite.report, &vfswrite.session, &vfswrite.options);

	name_targets();
	name_traced(&vfswrite.options);
	choose_ways(&vfswrite.options.common);
	err = session__open(&vfswrite.session, &tool, &vfswrite.options.common, &work);
	if (!err)
		err = session__attach(&vfswrite.session);
	if (!err)
		err = session__run(&vfswrite.session);
	bpf_link__destroy(vfswrite.report.rows_walk);
	bpf_link__destroy(vfswrite.report.errors_walk);
	bpf_link__destroy(vfswrite.report.hot_walk);
	report__close(&vfswrite.report);
	err = session__close(&vfswrite.session, err);
	common_options__free(&vfswrite.options.common);
	return err;
}
