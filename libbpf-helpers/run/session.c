// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <linux/capability.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "output/buffer.h"
#include "output/json.h"
#include "run/check.h"
#include "run/event_queue.h"
#include "run/explain.h"
#include "run/libbpf_log.h"
#include "run/log.h"
#include "run/number.h"
#include "run/privileges.h"
#include "run/session_run.h"
#include "run/signals.h"
#include "run/tree.h"

/* A wake-up comes when the ring holds this much. */
#define RING_WAKEUP_BYTES (256 << 10)

static struct bpf_map *session__edges(const struct session *session)
{
	return bpf_object__find_map_by_name(*session->object.skeleton->obj, "filter_edges");
}

static int session__open_object(void *ctx, struct bpf_object_skeleton **skeleton)
{
	struct session *session = ctx;
	const struct common_options *options = session->options;
	int err;

	err = session->work->open(session->work->ctx, &session->object);
	if (err)
		return err;
	*skeleton = session->object.skeleton;
	*session->object.ring_wakeup_bytes = RING_WAKEUP_BYTES;
	if (options->ring_bytes) {
		uint64_t bytes = sysconf(_SC_PAGESIZE);

		while (bytes < options->ring_bytes)
			bytes *= 2;
		err = bpf_map__set_max_entries(session->object.ring, bytes);
		if (err)
			return log_error(err, NULL, "cannot size the ring buffer");
		if (*session->object.ring_wakeup_bytes > bytes / 4)
			*session->object.ring_wakeup_bytes = bytes / 4;
	}
	err = tree__configure(&options->filter, session__edges(session));
	if (err)
		return err;
	return task_filter__configure(&options->filter, session->object.filter,
				      session->object.filter_values, session->object.filter_tree);
}

static void session__close_object(void *ctx)
{
	struct session *session = ctx;

	session->work->close(session->work->ctx);
	session->object = (struct session_object){};
}

/* Follow the descendants of a process (bpf/filter.bpf.h); the first one is for those it has. */
static const struct attach_program tree_programs[] = {
	/* Before the forks: a process that ends has to leave a trace, whenever it was forked. */
	{ .program = "filter_tree_exit",
	  .target = "sched_process_exit",
	  .mechanism = ATTACH_TP_BTF },
	{ .program = "filter_tree_exit_stand_in",
	  .target = "sched_process_exit",
	  .mechanism = ATTACH_TP_BTF,
	  .stands_in_for = "filter_tree_exit",
	  .counters = ACCOUNT_OF_TREE_EXIT },
	{ .program = "filter_tree_free",
	  .target = "sched_process_free",
	  .mechanism = ATTACH_TP_BTF },
	{ .program = "filter_tree_fork", .target = "task_newtask", .mechanism = ATTACH_TP_BTF },
	{ .program = "filter_tree_fork_stand_in",
	  .target = "task_newtask",
	  .mechanism = ATTACH_TP_BTF,
	  .stands_in_for = "filter_tree_fork",
	  .counters = ACCOUNT_OF_TREE_FORK },
};

#define NR_TREE_PROGRAMS (sizeof(tree_programs) / sizeof(tree_programs[0]))

static bool is_tree_program(const struct attach_program *program)
{
	return program >= tree_programs && program < tree_programs + NR_TREE_PROGRAMS;
}

static bool session__wants(void *ctx, const struct attach_program *program)
{
	struct session *session = ctx;

	if (is_tree_program(program) && !strcmp(program->target, "sched_process_exit"))
		return session->options->filter.nr_trees;
	if (is_tree_program(program))
		return session->options->filter.roots.nr;
	return session->work->wants(session->work->ctx, program);
}

static int session__loaded(void *ctx)
{
	struct session *session = ctx;
	const struct task_filter *filter = &session->options->filter;
	int err = task_filter__fill(filter, session->object.filter_values);

	return err ? err : task_filter__follow(filter, session->object.filter_tree);
}

int session__open(struct session *session, const struct tool *tool, struct common_options *options,
		  const struct session_work *work)
{
	int err;

	*session = (struct session){
		.tool = tool,
		.options = options,
		.work = work,
		.signal_fd = -1,
		.duration_fd = -1,
		.report_fd = -1,
		.drain_fd = -1,
		.clock_fd = -1,
		.command_fd = -1,
		.stats.fd = -1,
	};
	libbpf_log__install();
	if (options->verbose)
		log__set_level(LOG_DEBUG);
	if (options__face(options) == FACE_JSON)
		log__set_writer(json__log_writer);
	account__init(&session->account, tool->kinds, work->kinds);

	if (options->json_schema) {
		err = sink__print_schema(stdout, tool->options.tool, tool->types);
		return err ? err : SESSION_DONE;
	}
	if (options->check) {
		err = check__report(tool->options.tool, tool->ways, tool->nr_ways);
		return err ? err : SESSION_DONE;
	}
	err = task_filter__resolve(&options->filter);
	if (err)
		return err;
	if (options->ready_fd.given && fcntl(options->ready_fd.count, F_GETFD) < 0)
		return log_error(errno, "Give --ready-fd a descriptor that is open for writing.",
				 "cannot use descriptor %" PRIu64, options->ready_fd.count);
	if (options->command && !options->explain) {
		err = command__fork(&session->command, options->command);
		if (!err)
			err = task_filter__add_root(&options->filter, session->command.pid);
		if (err)
			return err;
	}
	session->signal_fd = signals__handle();
	return session->signal_fd < 0 ? session->signal_fd : 0;
}

static int session__prepare_output(struct session *session)
{
	const struct common_options *options = session->options;
	struct sink_config config = {
		.face = options__face(options),
		.path = options->output,
		.metrics = session->tool->metrics,
		.rows = session->tool->rows,
		.columns = session->work->columns,
		.utc = options->utc,
		.quote_words = session->work->quote_words,
		.late_heading = session->tool->late_heading,
	};
	int err = sink__open(&session->sink, &config);

	if (err)
		return err;
	session->queue = event_queue__new();
	if (!session->queue)
		return log_error(ENOMEM, NULL, "cannot prepare the run");
	session->ring = ring_buffer__new(bpf_map__fd(session->object.ring), session__take, session,
					 NULL);
	if (!session->ring)
		return log_error(errno, NULL, "cannot open the ring buffer");
	return 0;
}

static bool session__is_aside(const struct session *session, const struct attach_program *program)
{
	return session->work->is_aside && session->work->is_aside(session->work->ctx, program);
}

const char *session__traced(const struct session *session)
{
	const struct attach_way *way = session->attachment.way;

	return way && way->traced ? way->traced : session->tool->traced;
}

/* Says on stderr what is traced, by which mechanism, with which limits, and how to stop. */
static void session__announce(const struct session *session)
{
	const struct common_options *options = session->options;
	const struct attachment *attachment = &session->attachment;
	const char *own = session->work->limits ? session->work->limits : "", *before = " (";
	struct buffer line = {};
	char text[512];

	buffer__printf(&line, "tracing %s", session__traced(session));
	for (size_t i = 0; i < attachment->nr_probes; i++) {
		/* Those that follow a command are not what was asked about, and a stand-in's target
		 * is its program's. */
		if (is_tree_program(attachment->probes[i].program) ||
		    session__is_aside(session, attachment->probes[i].program) ||
		    attachment->probes[i].program->stands_in_for)
			continue;
		buffer__printf(&line, "%s%s", before, attachment->probes[i].program->target);
		before = ", ";
	}
	buffer__printf(&line, " by %s", attach_mechanism_names[attachment->mechanism]);
	for (size_t i = 0; i < attachment->nr_failures; i++)
		buffer__printf(&line, "%s%s", i ? ", " : "; not possible here: ",
			       attach_mechanism_names[attachment->failures[i].mechanism]);
	buffer__append_char(&line, ')');
	task_filter__describe(&options->filter, text, sizeof(text));
	if (*text || *own)
		buffer__printf(&line, ", only %s%s%s", text, *text && *own ? ", " : "", own);
	if (session->work->aside)
		buffer__printf(&line, ", %s", session->work->aside);
	if (options->duration.given)
		buffer__printf(&line, ", for %s", number__format_time(options->duration.ns, text));
	if (line.err)
		log_error(line.err, NULL, "cannot tell what is traced");
	else
		log_info("%.*s; Ctrl-C ends it", (int)line.size, line.data);
	buffer__free(&line);
}

/* Opens the gate: from here on everything is counted. */
static int session__start(struct session *session)
{
	const struct common_options *options = session->options;
	int err;

	clock__set(&session->clock);
	session->started_ns = session->reported_ns = clock__now_ns();
	err = account__report_start(session->tool->options.tool,
				    clock__wall_ns(&session->clock, session->started_ns),
				    &session->attachment, session->sink);
	if (!err)
		err = sink__flush(session->sink);
	if (err)
		return err;
	__atomic_store_n(session->object.started_ns, session->started_ns, __ATOMIC_RELEASE);
	if (session->command.pid) {
		err = command__exec(&session->command);
		if (err)
			return err;
	}
	session__announce(session);
	if (options->ready_fd.given && write(options->ready_fd.count, "\n", 1) != 1)
		return log_error(errno, "Give --ready-fd a descriptor that is open for writing.",
				 "cannot write to descriptor %" PRIu64, options->ready_fd.count);
	return 0;
}

int session__attach(struct session *session)
{
	const struct attach_object object = {
		.ctx = session,
		.open = session__open_object,
		.wants = session__wants,
		.loaded = session__loaded,
		.close = session__close_object,
		.extra = tree_programs,
		.nr_extra = NR_TREE_PROGRAMS,
	};
	/* To pass on a signal to a command that runs as another user. */
	static const int keep_for_command[] = { CAP_KILL };
	uid_t user = PRIVILEGES_NOBODY;
	int err;

	err = attach__first(session->tool->ways, session->tool->nr_ways, session->options->attach,
			    &object, &session->attachment);
	if (err && session->work->otherwise)
		log_info("%s", session->work->otherwise);
	if (err)
		return err;
	if (session->options->explain) {
		explain__print(session->tool->options.tool, session->tool->question,
			       session->options, session->work->limits ? session->work->limits : "",
			       &session->attachment, session->object.ring);
		return SESSION_DONE;
	}
	err = session->options->filter.nr_trees ?
		      tree__seed(&session->options->filter, session->object.filter_tree,
				 session__edges(session), &session->attachment) :
		      0;
	if (!err)
		err = session__prepare_output(session);
	if (err)
		return err;
	if (session->options->stats)
		run_stats__start(&session->stats, *session->object.skeleton->obj);
	err = session->work->attached ? session->work->attached(session->work->ctx) : 0;
	if (err)
		return err;
	/* Files of a directory are replaced by who owns it. */
	sink__replaces(session->sink, &user);
	err = privileges__drop(bpf_map__fd(session->object.counters), user, keep_for_command,
			       session->command.pid ? 1 : 0);
	if (!err)
		err = sink__try_replacing(session->sink);
	if (err)
		return err;
	return session__start(session);
}

/* Whether what --expect and --strict ask for held; reported if not. */
static bool session__expectations_hold(const struct session *session)
{
	const struct common_options *options = session->options;
	const struct account *account = &session->account;
	uint64_t recorded = account->terms[0].recorded;
	bool hold = true;

	if (options->expect.given && recorded != options->expect.count) {
		log_error_because(ERANGE, "--expect was given", NULL,
				  "%" PRIu64 " events of kind %s were recorded, not %" PRIu64,
				  recorded, account->kinds[0], options->expect.count);
		hold = false;
	}
	if (options->strict && account__verdict(account, &session->attachment) != VERDICT_EXACT) {
		log_error_because(ENODATA, "--strict was given",
				  "A larger --ring-size or a narrower filter may help.",
				  "the account is not exact");
		hold = false;
	}
	return hold;
}

static int session__status(const struct session *session, int err)
{
	if (err == SESSION_DONE)
		return STATUS_OK;
	/* The reader has gone: the end it wanted. */
	if (err && err != -EPIPE)
		return STATUS_FAILED;
	if (!session__expectations_hold(session))
		return STATUS_UNMET;
	return session->command.ended ? command__exit_status(&session->command) : STATUS_OK;
}

static void close_fd(int fd)
{
	if (fd >= 0)
		close(fd);
}

int session__close(struct session *session, int err)
{
	int status, close_err;

	close_err = sink__close(session->sink);
	if (!err && close_err)
		err = close_err;
	status = session__status(session, err);

	ring_buffer__free(session->ring);
	event_queue__free(session->queue);
	command__close(&session->command);
	attachment__close(&session->attachment);
	if (session->object.skeleton)
		session__close_object(session);
	run_stats__close(&session->stats);
	close_fd(session->signal_fd);
	close_fd(session->duration_fd);
	close_fd(session->report_fd);
	close_fd(session->drain_fd);
	close_fd(session->clock_fd);
	close_fd(session->command_fd);
	return status;
}

int session__trace(struct session *session, const struct tool *tool, struct common_options *options,
		   const struct session_work *work)
{
	int err = session__open(session, tool, options, work);

	if (!err)
		err = session__attach(session);
	if (!err)
		err = session__run(session);
	return session__close(session, err);
}
