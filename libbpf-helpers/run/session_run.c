// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The part of a session from the ready byte to the account. */
#include "run/session_run.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "run/event_queue.h"
#include "run/log.h"
#include "run/session.h"
#include "run/signals.h"

/* How often the ring is drained when no wake-up came, and how long an event waits for
 * others with earlier stamps: together less than the 200 ms in which a record must be out. */
#define DRAIN_INTERVAL_NS 40000000ULL
#define ORDER_SLACK_NS 40000000ULL

/* What one drain takes before the loop looks at its signals and timers again. */
#define DRAIN_BYTES_MAX (8 << 20)

/* How long a command that was passed a signal has to end within the run. */
#define COMMAND_END_MS 500

/* What the ring's callback returns to end a drain early: not an error. */
#define DRAIN_ENOUGH (-EAGAIN)

/* The ring's callback: keeps a copy of the record until its turn. */
int session__take(void *ctx, void *data, size_t size)
{
	struct session *session = ctx;
	uint64_t time_ns = *(uint64_t *)data;
	int err = event_queue__push(session->queue, time_ns, data, size);

	if (err)
		return log_error(err, NULL, "cannot keep an event");
	if (session->work->arrived)
		session->work->arrived(session->work->ctx, data, size);
	session->last_event_ns = time_ns;
	session->batch_bytes += size;
	return session->batch_bytes >= DRAIN_BYTES_MAX ? DRAIN_ENOUGH : 0;
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

/* From a failed write on, events are only counted. */
static void session__note_output_error(struct session *session, int err)
{
	if (!err)
		return;
	session->output_err = err;
	session__settle(session, false);
}

int session__record_events(struct session *session, uint32_t kind, uint64_t nr,
			   const struct record *record)
{
	int err;

	session->unwritten[kind] += nr;
	/* After a failed write the rest is still taken, to be counted as lost. */
	if (session->output_err)
		return 0;
	err = sink__write(session->sink, record);
	if (!err && !sink__is_buffering(session->sink))
		session__settle(session, true);
	session__note_output_error(session, err);
	return err;
}

int session__record(struct session *session, uint32_t kind, const struct record *record)
{
	return session__record_events(session, kind, 1, record);
}

int session__begin_table(struct session *session, const char *const *columns)
{
	return session->output_err ? 0 : sink__begin_table(session->sink, columns);
}

void session__count(struct session *session, uint32_t kind, enum event_fate fate)
{
	struct account_terms *terms = &session->account.terms[kind];

	switch (fate) {
	case FATE_FILTERED:
		terms->filtered++;
		break;
	case FATE_RECORDED:
		session->unwritten[kind]++;
		break;
	case FATE_IN_FLIGHT:
		terms->in_flight++;
		break;
	case FATE_NO_END:
		terms->no_end++;
		break;
	}
}

static int session__flush(struct session *session)
{
	int err = session->output_err ? 0 : sink__flush(session->sink);

	/* A state is written out by session__publish(). */
	if (err || session->output_err || !sink__is_buffering(session->sink))
		session__settle(session, !err && !session->output_err);
	return err;
}

/* Writes out what the sink holds; of a state, the account of this moment is a part. */
static int session__publish(struct session *session, bool last)
{
	struct account account;
	int err;

	if (session->output_err || !sink__is_state(session->sink))
		return session__flush(session);
	err = account__read(&session->account, session->object.counters);
	if (err)
		return err;
	account = session->account;
	for (uint32_t kind = 0; kind < account.nr_kinds; kind++)
		account.terms[kind].recorded += session->unwritten[kind];
	err = account__update(&account, &session->attachment, session->sink, !last);
	if (!err)
		err = sink__publish(session->sink, last);
	if (!err && !sink__is_buffering(session->sink))
		session__settle(session, true);
	session__note_output_error(session, err);
	return err;
}

static int session__unexpected(void *ctx, const void *data, size_t size)
{
	(void)ctx;
	(void)data;
	return log_error(EPROTO, "This is a fault of the tool.",
			 "a record of %zu bytes came from the kernel, where none can come", size);
}

static int session__hand_over(struct session *session, uint64_t until_ns)
{
	const struct session_work *work = session->work;

	return event_queue__pop_until(session->queue, until_ns,
				      work->event ? work->event : session__unexpected, work->ctx);
}

/*
 * Said once, while something can still be done about it; how many it were, the account tells.
 * After a loss a drain finds much in the ring: only then the counters are read.
 */
static int session__warn_of_loss(struct session *session)
{
	uint64_t much = bpf_map__max_entries(session->object.ring) / 2;
	struct account_sum sum;
	int err;

	if (session->loss_told || session->batch_bytes < much)
		return 0;
	err = account__read(&session->account, session->object.counters);
	if (err)
		return err;
	sum = account__total(&session->account);
	if (!sum.lost[ACCOUNT_RING_FULL])
		return 0;
	session->loss_told = true;
	log_warning("Read the output faster, ask for less, or give a larger --ring-size.",
		    "events are lost: they come faster than they are taken from the ring buffer, "
		    "which is full");
	return 0;
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
	err = session__hand_over(session, until_ns);
	if (!err)
		err = session__flush(session);
	return err ? err : session__warn_of_loss(session);
}

/* Takes all that is in the ring by now; after the detach that is everything. */
int session__take_all(struct session *session)
{
	int err;

	do {
		session->batch_bytes = 0;
		err = ring_buffer__consume(session->ring);
	} while (err == DRAIN_ENOUGH);
	if (err < 0)
		return err;
	err = session__hand_over(session, UINT64_MAX);
	return err ? err : session__flush(session);
}

static int session__report(struct session *session, bool last)
{
	struct session_span span = { session->reported_ns,
				     last ? session->ended_ns : clock__now_ns(), last };
	int err;

	if (!session->work->report)
		return 0;
	session->reported_ns = span.end_ns;
	session->nr_reports++;
	err = session->work->report(session->work->ctx, &span);
	return err ? err : session__publish(session, last);
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
						      session->started_ns + options->duration.ns,
						      0);
		if (session->duration_fd < 0)
			return session->duration_fd;
	}
	if (session->work->interval_ns) {
		session->report_fd = session__timer(CLOCK_MONOTONIC, TFD_TIMER_ABSTIME,
						    session->started_ns +
							    session->work->interval_ns,
						    session->work->interval_ns);
		if (session->report_fd < 0)
			return session->report_fd;
	}
	session->drain_fd = session__timer(CLOCK_MONOTONIC, 0, DRAIN_INTERVAL_NS,
					   DRAIN_INTERVAL_NS);
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
	const int fds[] = { session->signal_fd, session->duration_fd, session->report_fd,
			    session->drain_fd,	session->clock_fd,    session->command_fd };
	int err;

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		err = session__watch(epoll_fd, fds[i], EPOLLIN);
		if (err)
			return err;
	}
	/* Edge-triggered: only the program's own wake-ups count, not that there is some data. */
	return session__watch(epoll_fd, bpf_map__fd(session->object.ring), EPOLLIN | EPOLLET);
}

/* The end of an interval. The report that ends the run is made after the detach. */
static bool session__ends_by_report(struct session *session)
{
	uint64_t expirations;

	if (read(session->report_fd, &expirations, sizeof(expirations)) < 0)
		return false;
	if (session->nr_reports + 1 == session->work->max_reports)
		return true;
	session->report_due = true;
	return false;
}

/* Whether this descriptor's event ends the run. */
static bool session__ends_by(struct session *session, int fd)
{
	uint64_t expirations;

	if (fd == session->signal_fd || fd == session->duration_fd)
		return true;
	if (fd == session->report_fd)
		return session__ends_by_report(session);
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
		if (!err && session->report_due)
			err = session__report(session, false);
		session->report_due = false;
		if (err)
			return err;
	}
}

/* A signal from a terminal reached the command already, as a member of its group. */
static void session__pass_on_signal(struct session *session)
{
	struct pollfd ended = { .fd = session->command_fd, .events = POLLIN };
	bool from_terminal;
	int signal = signals__taken(&from_terminal);

	if (!signal || from_terminal || !session->command.pid || session->command.ended)
		return;
	if (kill(session->command.pid, signal) && errno != ESRCH)
		log_error(errno, NULL, "cannot pass on signal %d to the command", signal);
	/* Most commands end by it: then their end belongs to the run, and their status is known. */
	if (poll(&ended, 1, COMMAND_END_MS) < 0 && errno != EINTR)
		log_error(errno, NULL, "cannot wait for the command");
}

/* An empty report is said, and why it can be: it must not look like "nothing is wrong". */
static void session__explain_nothing(const struct session *session)
{
	struct account_sum sum = account__total(&session->account);

	if (sum.recorded)
		return;
	if (!sum.seen)
		log_info("0 events: there were no %s in this time", session__traced(session));
	else if (sum.filtered == sum.seen)
		log_info("0 events: %" PRIu64 " were seen, and all were outside what was asked",
			 sum.seen);
	else
		log_info("0 events: %" PRIu64 " were seen, %" PRIu64 " filtered and %" PRIu64
			 " still in flight at the end; the rest was lost",
			 sum.seen, sum.filtered, sum.in_flight);
}

/* Detach, drain, last report. err: how the loop ended, after which events still have a fate. */
static int session__finish(struct session *session, int err)
{
	struct account *account = &session->account;
	int ended_err, detach_err, report_err;

	session__note_output_error(session, err);
	session->ended_ns = clock__now_ns();
	if (session->object.ended_ns)
		__atomic_store_n(session->object.ended_ns, session->ended_ns, __ATOMIC_SEQ_CST);
	ended_err = session->work->ended ? session->work->ended(session->work->ctx) : 0;
	detach_err = attach__detach(&session->attachment);
	/* On busy CPUs that takes a second and more, in which events still come. */
	if (!session->object.ended_ns)
		session->ended_ns = clock__now_ns();
	account->duration_ns = session->ended_ns - session->started_ns;
	if (ended_err || detach_err)
		return ended_err ? ended_err : detach_err;
	if (!err) {
		err = session__take_all(session);
		session__note_output_error(session, err);
	}
	if (err)
		session__take_all(session);
	report_err = session__report(session, true);
	session__note_output_error(session, report_err);
	if (!err)
		err = report_err;
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
