// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "syscalls.h"

#include <fnmatch.h>
#include <string.h>

struct syscall {
	const char *name;
	short numbers[FUNCLATENCY_NR_ABIS]; /* -1: none */
};

#define CALL(call, number, compat)                                                                 \
	{                                                                                          \
		.name = #call, .numbers = { number, compat }                                       \
	}
static const struct syscall syscalls[] = {
#include "syscall_table.h"
};

#define NR_SYSCALLS (sizeof(syscalls) / sizeof(syscalls[0]))

static const char *const without_ends[] = { "exit", "exit_group", NULL };
static const char *const forks[] = { "clone", "clone3", "fork", "vfork", NULL };

static bool is_among(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

size_t syscalls__ask(const char *glob, bool *without_end,
		     __u8 asked[FUNCLATENCY_NR_ABIS][FUNCLATENCY_NR_SYSCALLS])
{
	size_t nr = 0;

	*without_end = false;
	for (size_t i = 0; i < NR_SYSCALLS; i++) {
		const struct syscall *call = &syscalls[i];

		if (fnmatch(glob, call->name, 0))
			continue;
		if (is_among(call->name, without_ends)) {
			*without_end = true;
			continue;
		}
		nr++;
		for (int abi = 0; abi < FUNCLATENCY_NR_ABIS; abi++)
			if (call->numbers[abi] >= 0)
				asked[abi][call->numbers[abi]] = is_among(call->name, forks) ?
									 FUNCLATENCY_SYSCALL_FORKS :
									 FUNCLATENCY_SYSCALL_ASKED;
	}
	*without_end = *without_end && !nr;
	return nr;
}

size_t syscalls__count(const __u8 asked[FUNCLATENCY_NR_ABIS][FUNCLATENCY_NR_SYSCALLS])
{
	size_t nr = 0;

	for (size_t i = 0; i < NR_SYSCALLS; i++) {
		bool is_asked = false;

		for (int abi = 0; abi < FUNCLATENCY_NR_ABIS; abi++)
			is_asked = is_asked || (syscalls[i].numbers[abi] >= 0 &&
						asked[abi][syscalls[i].numbers[abi]]);
		nr += is_asked;
	}
	return nr;
}

void syscalls__offer(struct near_names *near)
{
	for (size_t i = 0; i < NR_SYSCALLS; i++)
		near_names__offer(near, syscalls[i].name);
}

const char *syscalls__name(__u32 abi, __u32 number)
{
	for (size_t i = 0; i < NR_SYSCALLS && abi < FUNCLATENCY_NR_ABIS; i++)
		if (syscalls[i].numbers[abi] >= 0 && (__u32)syscalls[i].numbers[abi] == number)
			return syscalls[i].name;
	return NULL;
}

const char *syscalls__of_function(const char *function)
{
	/* A longer one before what it begins with. */
	static const char *const prefixes[] = { "__x64_sys_", "__ia32_sys_", "__se_sys_",
						"__do_sys_",  "do_sys_",     "ksys_",
						"vfs_",	      "sys_",	     "do_" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		size_t length = strlen(prefixes[i]);

		if (strncmp(function, prefixes[i], length))
			continue;
		for (size_t n = 0; n < NR_SYSCALLS; n++)
			if (!strcmp(function + length, syscalls[n].name))
				return syscalls[n].name;
		return NULL;
	}
	return NULL;
}
