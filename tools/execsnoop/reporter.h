/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What becomes of each event: outside what was asked, or a record. Joins each end with the
 * command it ends. Where records and counts go is the caller's business. Knows no libbpf.
 */
#ifndef VANTAGE_EXECSNOOP_REPORTER_H
#define VANTAGE_EXECSNOOP_REPORTER_H

#include "execsnoop.h"
#include "options.h"
#include "output/sink.h"
#include "records.h"
#include "run/session.h"

/* Bytes of arguments remembered for a command's exit; its exec record had them all. */
#define REPORTER_ARGS_KEPT 4096

struct commands;

struct reporter {
	const struct execsnoop_options *options;
	const struct record_times *times;
	struct commands *commands; /* when ends are joined with their commands */
	/* Where it all goes; each returns 0 or -errno, reported. */
	void *ctx;
	int (*record)(void *ctx, enum execsnoop_kind kind, const struct record *record);
	void (*count)(void *ctx, enum execsnoop_kind kind, enum event_fate fate);
};

/* Whether ends of processes have to be traced, for whatever reason. */
bool execsnoop_options__need_ends(const struct execsnoop_options *options);

/* The caller has filled all but commands. 0 or -errno, reported. */
int reporter__open(struct reporter *reporter);

/* One record of the ring, in the order of the stamps. 0 or -errno, reported. */
int reporter__event(struct reporter *reporter, const struct execsnoop_process *event);

void reporter__close(struct reporter *reporter);

#endif
