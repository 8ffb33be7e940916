// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "inflight.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_SECOND 1000000000ULL

/* The 22nd field of /proc/PID/stat; the 2nd, the name, is in parentheses and can hold any. */
#define STARTTIME_FIELD 22

/* Reads the name and the time of the thread's start, in clock ticks since boot. */
static bool read_stat(const char *path, char comm[16], unsigned long long *ticks)
{
	FILE *file = fopen(path, "re");
	char line[1024], *open, *close, *field;
	size_t size;

	if (!file)
		return false;
	size = fread(line, 1, sizeof(line) - 1, file);
	fclose(file);
	line[size] = '\0';
	open = strchr(line, '(');
	close = strrchr(line, ')');
	if (!open || !close || close < open)
		return false;
	*close = '\0';
	memset(comm, 0, 16);
	strncpy(comm, open + 1, 15);
	/* To the space before the field, from that before the third one. */
	field = close + 1;
	for (int i = 3; i < STARTTIME_FIELD && field; i++)
		field = strchr(field + 1, ' ');
	return field && sscanf(field, "%llu", ticks) == 1;
}

/* How much the clock that counts from boot, in which threads begin, is ahead of the monotonic one:
 * the time that the machine has slept. */
static uint64_t suspended_ns(void)
{
	struct timespec boot, monotonic;

	clock_gettime(CLOCK_MONOTONIC, &monotonic);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	return (uint64_t)(boot.tv_sec - monotonic.tv_sec) * NS_PER_SECOND +
	       (uint64_t)(boot.tv_nsec - monotonic.tv_nsec);
}

bool frame__is_open(const struct funclatency_frame *frame, const char *proc, uint64_t ended_ns,
		    struct open_call *call)
{
	uint64_t per_second = (uint64_t)sysconf(_SC_CLK_TCK);
	unsigned long long ticks;
	char path[96];

	*call = (struct open_call){
		.age_ns = ended_ns > frame->start_ns ? ended_ns - frame->start_ns : 0,
		.pid = frame->pid,
		.tid = frame->tid,
	};
	if (!frame->tid)
		return true;
	snprintf(path, sizeof(path), "%s/%u/task/%u/stat", proc, frame->pid, frame->tid);
	if (!read_stat(path, call->comm, &ticks))
		return false;
	return ticks * (NS_PER_SECOND / per_second) <= frame->start_ns + suspended_ns();
}
