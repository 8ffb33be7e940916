// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* runqlat: how long threads wait for a CPU. */
#include <errno.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "collect/hist.h"
#include "collect/maps.h"
#include "collect/threads.h"
#include "collect/walk.h"
#include "cpus.h"
#include "programs.h"
#include "report.h"
#include "run/log.h"
#include "run/options.h"
#include "run/session.h"
#include "runqlat.h"
#include "settings.h"
#include "tool.h"

/* Its types come from the headers above. */
#include "runqlat.skel.h"

/* The longest waits alone need little room; a low --slower can send every wait. */
#define RING_BYTES (1U << 20)
#define RING_BYTES_SLOWER (8U << 20)
#define OTHER_TABLES_BYTES (8U << 20)

struct runqlat {
	struct runqlat_options options;
	struct runqlat_bpf *skel;
	struct session session;
	struct report report;
	struct threads threads;
	bool has_task_storage;
	int settle_fd; /* the walk that makes good what no program was shown */
	int open_fd; /* the walk over the threads that still wait */
};

static int runqlat__size(struct runqlat *runqlat)
{
	const struct map_size ring = {
		.map = runqlat->skel->maps.event_ring,
		.entries = runqlat->options.slower_ns ? RING_BYTES_SLOWER : RING_BYTES,
	};
	int err = threads__prepare(&runqlat->threads);

	if (!err)
		err = maps__size(&ring, 1);
	return err ? err :
		     hist_source__prepare(&runqlat->report.distribution.source,
					  runqlat->options.max_keys.count,
					  RING_BYTES_SLOWER + OTHER_TABLES_BYTES,
					  !runqlat->has_task_storage);
}

static int runqlat__open(void *ctx, struct session_object *object)
{
	struct runqlat *runqlat = ctx;
	struct runqlat_bpf *skel = runqlat_bpf__open_opts(attach__open_opts());
	struct runqlat_config *config;

	if (!skel)
		return log_error(errno, NULL, "cannot open the BPF programs");
	runqlat->skel = skel;
	config = (struct runqlat_config *)&skel->rodata->runqlat_config;
	*config = runqlat_options__config(&runqlat->options);
	*(__u32 *)&skel->rodata->threads_in_storage = runqlat->has_task_storage;
	runqlat->threads = THREADS(skel, runqlat_walk, runqlat->has_task_storage);
	*(struct hist_config *)&skel->rodata->hist_config =
		runqlat->report.distribution.style.config;
	bpf_program__set_autoload(skel->progs.runqlat_open, true);
	runqlat->report.distribution.source = HIST_SOURCE(skel,
							  runqlat_options__by(&runqlat->options));
	*object = SESSION_OBJECT(skel);
	object->ended_ns = (__u64 *)&skel->bss->run_ended_ns;
	return runqlat__size(runqlat);
}

static void runqlat__close(void *ctx)
{
	struct runqlat *runqlat = ctx;

	runqlat_bpf__destroy(runqlat->skel);
	runqlat->skel = NULL;
}

static bool runqlat__wants(void *ctx, const struct attach_program *program)
{
	const struct runqlat *runqlat = ctx;

	return runqlat_program__is_wanted(program, &runqlat->options, runqlat->has_task_storage);
}

static int runqlat__attached(void *ctx)
{
	struct runqlat *runqlat = ctx;
	int err = threads__walk(&runqlat->threads);

	if (err)
		return err;
	runqlat->settle_fd = walk__start(runqlat->skel->progs.runqlat_walk);
	runqlat->open_fd = walk__start(runqlat->skel->progs.runqlat_open);
	if (runqlat->settle_fd < 0 || runqlat->open_fd < 0)
		return runqlat->settle_fd < 0 ? runqlat->settle_fd : runqlat->open_fd;
	return report__open(&runqlat->report, &runqlat->session, &runqlat->options);
}

static int runqlat__event(void *ctx, const void *data, size_t size)
{
	struct runqlat *runqlat = ctx;

	(void)size; /* all records are of one kind */
	return distribution__slow(&runqlat->report.distribution, data);
}

static int runqlat__report(void *ctx, const struct session_span *span)
{
	struct runqlat *runqlat = ctx;
	int err = span->last ? walk__read(runqlat->settle_fd, 0, NULL, NULL) : 0, open_err = 0;

	if (!err)
		err = distribution__report(&runqlat->report.distribution, span);
	if (span->last)
		open_err = report__open_waits(&runqlat->report, runqlat->open_fd);
	return err ? err : open_err;
}

int main(int argc, char **argv)
{
	static struct runqlat runqlat = { .settle_fd = -1, .open_fd = -1 };
	struct session_work work = {
		.ctx = &runqlat,
		.open = runqlat__open,
		.close = runqlat__close,
		.wants = runqlat__wants,
		.attached = runqlat__attached,
		.event = runqlat__event,
		.report = runqlat__report,
		.columns = runqlat_columns,
		.kinds = 1 << RUNQLAT_WAIT,
	};
	struct tool tool;
	char aside[64];
	int status;

	if (options__parse(&runqlat_tool_options, &runqlat.options, argc, argv) ||
	    runqlat_options__check(&runqlat.options))
		return STATUS_USAGE;
	tool = runqlat_tool(&runqlat.options);
	runqlat.options.one_cache = cpus__share_cache("/sys/devices/system/cpu");
	work.interval_ns = runqlat.options.interval.ns;
	work.max_reports = runqlat.options.count.count;
	work.aside = distribution__aside(runqlat.options.slower_ns, aside, sizeof(aside));
	runqlat.report.distribution.style = runqlat_options__style(&runqlat.options);
	runqlat.has_task_storage = threads__have_storage();

	status = session__trace(&runqlat.session, &tool, &runqlat.options.common, &work);
	distribution__close(&runqlat.report.distribution);
	if (runqlat.settle_fd >= 0)
		close(runqlat.settle_fd);
	if (runqlat.open_fd >= 0)
		close(runqlat.open_fd);
	runqlat_options__free(&runqlat.options);
	return status;
}
