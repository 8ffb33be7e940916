// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The rooms of the kernel side, checked without any event. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "rooms_test.h"
#include "run/filter.h"
#include "shared/account.h"
#include "shared/filter.h"
#include "test.h"

/* Its types come from the headers above. */
#include "rooms_test.skel.h"

static int ignore_message(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

/* Loads with only that program; NULL when the kernel refuses it. */
static struct rooms_test_bpf *rooms__load(const char *program, const struct filter_config *filter,
					  __u32 ring_bytes, __u64 wakeup_bytes)
{
	struct rooms_test_bpf *skel = rooms_test_bpf__open();

	if (!skel)
		return NULL;
	bpf_program__set_autoload(bpf_object__find_program_by_name(skel->obj, program), true);
	if (filter)
		memcpy((void *)&skel->rodata->filter_config, filter, sizeof(*filter));
	skel->rodata->ring_wakeup_bytes = wakeup_bytes;
	bpf_map__set_max_entries(skel->maps.event_ring, ring_bytes);
	bpf_map__set_max_entries(skel->maps.filter_values, 8);
	if (rooms_test_bpf__load(skel)) {
		rooms_test_bpf__destroy(skel);
		return NULL;
	}
	return skel;
}

/* The test as a syscall program where the kernel has them, else as raw_tp. */
static struct rooms_test_bpf *rooms__open(const char *test, const struct filter_config *filter,
					  __u32 ring_bytes, __u64 wakeup_bytes, int *fd)
{
	static const char *const kinds[] = { "syscall", "raw_tp" };
	struct rooms_test_bpf *skel = NULL;
	char name[64];

	for (int i = 0; i < 2 && !skel; i++) {
		snprintf(name, sizeof(name), "%s_%s", test, kinds[i]);
		skel = rooms__load(name, filter, ring_bytes, wakeup_bytes);
	}
	if (skel)
		*fd = bpf_program__fd(bpf_object__find_program_by_name(skel->obj, name));
	return skel;
}

/* The program's return value, or -1 if it could not be run. */
static int rooms__run(int fd)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	return bpf_prog_test_run_opts(fd, &options) ? -1 : (int)options.retval;
}

static const char *const patterns[] = {
	"nginx", "ngin?", "*", "a*b*c", "[a-c]x*", "[!a-c]*", "*worker*", "\\*", "??", "kworker/*",
};

static const char *const words[] = {
	"nginx",
	"nginy",
	"",
	"abc",
	"aXbYc",
	"acb",
	"ax",
	"bxx",
	"dx",
	"my-worker-1",
	"*",
	"a",
	"ab",
	"kworker/0:1",
	"123456789012345",
	"a234567890123bc",
	"\xc3\xa9",
	"\xff\xfe",
};

static void test_glob(const char *pattern)
{
	struct filter_config filter = { .has_globs = 1 };
	size_t differ = 0;
	struct rooms_test_bpf *skel;
	char name[64];
	int fd = -1;

	snprintf(name, sizeof(name), "filter: both sides agree on glob %s", pattern);
	if (!test__check(!glob__add(&filter.globs, pattern), "glob compiles", "%s", pattern))
		return;
	skel = rooms__open("name", &filter, 4096, 0, &fd);
	if (!test__check(skel != NULL, "name program loads", "errno %d", errno))
		return;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		snprintf(skel->bss->rooms_test.name, ROOMS_NAME_SIZE, "%s", words[i]);
		differ += rooms__run(fd) != glob__matches(&filter.globs, words[i], ROOMS_NAME_SIZE);
	}
	test__equal(name, differ, 0);
	rooms_test_bpf__destroy(skel);
}

static void test_account(void)
{
	int nr_cpus = libbpf_num_possible_cpus(), fd = -1;
	struct account_counters *values;
	uint64_t seen = 0, filtered = 0;
	struct rooms_test_bpf *skel;
	__u32 kind = 1;

	skel = rooms__open("account", NULL, 4096, 0, &fd);
	if (!test__check(skel != NULL && nr_cpus > 0, "account program loads", "errno %d", errno))
		return;
	test__equal("account: nothing is counted before the gate opens", rooms__run(fd), 0);
	skel->bss->run_started_ns = 1;
	for (int i = 0; i < 1000; i++)
		if (rooms__run(fd) != 1)
			break;
	values = calloc(nr_cpus, sizeof(*values));
	test__check(!bpf_map__lookup_elem(skel->maps.account_counters, &kind, sizeof(kind), values,
					  nr_cpus * sizeof(*values), 0),
		    "account: the counters can be read", "errno %d", errno);
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		seen += values[cpu].seen;
		filtered += values[cpu].filtered;
	}
	test__equal("account: 1,000 runs are 1,000 seen", seen, 1000);
	test__equal("account: and 1,000 filtered", filtered, 1000);
	free(values);
	rooms_test_bpf__destroy(skel);
}

static void test_ring(void)
{
	const int nr_fitting = 16384 / (ROOMS_RECORD_SIZE + 8), nr_runs = 40;
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int epoll_fd = epoll_create1(0), fd = -1, wakeups = 0, first = -1;
	struct rooms_test_bpf *skel = rooms__open("ring", NULL, 16384, 4096, &fd);

	if (!test__check(skel != NULL, "ring program loads", "errno %d", errno))
		return;
	epoll_ctl(epoll_fd, EPOLL_CTL_ADD, bpf_map__fd(skel->maps.event_ring), &event);
	for (int i = 0; i < nr_runs; i++) {
		rooms__run(fd);
		if (epoll_wait(epoll_fd, &event, 1, 10) != 1)
			continue;
		wakeups++;
		if (first < 0)
			first = i;
	}
	test__equal("ring: what fits is reserved", skel->bss->rooms_test.reserved, nr_fitting);
	test__equal("ring: the rest is refused, and known to be", skel->bss->rooms_test.refused,
		    nr_runs - nr_fitting);
	/* The fourth record of 1,032 bytes crosses 4,096; the first look at an epoll tells of
	 * data whatever the wake-ups. */
	test__check(wakeups <= 2, "ring: one wake-up when the mark is crossed, none after",
		    "saw %d, the first after record %d", wakeups, first);
	test__check(wakeups >= 1, "ring: a wake-up comes", "saw none");
	close(epoll_fd);
	rooms_test_bpf__destroy(skel);
}

/* What the filter says of this very thread. -1: could not be asked. */
static int filter__ask(const struct filter_config *filter, const struct filter_key *keys,
		       size_t nr_keys)
{
	struct rooms_test_bpf *skel = rooms__load("passes_tp_btf", filter, 4096, 0);
	struct bpf_link *link;
	__u8 one = 1;
	int passes;

	if (!skel)
		return -1;
	for (size_t i = 0; i < nr_keys; i++)
		bpf_map__update_elem(skel->maps.filter_values, &keys[i], sizeof(keys[i]), &one,
				     sizeof(one), BPF_ANY);
	skel->bss->rooms_test.asked_tid = (__u32)gettid();
	link = bpf_program__attach(skel->progs.passes_tp_btf);
	if (!link) {
		rooms_test_bpf__destroy(skel);
		return -1;
	}
	syscall(SYS_getppid);
	passes = skel->bss->rooms_test.passes;
	bpf_link__destroy(link);
	rooms_test_bpf__destroy(skel);
	return passes;
}

static void test_filter_kind(__u32 kind, uint64_t own, const char *name)
{
	struct filter_key keys[] = { { .kind = kind, .value = own + 1 },
				     { .kind = kind, .value = own } };
	struct filter_config filter = {};
	char text[64];

	filter.nr[kind] = 1;
	snprintf(text, sizeof(text), "filter: own %s passes", name);
	test__equal(text, filter__ask(&filter, keys, 2), 1);
	snprintf(text, sizeof(text), "filter: another %s does not", name);
	test__equal(text, filter__ask(&filter, keys, 1), 0);
}

static void test_filter(void)
{
	struct filter_config filter = {};

	if (filter__ask(&filter, NULL, 0) < 0) {
		test__skip("filter: on the running task",
			   "this kernel has no bpf_get_current_task_btf (before 5.11)");
		return;
	}
	test__equal("filter: an empty one passes all", filter__ask(&filter, NULL, 0), 1);
	test_filter_kind(FILTER_PID, getpid(), "pid");
	test_filter_kind(FILTER_TID, gettid(), "tid");
	test_filter_kind(FILTER_PPID, getppid(), "ppid");
	test_filter_kind(FILTER_UID, getuid(), "uid");
	prctl(PR_SET_NAME, "rooms-tester");
	filter.has_globs = 1;
	test__equal("glob compiles", glob__add(&filter.globs, "rooms-*er"), 0);
	test__equal("filter: own comm passes", filter__ask(&filter, NULL, 0), 1);
	prctl(PR_SET_NAME, "another");
	test__equal("filter: another comm does not", filter__ask(&filter, NULL, 0), 0);
}

static void test_stand_in(void)
{
	struct rooms_test_bpf *skel;
	int fd = -1, bits;

	skel = rooms__open("stand_in", NULL, 4096, 0, &fd);
	if (!test__check(skel != NULL, "stand-in program loads", "errno %d", errno))
		return;
	skel->bss->run_started_ns = 1;
	bits = rooms__run(fd);
	if (bits & 1)
		test__equal("stand-in: takes what its program has not marked, and once", bits,
			    1 | 1 << 1 | 1 << 2 | 1 << 4);
	else
		test__equal("stand-in: nothing to do on this kernel", bits, 1 << 2);
	rooms_test_bpf__destroy(skel);
}

int main(void)
{
	libbpf_set_print(ignore_message);
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		test_glob(patterns[i]);
	test_account();
	test_ring();
	test_filter();
	test_stand_in();
	return test__done();
}
