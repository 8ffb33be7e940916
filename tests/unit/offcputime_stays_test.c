// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Rows out of what the kernel's tables hold, and what --state says. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "offcputime/settings.h"
#include "offcputime/stays.h"
#include "support/test.h"

static void add(struct stay_rows *rows, uint64_t stack, __u32 tid, uint64_t total_ns)
{
	const struct offcputime_key key = { .kernel_stack = stack, .pid = 1, .tid = tid };
	const struct offcputime_row value = {
		.total_ns = total_ns,
		.runnable_ns = total_ns / 10,
		.preempted_ns = total_ns / 5,
		.count = 2,
		.begun_before = 1,
		.longest = { {}, { .interval = 1, .ns = total_ns - 1 } },
	};

	if (stay_rows__add(rows, &key, &value, 1))
		test__fatal("rows", "no memory");
}

static void check_rows(void)
{
	const struct offcputime_open open = {
		.key = { .kernel_stack = 5, .pid = 1, .tid = 3 },
		.age_ns = 250,
		.state = OFFCPUTIME_DISK,
		.begun_before = 1,
	};
	const struct offcputime_row rest[2] = {
		{ .total_ns = 10, .count = 1, .longest = { {}, { 1, 10 } } },
		{ .total_ns = 30, .count = 2, .longest = { {}, { 1, 20 } } },
	};
	const struct offcputime_row nothing[2] = {};
	struct stay_rows rows = {};

	/* Two whose stacks were not kept are one. */
	add(&rows, STACK_NOT_KEPT, 2, 100);
	add(&rows, 5, 3, 200);
	add(&rows, STACK_NOT_KEPT, 2, 300);
	test__equal("rows: a stay that has not ended", (uint64_t)stay_rows__add_open(&rows, &open),
		    0);
	test__equal("rows: the rest", (uint64_t)stay_rows__add_rest(&rows, rest, 2, 1), 0);
	test__equal("rows: no rest", (uint64_t)stay_rows__add_rest(&rows, nothing, 2, 1), 0);
	stay_rows__merge(&rows);
	stay_rows__sort(&rows);
	if (!test__check(rows.nr == 4, "rows: one for each key", "%zu", rows.nr))
		return;
	test__check(rows.items[0].is_rest && rows.items[0].total_ns == 40 &&
			    rows.items[0].count == 3 && rows.items[0].max_ns == 20,
		    "rows: the rest of all CPUs", "%" PRIu64, rows.items[0].total_ns);
	test__check(rows.items[1].key.tid == 3 && !rows.items[1].in_flight &&
			    rows.items[1].total_ns == 200 && rows.items[1].max_ns == 199,
		    "rows: what has ended", "%" PRIu64, rows.items[1].total_ns);
	test__check(rows.items[2].in_flight && rows.items[2].total_ns == 250 &&
			    rows.items[2].state == OFFCPUTIME_DISK && rows.items[2].begun_before,
		    "rows: what has not stands apart", "%" PRIu64, rows.items[2].total_ns);
	test__check(rows.items[3].total_ns == 400 && rows.items[3].count == 4 &&
			    rows.items[3].runnable_ns == 40 && rows.items[3].preempted_ns == 80 &&
			    rows.items[3].begun_before == 2 && rows.items[3].max_ns == 299,
		    "rows: those of one key together, the most time last", "%" PRIu64,
		    rows.items[3].total_ns);
	stay_rows__free(&rows);
}

/* What came since the reading before. */
static void check_intervals(void)
{
	struct stay_rows rows = {}, before = {};

	add(&rows, 5, 3, 100);
	add(&rows, 6, 3, 50);
	stay_rows__merge(&rows);
	test__equal("intervals: a copy", (uint64_t)stay_rows__copy(&before, &rows), 0);
	add(&rows, 5, 3, 20);
	add(&rows, 7, 3, 10);
	stay_rows__merge(&rows);
	stay_rows__subtract(&rows, &before);
	stay_rows__sort(&rows);
	test__check(rows.nr == 2 && rows.items[0].key.kernel_stack == 7 &&
			    rows.items[0].total_ns == 10 && rows.items[1].total_ns == 20 &&
			    rows.items[1].count == 2 && rows.items[1].runnable_ns == 2 &&
			    rows.items[1].begun_before == 1,
		    "intervals: what came since", "%zu rows", rows.nr);
	stay_rows__free(&rows);
	stay_rows__free(&before);
}

/* Fewer keys: what is then the same is one. */
static void check_keys(void)
{
	struct stay_rows rows = {};

	add(&rows, 5, 3, 100);
	add(&rows, 6, 3, 50);
	add(&rows, 5, 4, 7);
	stay_rows__limit(&rows, 1U << STAY_BY_STACK);
	stay_rows__merge(&rows);
	stay_rows__sort(&rows);
	test__check(rows.nr == 2 && rows.items[1].key.kernel_stack == 5 && !rows.items[1].key.tid &&
			    rows.items[1].total_ns == 107 && rows.items[1].count == 4,
		    "keys: by stack", "%zu rows", rows.nr);
	stay_rows__limit(&rows, 1U << STAY_BY_COMM);
	stay_rows__merge(&rows);
	test__check(rows.nr == 1 && rows.items[0].total_ns == 157 && rows.items[0].max_ns == 99,
		    "keys: by name", "%zu rows", rows.nr);
	stay_rows__free(&rows);
}

#define BIT(state) (1U << OFFCPUTIME_##state)

static void check_states(void)
{
	static const struct {
		const char *text;
		int err;
		uint32_t states;
		uint32_t mask;
	} cases[] = {
		{ "S", 0, BIT(SLEEPING), 0 },
		{ "D", 0, BIT(DISK) | BIT(KILLABLE), 0 },
		{ "K", 0, BIT(KILLABLE), 0 },
		{ "R,T,t", 0, BIT(RUNNABLE) | BIT(STOPPED) | BIT(TRACED), 0 },
		{ "I,P", 0, BIT(IDLE) | BIT(PARKED), 0 },
		{ "2", 0, 0, 2 },
		{ "1,2", 0, 0, 3 },
		{ "0", 0, BIT(RUNNABLE), 0 },
		{ "?", -EINVAL, 0, 0 },
		{ "X", -EINVAL, 0, 0 },
		{ "", -EINVAL, 0, 0 },
		{ "S,", -EINVAL, BIT(SLEEPING), 0 },
		{ "SD", -EINVAL, 0, 0 },
		{ "65536", -EINVAL, 0, 0 },
		{ "S,2", -EINVAL, BIT(SLEEPING), 2 },
		{ "a-very-long-word-for-a-state", -EINVAL, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct offcputime_options options = { .state = cases[i].text };
		int err = offcputime_options__check(&options, "/nonexistent");
		char check[64];

		snprintf(check, sizeof(check), "state: '%s'", cases[i].text);
		test__check(err == cases[i].err && options.states == cases[i].states &&
				    options.state_mask == cases[i].mask,
			    check, "error %d, states %x, mask %x", err, options.states,
			    options.state_mask);
	}
}

static void check_limits(void)
{
	struct offcputime_options options = {
		.min_ns = 10000000, .max_ns = 1000000000, .user_threads = true, .state = "D"
	};
	struct offcputime_options none = {};
	struct offcputime_options crossed = { .min_ns = 2, .max_ns = 1 };
	char text[256];

	test__same("limits: all", offcputime_options__limits(&options, text, sizeof(text)),
		   "stays of at least 10ms, stays of at most 1s, user threads, state D");
	test__check(!offcputime_options__limits(&none, text, sizeof(text)), "limits: none", "%s",
		    text);
	test__equal("limits: that exclude each other",
		    (uint64_t)-offcputime_options__check(&crossed, "/nonexistent"), EINVAL);
	test__equal("limits: no longest means any", offcputime_options__config(&none).max_ns,
		    UINT64_MAX);
}

int main(void)
{
	check_rows();
	check_intervals();
	check_keys();
	check_states();
	check_limits();
	return test__done();
}
