// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* vfswrite-count: who writes on this machine. */
#include <errno.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

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

static const struct attach_program fentry_programs[] = {
	{ .program = "write_exit", .target = "vfs_write" },
};

/* The entry first: each result is then of a call whose entry was seen. */
static const struct attach_program kprobe_programs[] = {
	{ .program = "write_call", .target = "vfs_write" },
	{ .program = "write_result", .target = "return of vfs_write" },
};

static const struct attach_program syscall_programs[] = {
	{ .program = "syscall_exit", .target = "sys_exit" },
};

#define WAY(way_mechanism, way_programs, way_traced)                                               \
	{                                                                                          \
		.mechanism = way_mechanism, .programs = way_programs,                              \
		.nr_programs = sizeof(way_programs) / sizeof((way_programs)[0]),                   \
		.traced = way_traced                                                               \
	}

#define SYSCALLS_TRACED "the system calls write and pwrite64, in place of vfs_write"

static const struct attach_way ways[] = {
	WAY(ATTACH_FENTRY, fentry_programs, NULL),
	WAY(ATTACH_KPROBE, kprobe_programs, NULL),
	WAY(ATTACH_TP_BTF, syscall_programs, SYSCALLS_TRACED),
};

/* Where the kernel preempts itself, only a kprobe loses no call. */
static const struct attach_way preempted_ways[] = {
	WAY(ATTACH_KPROBE, kprobe_programs, NULL),
	WAY(ATTACH_FENTRY, fentry_programs, NULL),
	WAY(ATTACH_TP_BTF, syscall_programs, SYSCALLS_TRACED),
};

#define NR_WAYS (sizeof(ways) / sizeof(ways[0]))

static const char *const kinds[] = { "call", NULL };

static const struct record_type *const row_types[] = { &count_record_type, &total_record_type,
						       NULL };

static const struct record_type *const types[] = {
	&start_record_type, &interval_record_type, &count_record_type,
	&total_record_type, &account_record_type,  NULL,
};

static struct tool tool = {
	.question = "who writes? One event for each call of vfs_write, which write(2) and "
		    "pwrite(2) come to, on\nfiles, pipes, sockets and devices; writev(2), "
		    "sendfile(2), splice(2), io_uring and stores to\nmapped memory do not.",
	.traced = "calls of vfs_write",
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
	*object = (struct session_object){
		.skeleton = skel->skeleton,
		.filter = (struct filter_config *)&skel->rodata->filter_config,
		.filter_values = skel->maps.filter_values,
		.filter_tree = skel->maps.filter_tree,
		.ring = skel->maps.event_ring,
		.ring_wakeup_bytes = (__u64 *)&skel->rodata->ring_wakeup_bytes,
		.counters = skel->maps.account_counters,
		.started_ns = (__u64 *)&skel->bss->run_started_ns,
	};
	return 0;
}

static void vfswrite__close(void *ctx)
{
	struct vfswrite *vfswrite = ctx;

	vfswrite_count_bpf__destroy(vfswrite->skel);
	vfswrite->skel = NULL;
}

static bool vfswrite__wants(void *ctx, const struct attach_program *program)
{
	(void)ctx;
	(void)program;
	return true;
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
	return vfswrite->report.rows_walk && vfswrite->report.errors_walk ? 0 : -EINVAL;
}

static int vfswrite__event(void *ctx, const void *data, size_t size)
{
	(void)ctx;
	(void)data;
	return log_error(EINVAL, "Please report this.",
			 "there is a record of %zu bytes where none is expected", size);
}

static int vfswrite__report(void *ctx, const struct session_span *span)
{
	struct vfswrite *vfswrite = ctx;

	return report__interval(&vfswrite->report, span);
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
		.attached = vfswrite__attached,
		.event = vfswrite__event,
		.report = vfswrite__report,
		.columns = columns,
		.kinds = 1 << VFSWRITE_CALL,
	};
	int err;

	tool.options = vfswrite_tool_options;
	if (options__parse(&tool.options, &vfswrite.options, argc, argv))
		return STATUS_USAGE;
	count__columns(vfswrite_options__by(&vfswrite.options), columns);
	work.interval_ns = vfswrite.options.interval.ns;
	work.max_reports = vfswrite.options.count.count;
	report__open(&vfswrite.report, &vfswrite.session, &vfswrite.options);

	choose_ways(&vfswrite.options.common);
	err = session__open(&vfswrite.session, &tool, &vfswrite.options.common, &work);
	if (!err)
		err = session__attach(&vfswrite.session);
	if (!err)
		err = session__run(&vfswrite.session);
	bpf_link__destroy(vfswrite.report.rows_walk);
	bpf_link__destroy(vfswrite.report.errors_walk);
	report__close(&vfswrite.report);
	err = session__close(&vfswrite.session, err);
	common_options__free(&vfswrite.options.common);
	return err;
}
