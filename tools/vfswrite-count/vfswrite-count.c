// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* vfswrite-count: who writes on this machine. */
#include <errno.h>

#include <bpf/libbpf.h>

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

struct vfswrite {
	struct vfswrite_options options;
	struct vfswrite_count_bpf *skel;
	struct session session;
	struct report report;
};

static const char *const kinds[] = { "call", NULL };

static const struct metric_names metrics[] = {
	[VFSWRITE_NO_DISTRIBUTION] = { .prefix = "vfswrite_count" },
	[VFSWRITE_SIZES] = { .prefix = "vfswrite_count",
			     .distribution = "write_size",
			     .help = "Bytes that a call wrote.",
			     .in_bytes = true },
	[VFSWRITE_TIMES] = { .prefix = "vfswrite_count",
			     .distribution = "call",
			     .help = "How long a call took." },
};

static struct tool tool = {
	.question = "who writes? One event for each call of vfs_write, which write(2) and "
		    "pwrite(2) come to, on\nfiles, pipes, sockets and devices; writev(2), "
		    "sendfile(2), splice(2), io_uring and stores to\nmapped memory do not.",
	.late_heading = true,
	.nr_ways = VFSWRITE_NR_WAYS,
	.kinds = kinds,
	.types = vfswrite_types,
};

static int vfswrite__open(void *ctx, struct session_object *object)
{
	struct vfswrite *vfswrite = ctx;
	struct vfswrite_count_bpf *skel = vfswrite_count_bpf__open_opts(attach__open_opts());
	struct vfswrite_config *config;
	int err;

	if (!skel)
		return log_error(errno, NULL, "cannot open the BPF programs");
	vfswrite->skel = skel;
	vfswrite->report.tables = TABLES_OF(skel);
	config = (struct vfswrite_config *)&skel->rodata->vfswrite_config;
	*config = vfswrite_options__config(&vfswrite->options);
	err = tables__size(&vfswrite->report.tables, &vfswrite->options, config);
	if (err)
		return err;
	*(struct hist_config *)&skel->rodata->hist_config = vfswrite->report.style.config;
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

	return tables__attach(&vfswrite->report.tables, &vfswrite->options,
			      vfswrite->session.attachment.mechanism == ATTACH_KPROBE);
}

static int vfswrite__event(void *ctx, const void *data, size_t size)
{
	struct vfswrite *vfswrite = ctx;

	(void)size;
	return report__place(&vfswrite->report, data);
}

static int vfswrite__report(void *ctx, const struct session_span *span)
{
	struct vfswrite *vfswrite = ctx;

	return report__interval(&vfswrite->report, span);
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
	int status;

	tool.options = vfswrite_tool_options;
	if (options__parse(&tool.options, &vfswrite.options, argc, argv) ||
	    vfswrite_options__check(&vfswrite.options))
		return STATUS_USAGE;
	count__columns(vfswrite_options__by(&vfswrite.options), vfswrite.options.errors, columns);
	work.redraw = vfswrite.options.live;
	work.interval_ns = vfswrite.options.interval.ns;
	work.max_reports = vfswrite.options.count.count;
	tool.ways = ways__choose(&vfswrite.options);
	tool.traced = ways__traced(&vfswrite.options);
	tool.rows = vfswrite_row_types(&vfswrite.options);
	tool.metrics = &metrics[vfswrite_options__distribution(&vfswrite.options)];
	status = report__open(&vfswrite.report, &vfswrite.session, &vfswrite.options) ?
			 STATUS_FAILED :
			 session__trace(&vfswrite.session, &tool, &vfswrite.options.common, &work);
	report__close(&vfswrite.report);
	common_options__free(&vfswrite.options.common);
	return status;
}
