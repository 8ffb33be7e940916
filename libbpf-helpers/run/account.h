/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The account at the end of every run: seen = filtered + recorded + lost + in
 * flight for each kind of event, each term counted by itself, and a verdict. No
 * term is computed from the others: a sum that cannot fail proves nothing.
 */
#ifndef VANTAGE_RUN_ACCOUNT_H
#define VANTAGE_RUN_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/types.h>

#include "output/sink.h"
#include "run/attach.h"
#include "shared/account.h"

struct bpf_map;

struct account_terms {
	struct account_counters kernel; /* summed over the CPUs */
	uint64_t filtered; /* by user space */
	uint64_t recorded;
	uint64_t in_flight;
	uint64_t output_closed; /* lost in user space: could not be written out */
	uint64_t no_end; /* lost in user space: what would have ended it was lost */
	uint64_t detail_lost[ACCOUNT_NR_DETAILS]; /* of recorded events, found in user space */
};

struct account {
	const char *const *kinds; /* names, NULL-terminated; kinds[0] is what --expect is about */
	uint32_t nr_kinds;
	uint32_t asked; /* bit n: this run is about kind n */
	struct account_terms terms[ACCOUNT_NR_COUNTERS]; /* behind the kinds, of stand-ins alone */
	uint64_t begun_before;
	uint64_t duration_ns;
	int command_status; /* -1: there was no command, or it still runs */
};

enum account_verdict {
	VERDICT_EXACT, /* nothing lost, cut or missed, and all that can be missed is counted */
	VERDICT_LOWER_BOUND, /* something was lost or missed */
	VERDICT_UNKNOWN, /* nothing lost, but this kernel does not count what can be missed */
};

/* kinds: borrowed. asked: bit n is set when the run is about kinds[n]. */
void account__init(struct account *account, const char *const *kinds, uint32_t asked);

/* Reads the kernel's terms. They are final, and add up, only after detaching and draining. 0 or
 * -errno, reported. */
int account__read(struct account *account, const struct bpf_map *counters);

/* Events of all kinds. */
struct account_sum {
	uint64_t seen;
	uint64_t filtered;
	uint64_t recorded;
	uint64_t in_flight;
	uint64_t lost[ACCOUNT_NR_CAUSES];
	uint64_t detail_lost[ACCOUNT_NR_DETAILS];
};

struct account_sum account__total(const struct account *account);

/* Whether every kind's sum holds. */
bool account__balances(const struct account *account);

enum account_verdict account__verdict(const struct account *account,
				      const struct attachment *attachment);

/*
 * Writes the account as the last record and as one line on stderr. stats adds runs and
 * run time of each program. 0 or an error of the sink.
 */
int account__report(const struct account *account, const struct attachment *attachment,
		    struct sink *sink, bool stats);

/*
 * Writes the account as it is now into a sink that shows a state. running: events can still
 * come; what is in flight is then not known. 0 or an error of the sink.
 */
int account__update(const struct account *account, const struct attachment *attachment,
		    struct sink *sink, bool running);

/* The record types "start" and "account", for the schema. */
extern const struct record_type start_record_type;
extern const struct record_type account_record_type;

/* The first record: tool, version, kernel, time, probes. wall_ns: nanoseconds since the epoch. */
int account__report_start(const char *tool, uint64_t wall_ns, const struct attachment *attachment,
			  struct sink *sink);

#endif
