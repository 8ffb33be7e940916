// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/preemption.h"

#include <string.h>
#include <sys/utsname.h>

#include "run/check_item.h"

#define DEBUGFS_PATH "/sys/kernel/debug/sched/preempt"

/* The names and numbers are those of the enum in the kernel's kernel/sched/core.c, which has grown
 * at its end since 5.12. */
static const char *const modes[] = { "none", "voluntary", "full", "lazy" };

#define NR_MODES (sizeof(modes) / sizeof(modes[0]))

static bool preemption__set(struct preemption *preemption, size_t mode, const char *source)
{
	*preemption = (struct preemption){
		.mode = modes[mode],
		.source = source,
		.known = true,
		.preempts = mode >= 2,
	};
	return true;
}

/* The mode in force is the one in parentheses: "none voluntary (full)". */
static bool preemption__read_debugfs(struct preemption *preemption)
{
	char line[64], *begin;

	if (line__read(DEBUGFS_PATH, line, sizeof(line)))
		return false;
	begin = strchr(line, '(');
	if (!begin)
		return false;
	begin[strcspn(begin, ")")] = '\0';
	for (size_t i = 0; i < NR_MODES; i++)
		if (!strcmp(begin + 1, modes[i]))
			return preemption__set(preemption, i, DEBUGFS_PATH);
	return false;
}

static bool preemption__read_memory(struct preemption *preemption)
{
	unsigned long long address;
	int mode;

	if (symbol__find("preempt_dynamic_mode", &address) || !address ||
	    kernel_memory__read(address, &mode) || mode < 0 || mode >= (int)NR_MODES)
		return false;
	return preemption__set(preemption, (size_t)mode, "preempt_dynamic_mode in kernel memory");
}

void preemption__read(struct preemption *preemption)
{
	struct preemption guess = {
		.mode = "chosen at boot, and cannot be read",
		.source = "PREEMPT_DYNAMIC in /proc/version",
		.preempts = true,
	};
	struct utsname name = {};

	if (uname(&name))
		guess.source = "nothing: uname() failed";
	else if (!strstr(name.version, "PREEMPT"))
		guess = (struct preemption){ "none or voluntary",
					     "/proc/version, which has no PREEMPT", true, false };
	else if (strstr(name.version, "PREEMPT_RT"))
		guess = (struct preemption){ "full (real-time)", "/proc/version", true, true };
	else if (!strstr(name.version, "PREEMPT_DYNAMIC"))
		guess = (struct preemption){ "full or lazy", "PREEMPT in /proc/version", true,
					     true };
	else if (preemption__read_debugfs(preemption) || preemption__read_memory(preemption))
		return;
	*preemption = guess;
}
