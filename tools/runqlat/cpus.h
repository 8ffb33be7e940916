/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What is to be known of the machine's CPUs. Knows no libbpf. */
#ifndef VANTAGE_RUNQLAT_CPUS_H
#define VANTAGE_RUNQLAT_CPUS_H

#include <stdbool.h>

/*
 * Whether all CPUs that are online share their last cache; false when that is not known. Then a
 * wake-up is done by the CPU of the waker, also of a thread on another one, unless that one is idle
 * (ttwu_queue_cond() in kernel/sched/core.c); else it is left to the other CPU, where at
 * sched_wakeup the current task is not the waker. folder: /sys/devices/system/cpu.
 */
bool cpus__share_cache(const char *folder);

#endif
