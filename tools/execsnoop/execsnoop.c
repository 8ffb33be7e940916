// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* execsnoop: every process that starts, and with -e how it ends. */
#include <errno.h>

#include <bpf/libbpf.h>

#include "execsnoop.h"
#include "options.h"
#include "output/sink.h"
#include "programs.h"
#include "records.h"
#include "reporter.h"
#include "run/log.h"
#include "run/session.h"
#include "shared/filter.h"
#include "tool.h"

/* Its types come from the headers above. */
#include "execsnoop.skel.h"

struct execsnoop {
	struct execsnoop_options options;
	struct execsnoop_bpf *skel;
	struct session session;
	struct record_times times;
	struct reporter reporter;
	const char *columns[EXECSNOOP_COLUMNS_MAX];
	const char *summary_columns[EXECSNOOP_COLUMNS_MAX];
	char limits[256];
	bool has_loop; /* the kernel has bpf_loop() */
};

static int execsnoop__open(void *ctx, struct session_object *object)
{
	struct execsnoop *execsnoop = ctx;
	struct execsnoop_bpf *skel = execsnoop_bpf__open_opts(attach__open_opts());

	if (!skel)
		return log_error(errno, NULL, "cannot open the BPF programs");
	execsnoop->skel = skel;
	skel->rodata->show_forks = execsnoop->options.forks;
	skel->rodata->context_config.nr_ancestors = execsnoop->options.ancestors.count;
	skel->rodata->context_config.env = execsnoop->options.env.nr > 0;
	skel->rodata->context_config.cwd = execsnoop->options.cwd;
	bpf_map__set_autocreate(skel->maps.cwds, execsnoop->options.cwd);
	bpf_map__set_autocreate(skel->maps.cwd_scratch, execsnoop->options.cwd);
	if (execsnoop->options.fails)
		execsnoop->has_loop = libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_loop,
							      NULL) > 0;
	*object = SESSION_OBJECT(skel);
	return 0;
}

static void execsnoop__close(void *ctx)
{
	struct execsnoop *execsnoop = ctx;

	execsnoop_bpf__destroy(execsnoop->skel);
	execsnoop->skel = NULL;
}

static bool execsnoop__wants(void *ctx, const struct attach_program *program)
{
	const struct execsnoop *execsnoop = ctx;

	return execsnoop_program__is_wanted(program, &execsnoop->options, execsnoop->has_loop);
}

static int execsnoop__event(void *ctx, const void *data, size_t size)
{
	struct execsnoop *execsnoop = ctx;

	(void)size; /* of the record's size class; each kind has its own sizes inside */
	execsnoop->times = (struct record_times){ execsnoop->session.clock,
						  execsnoop->session.started_ns };
	return reporter__event(&execsnoop->reporter, data);
}

static int execsnoop__record(void *ctx, enum execsnoop_kind kind, const struct record *record)
{
	struct execsnoop *execsnoop = ctx;

	return session__record(&execsnoop->session, kind, record);
}

static void execsnoop__count(void *ctx, enum execsnoop_kind kind, enum event_fate fate)
{
	struct execsnoop *execsnoop = ctx;

	session__count(&execsnoop->session, kind, fate);
}

static int execsnoop__row(void *ctx, const struct record *record)
{
	struct execsnoop *execsnoop = ctx;

	return session__record_events(&execsnoop->session, EXECSNOOP_EXEC, 0, record);
}

/* What stands below the records, when all is detached and drained. */
static int execsnoop__finish(void *ctx, const struct session_span *span)
{
	struct execsnoop *execsnoop = ctx;
	struct session *session = &execsnoop->session;
	const struct account_counters *exits = &session->account.terms[EXECSNOOP_EXIT].kernel;
	int err = account__read(&session->account, session->object.counters);

	(void)span;
	if (err)
		return err;
	reporter__settle(&execsnoop->reporter, exits->lost[ACCOUNT_RING_FULL]);
	if (!execsnoop->reporter.summary)
		return 0;
	if (execsnoop->options.summary)
		err = session__begin_table(session, execsnoop->summary_columns);
	return err ? err : reporter__summarize(&execsnoop->reporter);
}

int main(int argc, char **argv)
{
	static struct execsnoop execsnoop;
	const struct execsnoop_options *options = &execsnoop.options;
	struct session_work work = {
		.ctx = &execsnoop,
		.open = execsnoop__open,
		.close = execsnoop__close,
		.wants = execsnoop__wants,
		.event = execsnoop__event,
		.report = execsnoop__finish,
		.columns = execsnoop.columns,
		.limits = execsnoop.limits,
	};
	struct tool tool;
	int status;

	if (options__parse(&execsnoop_tool_options, &execsnoop.options, argc, argv) ||
	    execsnoop_options__check(options))
		return STATUS_USAGE;
	tool = execsnoop__tool(options);
	work.quote_words = options->quote;
	work.kinds = execsnoop_options__kinds(options);
	execsnoop_options__columns(options, execsnoop.columns);
	execsnoop_options__summary_columns(options, execsnoop.summary_columns);
	execsnoop_options__limits(options, execsnoop.limits, sizeof(execsnoop.limits));
	execsnoop.reporter = (struct reporter){
		.options = options,
		.times = &execsnoop.times,
		.ctx = &execsnoop,
		.record = execsnoop__record,
		.count = execsnoop__count,
		.row = execsnoop__row,
	};
	status = reporter__open(&execsnoop.reporter) ?
			 STATUS_FAILED :
			 session__trace(&execsnoop.session, &tool, &execsnoop.options.common,
					&work);
	reporter__close(&execsnoop.reporter);
	execsnoop_options__free(&execsnoop.options);
	return status;
}
