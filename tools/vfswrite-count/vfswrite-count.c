// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* vfswrite-count: who writes on this machine. */
#include <errno.h>
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "collect/walk.h"
#include "records.h"
#include "report.h"
#include "run/log.h"
#include "run/options.h"
#include "run/session.h"
#include "settings.h"
#include "vfswrite-count.h"
#include "ways.h"

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

struct vfswrite {
	struct vfswrite_options options;
	struct vfswrite_count_bpf *skel;
	struct session session;
	struct report report;
};

static const char *const kinds[] = { "call", NULL };

static const struct metric_names metrics = { .prefix = "vfswrite_count" };

static struct tool tool = {
	.question = "who writes? One event for each call of vfs_write, which write(2) and "
		    "pwrite(2) come to, on\nfiles, pipes, sockets and devices; writev(2), "
		    "sendfile(2), splice(2), io_uring and stores to\nmapped memory do not.",
	.metrics = &metrics,
	.late_heading = true,
	.nr_ways = VFSWRITE_NR_WAYS,
	.kinds = kinds,
	.types = vfswrite_types,
	.rows = vfswrite_row_types,
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

static bool vfswrite__wants(void *ctx, const struct attach_program *program)
{
	const struct vfswrite *vfswrite = ctx;

	return vfswrite_program__is_wanted(program, &vfswrite->options);
}

static bool vfswrite__is_aside(void *ctx, const struct attach_program *program)
{
	const struct vfswrite *vfswrite = ctx;

	return vfswrite_program__is_aside(program, &vfswrite->options);
}

static int vfswrite__attached(void *ctx)
{
	struct vfswrite *vfswrite = ctx;
	struct vfswrite_count_bpf *skel = vfswrite->skel;

	vfswrite->report.rows_walk = walk__attach(skel->progs.walk_rows, skel->maps.rows);
	vfswrite->report.errors_walk = walk__attach(skel->progs.walk_errors, skel->maps.errors);
	if (vfswrite->report.has_hot) {
		vfswrite->report.hot_walk = walk__attach(skel->progs.walk_hot, skel->maps.hot_rows);
		if (!vfswrite->report.hot_walk)
			return -EINVAL;
	}
	return vfswrite->report.rows_walk && vfswrite->report.errors_walk ? 0 : -EINVAL;
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
		.report = vfswrite__report,
		.columns = columns,
		.kinds = 1 << VFSWRITE_CALL,
	};
	int status;

	tool.options = vfswrite_tool_options;
	if (options__parse(&tool.options, &vfswrite.options, argc, argv) ||
	    vfswrite_options__check(&vfswrite.options))
		return STATUS_USAGE;
	count__columns(vfswrite_options__by(&vfswrite.options), vfswrite.options.errors, columns);
	work.redraw = vfswrite.options.live;
	work.interval_ns = vfswrite.options.interval.ns;
	work.max_reports = vfswrite.options.count.count;
	report__open(&vfswrite.report, &vfswrite.session, &vfswrite.options);

	tool.ways = ways__choose(&vfswrite.options);
	tool.traced = ways__traced(&vfswrite.options);
	status = session__trace(&vfswrite.session, &tool, &vfswrite.options.common, &work);
	bpf_link__destroy(vfswrite.report.rows_walk);
	bpf_link__destroy(vfswrite.report.errors_walk);
	bpf_link__destroy(vfswrite.report.hot_walk);
	report__close(&vfswrite.report);
	common_options__free(&vfswrite.options.common);
	return status;
}
