/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of each event: outside what was asked, a record, or held back until its
 * end. Joins each end with the command it ends, and feeds the summary. Where records and
 * counts go is the caller's business. Knows no libbpf.
 */
#ifndef VANTAGE_EXECSNOOP_REPORTER_H
#define VANTAGE_EXECSNOOP_REPORTER_H

#include "execsnoop.h"
#include "options.h"
#include "output/sink.h"
#include "records.h"
#include "run/groups.h"
#include "run/session.h"

/* Bytes of arguments remembered for a command's exit; its exec record had them all. */
#define REPORTER_ARGS_KEPT 4096

struct commands;
struct summary;

struct reporter {
	const struct execsnoop_options *options;
	const struct record_times *times;
	struct commands *commands; /* when ends are joined with their commands */
	struct summary *summary; /* when one is asked for */
	struct groups groups; /* names of control groups */
	char *env; /* room for the variables of one event */
	size_t env_room;
	/* Where it all goes. */
	void *ctx;
	/* Writes a record that stands for one event of the kind. 0 or -errno, reported. */
	int (*record)(void *ctx, enum execsnoop_kind kind, const struct record *record);
	void (*count)(void *ctx, enum execsnoop_kind kind, enum event_fate fate);
	/* Writes a record that stands for no event. 0 or -errno, reported. */
	int (*row)(void *ctx, const struct record *record);
};

/* The caller has filled all but commands and summary. 0 or -errno, reported. */
int reporter__open(struct reporter *reporter);

/* One record of the ring, in the order of the stamps. 0 or -errno, reported. */
int reporter__event(struct reporter *reporter, const struct execsnoop_process *event);

/*
 * After the last event: what is still held back is in flight; or, where ends were lost and its
 * process is gone, lost with them.
 */
void reporter__settle(struct reporter *reporter, bool ends_lost);

/* Writes the rows of the summary. 0 or -errno, reported. */
int reporter__summarize(struct reporter *reporter);

void reporter__close(struct reporter *reporter);

#endif
