/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What execsnoop reports: its records as tables of fields, and their values. Knows no libbpf. */
#ifndef VANTAGE_EXECSNOOP_RECORDS_H
#define VANTAGE_EXECSNOOP_RECORDS_H

#include "event.h"
#include "output/sink.h"
#include "run/clock.h"

extern const struct record_type exec_record_type;
extern const struct record_type exit_record_type;

extern const struct record_type ancestor_record_type;

/* Room for a chain of ancestors. */
struct ancestors_values {
	struct value values[EXECSNOOP_ANCESTORS_MAX][2];
	struct record records[EXECSNOOP_ANCESTORS_MAX];
	char text[EXECSNOOP_ANCESTORS_MAX * 32];
};

/* The chain as a list of records, and as text "sh(12) < cron(7)"; borrows from both. Absent when
 * it is empty. */
void ancestors__values(const struct execsnoop_ancestor *ancestors, size_t nr,
		       struct ancestors_values *values, struct value *list, struct value *text);

/* Room for the values of one record, and for what they borrow. */
struct record_values {
	struct value values[40];
	char run_text[32];
	char status_text[32];
	char cwd[CWD_PATH_MAX];
	uint64_t unreadable[EXECSNOOP_FAILED_ARGS_MAX];
	struct ancestors_values ancestors;
};

/* The record borrows from exec, cgroup and values. cgroup: the path of the event's control group,
 * or NULL. */
struct record exec__record(const struct exec_event *exec, const char *cgroup,
			   const struct record_times *times, struct record_values *values);

/* exec: what the process was running, or NULL if that exec was before the run or was lost.
 * parent: the same of its parent, for a process that never executed; or NULL. */
struct record exit__record(const struct execsnoop_exit *exit, const struct exec_event *exec,
			   const struct exec_event *parent, const char *cgroup,
			   const struct record_times *times, struct record_values *values);

/* Time since the process's last exec, or since its fork without one. */
uint64_t exit__lifetime_ns(const struct execsnoop_exit *exit, const struct exec_event *exec);

/*
 * CPU time split into user and system as the kernel's own rusage splits it: the exact run time
 * in the ratio of the sampled ones (kernel/sched/cputime.c, cputime_adjust).
 */
void cpu_time__split(uint64_t runtime_ns, uint64_t utime_ns, uint64_t stime_ns, uint64_t *user_ns,
		     uint64_t *system_ns);

/* "ENOENT"; of a number that is none of libc's, "error 512". text has room for size bytes. */
const char *error__name(int number, char *text, size_t size);

/* "SIGKILL", "SIGRTMIN+3"; text has room for size bytes. */
const char *signal__name(int number, char *text, size_t size);

#endif
