// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/session.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <linux/capability.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "output/json.h"
#include "run/check.h"
#include "run/event_queue.h"
#include "run/explain.h"
#include "run/libbpf_log.h"
#include "run/log.h"
#include "run/number.h"
#include "run/privileges.h"
#include "run/signals.h"

/* How often the ring is drained when no wake-up came, and how long an event waits for
 * others with earlier stamps: together less than the 200 ms in which a record must be out. */
#define DRAIN_INTERVAL_NS 40000000ULL
#define ORDER_SLACK_NS 40000000ULL

/* A wake-up comes when the ring holds this much. */
#define RING_WAKEUP_BYTES (256 << 10)

/* What one drain takes before the loop looks at its signals and timers again. */
#define DRAIN_BYTES_MAX (8 << 20)

/* What the ring's callback returns to end a drain early: not an error. */
#define DRAIN_ENOUGH (-EAGAIN)

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
	return task_filter__configure(&options->filter, session->object.filter,
				      session->object.filter_values);
}

static void session__close_object(void *ctx)
{
	struct session *session = ctx;

	session->work->close(session->work->ctx);
	session->object = (struct session_object){};
}

/* Follow the descendants of a process (bpf/filter.bpf.h). */
static const struct attach_program tree_programs[] = {
	{ "filter_tree_free", "sched_process_free", ATTACH_TP_BTF },
	{ "filter_tree_fork", "task_newtask", ATTACH_TP_BTF },
};

#define NR_TREE_PROGRAMS (sizeof(tree_programs) / sizeof(tree_programs[0]))

static bool session__wants(void *ctx, const struct attach_program *program)
{
	struct session *session = ctx;

	if (program >= tree_programs && program < tree_programs + NR_TREE_PROGRAMS)
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

/* The ring's callback: keeps a copy of the record until its turn. */
static int session__take(void *ctx, void *data, size_t size)
{
	struct session *session = ctx;
	uint64_t time_ns = *(uint64_t *)data;
	int err = event_queue__push(session->queue, time_ns, data, size);

	if (err)
		return log_error(err, NULL, "cannot keep an event");
	session->last_event_ns = time_ns;
	session->batch_bytes += size;
	return session->batch_bytes >= DRAIN_BYTES_MAX ? DRAIN_ENOUGH : 0;
}

static int session__prepare_output(struct session *session)
{
	const struct common_options *options = session->options;
	struct sink_config config = {
		.face = options__face(options),
		.path = options->output,
		.rows = session->tool->rows,
		.columns = session->work->columns,
		.quote_words = session->work->quote_words,
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

/* Says on stderr what is traced, by which mechanism, with which limits, and how to stop. */
static void session__announce(const struct session *session)
{
	const struct attachment *attachment = &session->attachment;
	char limits[512], duration[32], probes[512] = "";
	size_t used = 0;

	for (size_t i = 0; i < attachment->nr_probes && used < sizeof(probes); i++)
		used += snprintf(probes + used, sizeof(probes) - used, "%s%s", i ? ", " : "",
				 attachment->probes[i].program->target);
	task_filter__describe(&session->options->filter, limits, sizeof(limits));
	if (session->options->duration.given)
		number__format_time(session->options->duration.ns, duration);
	log_info("tracing %s (%s by %s)%s%s%s%s; Ctrl-C ends it", session->tool->traced, probes,
		 attach_mechanism_names[attachment->mechanism], *limits ? ", only " : "", limits,
		 session->options->duration.given ? ", for " : "",
		 session->options->duration.given ? duration : "");
}

/* Opens the gate: from here on everything is counted. */
static int session__start(struct session *session)
{
	const struct common_options *options = session->options;
	int err;

	clock__set(&session->clock);
	session->started_ns = clock__now_ns();
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
	int err;

	err = attach__first(session->tool->ways, session->tool->nr_ways, session->options->attach,
			    &object, &session->attachment);
	if (err)
		return err;
	if (session->options->explain) {
		explain__print(session->tool->options.tool, session->tool->question,
			       session->options, &session->attachment, session->object.ring);
		return SESSION_DONE;
	}
	err = session__prepare_output(session);
	if (err)
		return err;
	if (session->options->stats)
		run_stats__start(&session->stats, *session->object.skeleton->obj);
	err = privileges__drop(bpf_map__fd(session->object.counters), keep_for_command,
			       session->command.pid ? 1 : 0);
	if (err)
		return err;
	return session__start(session);
}

/* Counts what lay in the sink's buffer as written, or as lost when writing failed. */
static void session__settle(struct session *session, bool written)
{
	for (uint32_t kind = 0; kind < session->account.nr_kinds; kind++) {
		struct account_terms *terms = &session->account.terms[kind];

		if (written)
			terms->recorded += session->unwritten[kind];
		else
			terms->output_closed += session->unwritten[kind];
		session->unwritten[kind] = 0;
	}
}

int session__record(struct session *session, uint32_t kind, const struct record *record)
{
	session->unwritten[kind]++;
	/* After a failed write the rest is still taken, to be counted as lost. */
	return session->output_err ? 0 : sink__write(session->sink, record);
}

/* From a failed write on, events are only counted. */
static void session__note_output_error(struct session *session, int err)
{
	if (!err)
		return;
	session->output_err = err;
	session__settle(session, false);
}

static int session__flush(struct session *session)
{
	int err = session->output_err ? 0 : sink__flush(session->sink);

	session__settle(session, !err && !session->output_err);
	return err;
}

/* Takes what the ring holds and hands over, in order, what no earlier event can overtake. */
static int session__drain(struct session *session)
{
	uint64_t until_ns = clock__now_ns() - ORDER_SLACK_NS;
	int err;

	session->batch_bytes = 0;
	err = ring_buffer__consume(session->ring);
	if (err < 0 && err != DRAIN_ENOUGH)
		return err;
	if (err == DRAIN_ENOUGH)
		until_ns = session->last_event_ns - ORDER_SLACK_NS;
	err = event_queue__pop_until(session->queue, until_ns, session->work->event,
				     session->work->ctx);
	return err ? err : session__flush(session);
}

/* After the detach: everything that was reserved is in the ring by now. */
static int session__drain_all(struct session *session)
{
	int err;

	do {
		session->batch_bytes = 0;
		err = ring_buffer__consume(session->ring);
	} while (err == DRAIN_ENOUGH);
	if (err < 0)
		return err;
	err = event_queue__pop_until(session->queue, UINT64_MAX, session->work->event,
				     session->work->ctx);
	return err ? err : session__flush(session);
}

static int session__watch(int epoll_fd, int fd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.fd = fd };

	if (fd < 0)
		return 0;
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event))
		return log_error(errno, NULL, "cannot watch a descriptor");
	return 0;
}

static int session__timer(clockid_t clock, int flags, uint64_t first_ns, uint64_t interval_ns)
{
	struct itimerspec spec = {
		.it_value = { first_ns / 1000000000, first_ns % 1000000000 },
		.it_interval = { interval_ns / 1000000000, interval_ns % 1000000000 },
	};
	int fd = timerfd_create(clock, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0)
		return log_error(errno, NULL, "cannot make a timer");
	if (timerfd_settime(fd, flags, &spec, NULL)) {
		close(fd);
		return log_error(errno, NULL, "cannot set a timer");
	}
	return fd;
}

/* A timer that never expires, but whose reading fails when the wall clock is set. */
static int session__clock_timer(void)
{
	return session__timer(CLOCK_REALTIME, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET,
			      (uint64_t)INT64_MAX, 0);
}

static int session__open_timers(struct session *session)
{
	const struct common_options *options = session->options;

	if (options->duration.given) {
		/* The start may lie so far back that the end is over, but 0 would mean "never". */
		session->duration_fd = session__timer(CLOCK_MONOTONIC, TFD_TIMER_ABSTIME,
						      session->started_ns + options->duration.ns, 0);
		if (session->duration_fd < 0)
			return session->duration_fd;
	}
	session->drain_fd =
		session__timer(CLOCK_MONOTONIC, 0, DRAIN_INTERVAL_NS, DRAIN_INTERVAL_NS);
	if (session->drain_fd < 0)
		return session->drain_fd;
	session->clock_fd = session__clock_timer();
	if (session->clock_fd < 0)
		return session->clock_fd;
	if (session->command.pid) {
		session->command_fd = syscall(SYS_pidfd_open, session->command.pid, 0);
		if (session->command_fd < 0)
			return log_error(errno, NULL, "cannot watch the command");
	}
	return 0;
}

static int session__watch_all(struct session *session, int epoll_fd)
{
	const int fds[] = { session->signal_fd, session->duration_fd, session->drain_fd,
			    session->clock_fd, session->command_fd };
	int err;

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		err = session__watch(epoll_fd, fds[i], EPOLLIN);
		if (err)
			return err;
	}
	/* Edge-triggered: only the program's own wake-ups count, not that there is some data. */
	return session__watch(epoll_fd, bpf_map__fd(session->object.ring), EPOLLIN | EPOLLET);
}

/* Whether this descriptor's event ends the run. */
static bool session__ends_by(struct session *session, int fd)
{
	uint64_t expirations;

	if (fd == session->signal_fd || fd == session->duration_fd)
		return true;
	if (fd == session->command_fd)
		return command__reap(&session->command);
	if (fd == session->clock_fd && read(fd, &expirations, sizeof(expirations)) < 0 &&
	    errno == ECANCELED)
		clock__set(&session->clock);
	if (fd == session->drain_fd && read(fd, &expirations, sizeof(expirations)) < 0)
		log_debug("the drain timer had not expired");
	return false;
}

static int session__loop(struct session *session, int epoll_fd)
{
	struct epoll_event events[8];

	for (;;) {
		bool more = session->batch_bytes >= DRAIN_BYTES_MAX;
		int nr = epoll_wait(epoll_fd, events, 8, more ? 0 : -1);
		int err;

		if (nr < 0 && errno != EINTR)
			return log_error(errno, NULL, "cannot wait for events");
		for (int i = 0; i < nr; i++)
			if (session__ends_by(session, events[i].data.fd))
				return 0;
		err = session__drain(session);
		if (err)
			return err;
	}
}

/* A signal from a terminal reached the command already, as a member of its group. */
static void session__pass_on_signal(struct session *session)
{
	bool from_terminal;
	int signal = signals__taken(&from_terminal);

	if (!signal || from_terminal || !session->command.pid || session->command.ended)
		return;
	if (kill(session->command.pid, signal) && errno != ESRCH)
		log_error(errno, NULL, "cannot pass on signal %d to the command", signal);
}

/* An empty report is said, and why it can be: it must not look like "nothing is wrong". */
static void session__explain_nothing(const struct session *session)
{
	struct account_sum sum = account__total(&session->account);

	if (sum.recorded)
		return;
	if (!sum.seen)
		log_info("0 events: there were no %s in this time", session->tool->traced);
	else if (sum.filtered == sum.seen)
		log_info("0 events: %" PRIu64 " were seen, and all were outside what was asked",
			 sum.seen);
	else
		log_info("0 events: %" PRIu64 " were seen and %" PRIu64 " filtered; the rest was lost",
			 sum.seen, sum.filtered);
}

/* Detach, drain, last report. err: how the loop ended, after which events still have a fate. */
static int session__finish(struct session *session, int err)
{
	struct account *account = &session->account;
	int detach_err, report_err;

	session__note_output_error(session, err);
	detach_err = attach__detach(&session->attachment);
	account->duration_ns = clock__now_ns() - session->started_ns;
	if (detach_err)
		return detach_err;
	if (!err) {
		err = session__drain_all(session);
		session__note_output_error(session, err);
	}
	if (err)
		session__drain_all(session);
	if (command__reap(&session->command))
		account->command_status = command__exit_status(&session->command);
	task_filter__report_vanished(&session->options->filter);
	report_err = account__read(account, session->object.counters);
	if (report_err)
		return report_err;
	session__explain_nothing(session);
	report_err = account__report(account, &session->attachment, session->sink,
				     session->options->stats);
	if (session->options->stats)
		run_stats__report(&session->stats, &session->attachment, account->duration_ns);
	if (!err)
		err = report_err ? report_err : sink__flush(session->sink);
	return err;
}

int session__run(struct session *session)
{
	int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	int err;

	if (epoll_fd < 0)
		return log_error(errno, NULL, "cannot wait for events");
	err = session__open_timers(session);
	if (!err)
		err = session__watch_all(session, epoll_fd);
	if (!err)
		err = session__loop(session, epoll_fd);
	close(epoll_fd);
	session__pass_on_signal(session);
	return session__finish(session, err);
}

/* Whether what --expect and --strict ask for held; reported if not. */
static bool session__expectations_hold(const struct session *session)
{
	const struct common_options *options = session->options;
	const struct account *account = &session->account;
	uint64_t recorded = account->terms[0].recorded;
	bool hold = true;

	if (options->expect.given && recorded != options->expect.count) {
		log_error_because(ERANGE, "the number is not the expected one", NULL,
				  "recorded %" PRIu64 " events of kind %s, expected %" PRIu64,
				  recorded, account->kinds[0], options->expect.count);
		hold = false;
	}
	if (options->strict &&
	    account__verdict(account, &session->attachment) != VERDICT_EXACT) {
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
	close_fd(session->drain_fd);
	close_fd(session->clock_fd);
	close_fd(session->command_fd);
	return status;
}
