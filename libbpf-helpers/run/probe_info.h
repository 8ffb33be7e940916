/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the kernel tells of one attached program: its runs, its time, and the runs it skipped. */
#ifndef VANTAGE_RUN_PROBE_INFO_H
#define VANTAGE_RUN_PROBE_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "run/attach.h"

struct probe_info {
	uint64_t runs; /* counted while the kernel's statistics are on */
	uint64_t run_ns;
	/* Runs skipped since the program was active on that CPU already, and hits of its
	 * kprobe that never came to it. */
	uint64_t missed;
	bool missed_known; /* false where the kernel does not count one of them */
	bool can_miss; /* whether that mechanism skips runs on a kernel without the count */
};

/* Keeps what the link of a probe tells, which is gone with it. */
void probe_info__note_link(struct attached_probe *probe);

/* After the detach: fills info; what the kernel does not tell is left zero and unknown. */
void probe_info__read(const struct attached_probe *probe, struct probe_info *info);

#endif
