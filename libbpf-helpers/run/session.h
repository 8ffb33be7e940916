/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The life of one run: signals, timers, the ring and the command in one epoll;
 * it ends by detach, drain, last report, account. A loader's main reads
 *	options__parse -> session__trace
 * The session knows no tool and no skeleton.
 */
#ifndef VANTAGE_RUN_SESSION_H
#define VANTAGE_RUN_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/types.h>

#include "output/sink.h"
#include "run/account.h"
#include "run/attach.h"
#include "run/clock.h"
#include "run/command.h"
#include "run/options.h"
#include "run/stats.h"

struct bpf_map;
struct bpf_object_skeleton;
struct event_queue;
struct ring_buffer;

/* Exit statuses of every tool. */
enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1, /* could not do what was asked */
	STATUS_USAGE = 2,
	STATUS_UNMET = 3, /* ran, but --strict or --expect does not hold */
};

/* What a step returns when the run is over and all is well (--check, --explain, …). */
#define SESSION_DONE 1

/* The constant part of a tool. */
struct tool {
	struct tool_options options;
	const char *question; /* for --explain: what is traced from which event */
	bool late_heading; /* of the text face: its rows are not the main thing */
	const char *traced; /* for the line that says tracing has begun: "new processes" */
	const struct metric_names *metrics; /* where options.has_metrics, else NULL */
	const struct attach_way *ways;
	size_t nr_ways;
	const char *const *kinds; /* of events, NULL-terminated; --expect is about the first */
	const struct record_type *const *types; /* all that -j writes, NULL-terminated */
	const struct record_type *const *rows; /* those of them that are rows of the table */
};

/* What a tool's fresh BPF object shows to the library. Pointers into the object's rodata and
 * bss are valid until it is closed. */
struct session_object {
	struct bpf_object_skeleton *skeleton;
	struct filter_config *filter; /* bpf/filter.bpf.h */
	struct bpf_map *filter_values;
	struct bpf_map *filter_tree;
	struct bpf_map *ring; /* bpf/ring.bpf.h */
	__u64 *ring_wakeup_bytes;
	struct bpf_map *counters; /* bpf/account.bpf.h */
	__u64 *started_ns; /* bpf/account.bpf.h */
	__u64 *ended_ns; /* the same */
};

/* The same of a skeleton, whichever it is: every tool has these parts, from the rooms of bpf/ that
 * it includes. ended_ns is left to tools that look at run_ended_ns. */
#define SESSION_OBJECT(skel)                                                                       \
	(struct session_object)                                                                    \
	{                                                                                          \
		.skeleton = (skel)->skeleton,                                                      \
		.filter = (struct filter_config *)&(skel)->rodata->filter_config,                  \
		.filter_values = (skel)->maps.filter_values,                                       \
		.filter_tree = (skel)->maps.filter_tree, .ring = (skel)->maps.event_ring,          \
		.ring_wakeup_bytes = (__u64 *)&(skel)->rodata->ring_wakeup_bytes,                  \
		.counters = (skel)->maps.account_counters,                                         \
		.started_ns = (__u64 *)&(skel)->bss->run_started_ns,                               \
	}

/* What a report is about; times of CLOCK_MONOTONIC. */
struct session_span {
	uint64_t start_ns; /* the end of the report before, or the start of the run */
	uint64_t end_ns;
	bool last; /* all is detached, and the ring is empty */
};

/* What a tool does in a run. Each returns 0 or -errno, reported (-EPIPE: the reader has gone). */
struct session_work {
	void *ctx;
	/* Opens a fresh object, sets the tool's own configuration and fills *object. */
	int (*open)(void *ctx, struct session_object *object);
	void (*close)(void *ctx);
	/* Whether a program of a way is wanted in this run. */
	bool (*wants)(void *ctx, const struct attach_program *program);
	/* NULL, or whether a program is not about what was asked: the first line leaves it out. */
	bool (*is_aside)(void *ctx, const struct attach_program *program);
	const char *limits; /* of the tool's own, for the line that tells the filters; or NULL */
	const char *aside; /* more to say in that line; or NULL */
	const char *otherwise; /* said when no way to attach works; or NULL */
	uint32_t kinds; /* bit n: this run is about the tool's kind n of events */
	const char *const *columns; /* of the text face, NULL-terminated */
	bool quote_words;
	/* NULL, or called when all is attached, before anything is counted. */
	int (*attached)(void *ctx);
	/* NULL, or called when the run has ended and all is attached still: to see what is under
	 * way before the detach, which takes time in which that goes on. */
	int (*ended)(void *ctx);
	/* NULL, or called at the end of each interval and of the run: writes what was collected. */
	int (*report)(void *ctx, const struct session_span *span);
	bool redraw; /* each interval is shown on a cleared terminal (text face) */
	uint64_t interval_ns; /* between reports; 0: only the one at the end */
	uint64_t max_reports; /* the run ends with this one; 0: no limit */
	/* NULL for a tool that sends none, or called for each record of the ring, in the order of
	 * the stamps; data is gone after the call. */
	int (*event)(void *ctx, const void *data, size_t size);
	/* NULL, or called for each record as soon as it is taken from the ring, before its turn. */
	void (*arrived)(void *ctx, const void *data, size_t size);
};

/* What became of an event that has no record of its own. */
enum event_fate {
	FATE_FILTERED,
	FATE_RECORDED, /* it is in the next record that is written, or in the report */
	FATE_IN_FLIGHT,
	FATE_NO_END, /* lost: see ACCOUNT_NO_END */
};

struct session {
	const struct tool *tool;
	struct common_options *options; /* their filter is resolved by the session */
	const struct session_work *work;
	struct session_object object;
	struct attachment attachment;
	struct account account;
	struct clock_base clock;
	struct command command;
	struct sink *sink;
	struct ring_buffer *ring;
	struct event_queue *queue; /* what the ring gave, until its turn */
	struct run_stats stats;
	uint64_t unwritten[ACCOUNT_KINDS_MAX]; /* records that still lie in the sink's buffer */
	int output_err; /* once a write failed: events are only counted from then on */
	uint64_t started_ns; /* monotonic: when all was attached */
	uint64_t reported_ns; /* monotonic: the end of the last report */
	uint64_t ended_ns; /* monotonic: when events were no longer counted */
	uint64_t nr_reports;
	bool report_due; /* an interval has ended */
	uint64_t last_event_ns; /* stamp of the last record taken from the ring */
	uint64_t batch_bytes; /* taken from the ring in this drain */
	bool loss_told; /* that the ring was full */
	int signal_fd;
	int duration_fd; /* timer, or -1 */
	int report_fd; /* timer: the ends of the intervals, or -1 */
	int drain_fd; /* timer: drains the ring when no wake-up came */
	int clock_fd; /* timer: cancelled when the wall clock is set */
	int command_fd; /* readable when the command ends, or -1 */
};

/* A whole run: opens, attaches, runs, and closes whatever came of it. The exit status. */
int session__trace(struct session *session, const struct tool *tool, struct common_options *options,
		   const struct session_work *work);

/* Prepares a run: answers --json-schema and --check, resolves filters, forks the command.
 * 0, SESSION_DONE, or -errno, reported. */
int session__open(struct session *session, const struct tool *tool, struct common_options *options,
		  const struct session_work *work);

/* Loads, attaches, opens the sink, gives up privileges, opens the gate, lets the command go
 * and says that all is ready. 0, SESSION_DONE (--explain), or -errno, reported. */
int session__attach(struct session *session);

/* Handles events until a signal, the duration, the command's end or a closed pipe; then
 * detaches, drains and reports the account. 0 or -errno, reported. */
int session__run(struct session *session);

/* Frees everything and gives the exit status for err, what the last step returned. */
int session__close(struct session *session, int err);

/* Writes a record of an event and counts it as recorded. kind: index into tool->kinds. */
int session__record(struct session *session, uint32_t kind, const struct record *record);

/* Takes what the ring holds now and hands all of it over, also what came just now. For a report,
 * after which events of its interval would be late. 0 or -errno, reported. */
int session__take_all(struct session *session);

/* Writes a record that stands for nr events, or for none (0). */
int session__record_events(struct session *session, uint32_t kind, uint64_t nr,
			   const struct record *record);
/* What is written from now on stands in a table with these columns (as session_work has them). */
int session__begin_table(struct session *session, const char *const *columns);

/* What this run traces, in words. */
const char *session__traced(const struct session *session);

/* Counts an event that has no record of its own. */
void session__count(struct session *session, uint32_t kind, enum event_fate fate);

#endif
