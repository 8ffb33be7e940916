// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* funclatency: how long the calls of a function last. */
#include <errno.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "collect/hist.h"
#include "collect/maps.h"
#include "funclatency.h"
#include "report.h"
#include "run/log.h"
#include "run/options.h"
#include "run/session.h"
#include "settings.h"
#include "target.h"
#include "tool.h"

/* Its types come from the headers above. */
#include "funclatency.skel.h"

/* The slowest calls alone need little room; a low --slower can send every call. */
#define RING_BYTES (1U << 20)
#define RING_BYTES_SLOWER (8U << 20)

/* Frames are 24 bytes and an element of a hash some 50 more: 6 MB. A thread needs one for each
 * depth of its stack at which the function is called. */
#define FRAMES_MAX 65536
#define OTHER_TABLES_BYTES (8U << 20)

struct funclatency {
	struct funclatency_options options;
	struct target target;
	struct funclatency_bpf *skel;
	struct session session;
	struct report report;
};

static int funclatency__size(struct funclatency *funclatency)
{
	const struct funclatency_options *options = &funclatency->options;
	const struct map_size sizes[] = {
		{ .map = funclatency->skel->maps.frames, .entries = FRAMES_MAX },
		{ .map = funclatency->skel->maps.event_ring,
		  .entries = options->slower_ns ? RING_BYTES_SLOWER : RING_BYTES },
	};
	int err = maps__size(sizes, sizeof(sizes) / sizeof(sizes[0]));

	/* A function can be called with the locks of an allocator. */
	return err ? err :
		     hist_source__prepare(&funclatency->report.distribution.source,
					  options->max_keys.count,
					  RING_BYTES_SLOWER + OTHER_TABLES_BYTES, true);
}

static int funclatency__open(void *ctx, struct session_object *object)
{
	struct funclatency *funclatency = ctx;
	struct funclatency_bpf *skel = funclatency_bpf__open_opts(attach__open_opts());
	struct funclatency_config *config;
	int err;

	if (!skel)
		return log_error(errno, NULL, "cannot open the BPF programs");
	funclatency->skel = skel;
	config = (struct funclatency_config *)&skel->rodata->funclatency_config;
	config->by = funclatency_options__by(&funclatency->options);
	config->result_shift = function_type__shift(&funclatency->target.type);
	config->result_has_errors = function_type__has_errors(&funclatency->target.type);
	config->min_ns = funclatency->options.min_ns;
	config->max_ns = funclatency->options.max_ns;
	config->slower_ns = funclatency->options.slower_ns;
	config->slowest = funclatency_options__slowest(&funclatency->options);
	memcpy(config->syscalls, funclatency->target.syscalls, sizeof(config->syscalls));
	*(struct hist_config *)&skel->rodata->hist_config =
		funclatency->report.distribution.style.config;
	funclatency->report.distribution.source = HIST_SOURCE(skel, config->by);
	funclatency->report.frames = skel->maps.frames;
	err = funclatency__size(funclatency);
	if (err)
		return err;
	*object = SESSION_OBJECT(skel);
	object->ended_ns = (__u64 *)&skel->bss->run_ended_ns;
	return 0;
}

static void funclatency__close(void *ctx)
{
	struct funclatency *funclatency = ctx;

	funclatency_bpf__destroy(funclatency->skel);
	funclatency->skel = NULL;
}

static bool funclatency__wants(void *ctx, const struct attach_program *program)
{
	(void)ctx;
	(void)program; /* each way is whole */
	return true;
}

static int funclatency__attached(void *ctx)
{
	struct funclatency *funclatency = ctx;

	return report__open(&funclatency->report, &funclatency->session, &funclatency->options,
			    &funclatency->target, bpf_map__fd(funclatency->skel->maps.slots));
}

static int funclatency__event(void *ctx, const void *data, size_t size)
{
	struct funclatency *funclatency = ctx;

	(void)size; /* all records are of one kind */
	return distribution__slow(&funclatency->report.distribution, data);
}

static int funclatency__report(void *ctx, const struct session_span *span)
{
	struct funclatency *funclatency = ctx;
	int err = distribution__report(&funclatency->report.distribution, span), open_err = 0;

	if (span->last)
		open_err = report__open_calls(&funclatency->report);
	return err ? err : open_err;
}

static int funclatency__prepare(struct funclatency *funclatency, struct session_work *work,
				struct tool *tool)
{
	static char traced[128], otherwise[128], aside[64], limits[128];
	const struct funclatency_options *options = &funclatency->options;
	bool is_general = funclatency_options__need_no_target(options);
	struct target *target = is_general ? NULL : &funclatency->target;
	int err = target ? target__find(target, options) : 0;

	if (err)
		return err;
	*tool = funclatency__tool(options, target);
	if (target) {
		tool->traced = target__describe(target, traced, sizeof(traced));
		work->otherwise = target__otherwise(target, otherwise, sizeof(otherwise));
		work->columns = target->kind == TARGET_FUNCTION ? funclatency_stack_columns :
								  funclatency_columns;
	}
	work->interval_ns = options->interval.ns;
	work->max_reports = options->count.count;
	work->limits = funclatency_options__limits(options, limits, sizeof(limits));
	work->aside = distribution__aside(options->slower_ns, aside, sizeof(aside));
	funclatency->report.distribution.style = funclatency_options__style(options);
	return 0;
}

int main(int argc, char **argv)
{
	static struct funclatency funclatency;
	struct session_work work = {
		.ctx = &funclatency,
		.open = funclatency__open,
		.close = funclatency__close,
		.wants = funclatency__wants,
		.attached = funclatency__attached,
		.event = funclatency__event,
		.report = funclatency__report,
		.columns = funclatency_columns,
		.kinds = 1 << FUNCLATENCY_CALL,
	};
	struct tool tool;
	int err, status;

	if (options__parse(&funclatency_tool_options, &funclatency.options, argc, argv) ||
	    funclatency_options__check(&funclatency.options))
		return STATUS_USAGE;
	err = funclatency__prepare(&funclatency, &work, &tool);
	if (err)
		return err == -EINVAL ? STATUS_USAGE : STATUS_FAILED;
	status = session__trace(&funclatency.session, &tool, &funclatency.options.common, &work);
	report__close(&funclatency.report);
	funclatency_options__free(&funclatency.options);
	return status;
}
