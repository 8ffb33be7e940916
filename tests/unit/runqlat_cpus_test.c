// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Whether all CPUs share a cache, by what the kernel shows of them. */
#include "runqlat/cpus.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "support/scratch.h"
#include "support/test.h"

/* Puts one line into a file below the scratch folder, making the folders on its way. */
static void put(const char *name, const char *line)
{
	char path[128];

	snprintf(path, sizeof(path), "%s", name);
	for (char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(scratch__path(path), 0755) && errno != EEXIST)
			test__fatal("a folder", "errno %d", errno);
		*slash = '/';
	}
	scratch__write(name, line, strlen(line), 0644);
}

int main(void)
{
	test__check(!cpus__share_cache(scratch__path("none")), "cpus: nothing is known: no", "yes");
	put("one/online", "0\n");
	test__check(cpus__share_cache(scratch__path("one")), "cpus: there is one alone", "no");
	put("hidden/online", "0-3\n");
	test__check(!cpus__share_cache(scratch__path("hidden")), "cpus: no cache is shown: no",
		    "yes");
	put("same/online", "0-3\n");
	put("same/cpu0/cache/index0/shared_cpu_list", "0\n");
	put("same/cpu0/cache/index3/shared_cpu_list", "0-3\n");
	test__check(cpus__share_cache(scratch__path("same")), "cpus: the last level is shared",
		    "no");
	put("parts/online", "0-3\n");
	put("parts/cpu0/cache/index0/shared_cpu_list", "0\n");
	put("parts/cpu0/cache/index3/shared_cpu_list", "0-1\n");
	test__check(!cpus__share_cache(scratch__path("parts")), "cpus: each half has its own",
		    "shared");
	return test__done();
}
