// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "cgroup.h"
#include "run/groups.h"
#include "test.h"

/* Ids that no group has here, in no order. */
static const uint64_t unknown[] = { 1ULL << 60, 1ULL << 50, 1ULL << 61, 3ULL << 59, 1ULL << 50 };

int main(void)
{
	const char *mount = cgroup__mount();
	struct groups groups = {};
	size_t nr_wrong = 0;

	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		test__check(!groups__path(&groups, unknown[i]), "groups: one that is not there",
			    "it has a path");
	if (mount) {
		test__same("groups: the root", groups__path(&groups, cgroup__id(mount)), "/");
		test__check(groups__learn(&groups), "groups: all of them can be learned",
			    "it says otherwise");
		for (size_t i = 1; i < groups.nr; i++)
			nr_wrong += groups.items[i - 1].id >= groups.items[i].id;
		test__equal("groups: each once, in the order of their ids", nr_wrong, 0);
	}
	groups__free(&groups);
	test__check(!groups.nr && !groups.items, "groups: freed", "there are %zu", groups.nr);
	return test__done();
}
