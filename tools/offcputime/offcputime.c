// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* offcputime: where threads wait, by whole stack. */
#include <errno.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "collect/maps.h"
#include "collect/threads.h"
#include "collect/walk.h"
#include "offcputime.h"
#include "records.h"
#include "report.h"
#include "run/log.h"
#include "run/options.h"
#include "run/session.h"
#include "settings.h"
#include "tool.h"

/* Its types come from the headers above. */
#include "offcputime.skel.h"

/* A stack comes once, and has 20 frames or so. */
#define RING_BYTES (8U << 20)

#define STACK_LIMIT_PATH "/proc/sys/kernel/perf_event_max_stack"

struct offcputime {
	struct offcputime_options options;
	struct offcputime_bpf *skel;
	struct session session;
	struct report report;
	struct threads threads;
	bool has_task_storage;
	int stacks_fd; /* the walk over the stacks at the end */
};

static int offcputime__size(const struct offcputime *offcputime)
{
	const struct offcputime_options *options = &offcputime->options;
	const struct offcputime_bpf *skel = offcputime->skel;
	const struct map_size sizes[] = {
		{ .map = skel->maps.rows, .entries = offcputime_options__rows(options) },
		{ .map = skel->maps.stacks_sent, .entries = offcputime_options__stacks(options) },
		{ .map = skel->maps.event_ring, .entries = RING_BYTES },
	};

	return maps__size(sizes, sizeof(sizes) / sizeof(sizes[0]));
}

static int offcputime__open(void *ctx, struct session_object *object)
{
	struct offcputime *offcputime = ctx;
	struct offcputime_bpf *skel = offcputime_bpf__open_opts(attach__open_opts());
	int err;

	if (!skel)
		return log_error(errno, NULL, "cannot open the BPF programs");
	offcputime->skel = skel;
	*(struct offcputime_config *)&skel->rodata->offcputime_config = offcputime_options__config(
		&offcputime->options);
	*(__u32 *)&skel->rodata->stack_bytes = offcputime_options__stack_bytes(
		&offcputime->options);
	*(__u32 *)&skel->rodata->threads_in_storage = offcputime->has_task_storage;
	bpf_program__set_autoload(skel->progs.offcputime_stacks, true);
	bpf_program__set_autoload(skel->progs.offcputime_open, true);
	offcputime->threads = THREADS(skel, offcputime_walk, offcputime->has_task_storage);
	offcputime->report.rows_map = skel->maps.rows;
	offcputime->report.rest_map = skel->maps.rest;
	offcputime->report.interval = (__u64 *)&skel->data->offcputime_interval;
	err = threads__prepare(&offcputime->threads);
	if (!err)
		err = offcputime__size(offcputime);
	*object = SESSION_OBJECT(skel);
	object->ended_ns = (__u64 *)&skel->bss->run_ended_ns;
	return err;
}

static void offcputime__close(void *ctx)
{
	struct offcputime *offcputime = ctx;

	offcputime_bpf__destroy(offcputime->skel);
	offcputime->skel = NULL;
}

static bool offcputime__wants(void *ctx, const struct attach_program *program)
{
	struct offcputime *offcputime = ctx;

	return offcputime_program__is_wanted(program, &offcputime->options,
					     offcputime->has_task_storage);
}

/* The second walk mends what the first one can have mistaken (offcputime_walk). */
static int offcputime__attached(void *ctx)
{
	struct offcputime *offcputime = ctx;
	int err = threads__walk(&offcputime->threads);

	if (!err)
		err = threads__walk(&offcputime->threads);
	if (err)
		return err;
	offcputime->stacks_fd = walk__start(offcputime->skel->progs.offcputime_stacks);
	if (offcputime->stacks_fd < 0)
		return offcputime->stacks_fd;
	offcputime->report.open_fd = walk__start(offcputime->skel->progs.offcputime_open);
	if (offcputime->report.open_fd < 0)
		return offcputime->report.open_fd;
	return report__open(&offcputime->report, &offcputime->session, &offcputime->options);
}

static int offcputime__event(void *ctx, const void *data, size_t size)
{
	struct offcputime *offcputime = ctx;

	return report__take(&offcputime->report, data, size);
}

static void offcputime__arrived(void *ctx, const void *data, size_t size)
{
	struct offcputime *offcputime = ctx;

	(void)size; /* all have a head */
	report__meet(&offcputime->report, data);
}

static int offcputime__ended(void *ctx)
{
	struct offcputime *offcputime = ctx;

	return walk__read(offcputime->stacks_fd, 0, NULL, NULL);
}

static int offcputime__report(void *ctx, const struct session_span *span)
{
	struct offcputime *offcputime = ctx;

	return report__write(&offcputime->report, span);
}

int main(int argc, char **argv)
{
	static struct offcputime offcputime = { .stacks_fd = -1, .report.open_fd = -1 };
	struct session_work work = {
		.ctx = &offcputime,
		.open = offcputime__open,
		.close = offcputime__close,
		.wants = offcputime__wants,
		.attached = offcputime__attached,
		.event = offcputime__event,
		.arrived = offcputime__arrived,
		.ended = offcputime__ended,
		.report = offcputime__report,
		.columns = offcputime_columns,
		.kinds = 1 << OFFCPUTIME_STAY,
	};
	struct offcputime_options *options = &offcputime.options;
	char limits[256];
	int status, err;

	if (options__parse(&offcputime_tool.options, options, argc, argv))
		return STATUS_USAGE;
	err = offcputime_options__check(options, STACK_LIMIT_PATH);
	if (err)
		return err == -EINVAL ? STATUS_USAGE : STATUS_FAILED;
	work.limits = offcputime_options__limits(options, limits, sizeof(limits));
	work.interval_ns = options->interval.ns;
	offcputime.has_task_storage = threads__have_storage();

	status = session__trace(&offcputime.session, &offcputime_tool, &options->common, &work);
	report__close(&offcputime.report);
	if (offcputime.stacks_fd >= 0)
		close(offcputime.stacks_fd);
	common_options__free(&options->common);
	return status;
}
