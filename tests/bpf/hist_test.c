// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Both sides of the histograms put a value into the same slot; readings add up to the whole. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "collect/hist.h"
#include "hist_test.h"
#include "output/histogram.h"
#include "test.h"

/* Its types come from the headers above. */
#include "hist_test.skel.h"

static int ignore_message(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

struct bench {
	struct hist_test_bpf *skel;
	int fd;
	struct hist_reader *reader;
};

/* As a syscall program where the kernel has them, else as raw_tp. */
static void bench__open(struct bench *bench, const struct hist_config *config, bool keyed,
			uint32_t max_keys)
{
	static const char *const programs[] = { "add_syscall", "add_raw_tp" };
	const struct hist_room room = { max_keys, 4 * max_keys };

	for (int i = 0; i < 2; i++) {
		struct hist_test_bpf *skel = hist_test_bpf__open();
		struct hist_source source;

		if (!skel)
			test__fatal("hist program opens", "errno %d", errno);
		bench->skel = skel;
		source = HIST_SOURCE(skel, keyed);
		bpf_program__set_autoload(bpf_object__find_program_by_name(skel->obj, programs[i]),
					  true);
		memcpy((void *)&skel->rodata->hist_config, config, sizeof(*config));
		hist_source__size(&source, &room, false);
		if (!hist_test_bpf__load(skel)) {
			bench->fd = bpf_program__fd(
				bpf_object__find_program_by_name(skel->obj, programs[i]));
			bench->reader = hist_reader__new(&source);
			return;
		}
		hist_test_bpf__destroy(skel);
	}
	test__fatal("hist program loads", "errno %d", errno);
}

static void bench__close(struct bench *bench)
{
	hist_reader__free(bench->reader);
	hist_test_bpf__destroy(bench->skel);
}

static int bench__add(struct bench *bench, uint64_t value)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);

	bench->skel->bss->hist_test.value = value;
	return bpf_prog_test_run_opts(bench->fd, &options) ? -1 : (int)options.retval;
}

/* Sums of what the readings gave. */
struct sums {
	size_t nr; /* readings */
	uint64_t count;
	uint64_t sum;
	uint64_t slots[HIST_SLOTS];
	uint64_t last_count;
	uint64_t unordered;
	struct hist_reading last;
};

static int sums__add(void *ctx, const struct hist_reading *reading)
{
	struct sums *sums = ctx;

	sums->nr++;
	sums->count += reading->hist.stats.count;
	sums->sum += reading->hist.stats.sum;
	for (int slot = 0; slot < HIST_SLOTS; slot++)
		sums->slots[slot] += reading->hist.slots[slot];
	sums->unordered += reading->hist.stats.count < sums->last_count;
	sums->last_count = reading->hist.stats.count;
	sums->last = *reading;
	return 0;
}

static int find_slot(const struct hist *hist)
{
	for (int slot = 0; slot < HIST_SLOTS; slot++)
		if (hist->slots[slot])
			return slot;
	return -1;
}

static void test_same_slots(const struct hist_config *config, const char *name)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	unsigned long differ = 0, wrong_sum = 0, nr = 0;
	struct bench bench;
	char check[96];

	bench__open(&bench, config, false, 1);
	for (int bit = 0; bit < 64; bit++) {
		for (int64_t off = -1; off <= 1; off++) {
			uint64_t value = (UINT64_C(1) << bit) + (uint64_t)off;

			bench__add(&bench, value);
			memset(sums, 0, sizeof(*sums));
			hist_reader__read(bench.reader, &(struct hist_view){}, sums__add, sums);
			differ += find_slot(&sums->last.hist) != (int)hist__slot(config, value);
			wrong_sum += sums->sum != value || sums->count != 1 ||
				     sums->last.hist.stats.extremes[0].min != value ||
				     sums->last.hist.stats.extremes[0].max != value;
			nr++;
		}
	}
	snprintf(check, sizeof(check), "hist: both sides use the same slot, %s", name);
	test__equal(check, differ, 0);
	snprintf(check, sizeof(check), "hist: count, sum, least and greatest of one value, %s",
		 name);
	test__equal(check, wrong_sum, 0);
	memset(sums, 0, sizeof(*sums));
	hist_reader__read(bench.reader, &(struct hist_view){ .cumulative = true }, sums__add, sums);
	snprintf(check, sizeof(check), "hist: the cumulative reading has all, %s", name);
	test__equal(check, sums->count, nr);
	bench__close(&bench);
	free(sums);
}

struct hammer {
	struct bench *bench;
	unsigned long nr;
};

static void *hammer__run(void *arg)
{
	struct hammer *hammer = arg;
	LIBBPF_OPTS(bpf_test_run_opts, options);

	for (unsigned long i = 0; i < hammer->nr; i++)
		if (bpf_prog_test_run_opts(hammer->bench->fd, &options) || options.retval != 1)
			return (void *)1;
	return NULL;
}

/* Readings while threads on all CPUs add: together they are the whole, nothing twice. */
static void test_under_load(bool keyed)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	const struct hist_config config = { .unit = 1 };
	struct hammer hammer = { .nr = test__scaled(200000) };
	const char *name = keyed ? "keyed" : "whole";
	pthread_t threads[4];
	unsigned long failed = 0;
	struct bench bench;
	char check[96];
	void *result;

	bench__open(&bench, &config, keyed, 8);
	bench.skel->bss->hist_test.keyed = keyed;
	bench.skel->bss->hist_test.value = 1000;
	hammer.bench = &bench;
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, hammer__run, &hammer))
			test__fatal("hist threads", "errno %d", errno);
	for (int i = 0; i < 60; i++) {
		test__sleep_ms(5);
		hist_reader__read(bench.reader, &(struct hist_view){}, sums__add, sums);
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &result);
		failed += result != NULL;
	}
	hist_reader__read(bench.reader, &(struct hist_view){}, sums__add, sums);
	test__equal("hist: every update ran", failed, 0);
	snprintf(check, sizeof(check), "hist: readings under load add up, %s", name);
	test__equal(check, sums->count, 4 * hammer.nr);
	snprintf(check, sizeof(check), "hist: and so do their sums, %s", name);
	test__equal(check, sums->sum, 4 * hammer.nr * 1000);
	bench__close(&bench);
	free(sums);
}

static void test_keys(void)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	const struct hist_config config = { .unit = 1 };
	unsigned long added = 0, refused = 0, wrong_sum = 0;
	struct hist_test *test;
	struct bench bench;

	bench__open(&bench, &config, true, 64);
	test = &bench.skel->bss->hist_test;
	test->keyed = 1;
	snprintf(test->key.comm, HIST_NAME_SIZE, "name");
	for (uint32_t key = 0; key < 500; key++) {
		test->key.pid = key;
		for (uint32_t i = 0; i <= key % 3; i++) {
			int result = bench__add(&bench, 100 + key);

			added += result == 1;
			refused += result == 0;
		}
	}
	hist_reader__read(bench.reader, &(struct hist_view){}, sums__add, sums);
	test__equal("hist: a full table has its keys", sums->nr, 64);
	test__check(refused > 0, "hist: what does not fit is refused", "nothing was");
	test__equal("hist: what was taken is counted", sums->count, added);
	test__equal("hist: keys come in the order of their counts", sums->unordered, 0);
	test__same("hist: a key has its name", sums->last.name, "name");
	memset(sums, 0, sizeof(*sums));
	test->key.pid = 7;
	bench__add(&bench, 100000);
	bench__add(&bench, 5);
	hist_reader__read(bench.reader, &(struct hist_view){}, sums__add, sums);
	test__equal("hist: the next reading has only the keys with new values", sums->nr, 1);
	wrong_sum += sums->last.hist.stats.extremes[0].min != 5 ||
		     sums->last.hist.stats.extremes[0].max != 100000 || sums->sum != 100005;
	test__equal("hist: and their own extremes and sum", wrong_sum, 0);
	bench__close(&bench);
	free(sums);
}

/* The keys with the largest values, though they have the fewest; all others as one. */
static uint64_t measure_sum(void *ctx, const struct hist_reading *reading)
{
	++*(unsigned long *)ctx;
	return reading->hist.stats.sum;
}

struct top_keys {
	size_t nr;
	uint32_t pids[8];
	uint64_t others, others_count, others_sum, count, sum;
};

static int top_keys__add(void *ctx, const struct hist_reading *reading)
{
	struct top_keys *top = ctx;

	if (reading->nr_others) {
		top->others = reading->nr_others;
		top->others_count = reading->hist.stats.count;
		top->others_sum = reading->hist.stats.sum;
	} else if (top->nr < 8) {
		top->pids[top->nr++] = reading->key.pid;
	}
	top->count += reading->hist.stats.count;
	top->sum += reading->hist.stats.sum;
	return 0;
}

static void test_view(void)
{
	const struct hist_config config = { .unit = 1 };
	unsigned long measured = 0;
	const struct hist_view view = { .measure = measure_sum, .ctx = &measured, .top = 2 };
	struct top_keys top = {};
	struct bench bench;

	bench__open(&bench, &config, true, 64);
	bench.skel->bss->hist_test.keyed = 1;
	for (uint32_t pid = 1; pid <= 10; pid++) {
		bench.skel->bss->hist_test.key.pid = pid;
		for (uint32_t i = pid; i <= 10; i++)
			bench__add(&bench, pid < 3 ? 1000000 : 10 * pid);
	}
	hist_reader__read(bench.reader, &view, top_keys__add, &top);
	test__check(top.nr == 2 && top.pids[0] == 2 && top.pids[1] == 1,
		    "view: the keys with the most, which come last", "%zu: %u, %u", top.nr,
		    top.pids[0], top.pids[1]);
	test__equal("view: the others are one", top.others, 8);
	test__equal("view: their count", top.others_count, 36);
	test__equal("view: their sum", top.others_sum,
		    30 * 8 + 40 * 7 + 50 * 6 + 60 * 5 + 70 * 4 + 80 * 3 + 90 * 2 + 100);
	test__equal("view: each key was measured once", measured, 10);
	top = (struct top_keys){};
	hist_reader__read(bench.reader, &(struct hist_view){ .cumulative = true, .top = 10 },
			  top_keys__add, &top);
	test__check(!top.others && top.count == 55, "view: no others where there is room",
		    "%" PRIu64 " others, count %" PRIu64, top.others, top.count);
	bench__close(&bench);
}

static void test_room(void)
{
	struct hist_room small = hist_room__for(0, HIST_BUDGET_BYTES, 2),
			 large = hist_room__for(0, HIST_BUDGET_BYTES, 512),
			 given = hist_room__for(5, HIST_BUDGET_BYTES, 2);

	test__check(small.keys >= 10000, "hist: room for 10,000 keys on 2 CPUs", "%u", small.keys);
	test__check(large.keys >= 500 && large.keys < small.keys, "hist: fewer keys on 512 CPUs",
		    "%u", large.keys);
	test__equal("hist: as many keys as asked for", given.keys, 5);
	for (int nr_cpus = 1; nr_cpus <= 8192; nr_cpus *= 2) {
		struct hist_room room = hist_room__for(0, HIST_BUDGET_BYTES, nr_cpus);
		/* Without what the kernel adds to each element. */
		uint64_t bytes = room.keys * (sizeof(struct hist_key) +
					      (uint64_t)nr_cpus * sizeof(struct hist_keyed)) +
				 room.rows *
					 (sizeof(struct hist_row_key) + sizeof(struct hist_row));

		test__check(room.keys && room.rows >= room.keys && bytes <= HIST_BUDGET_BYTES,
			    "hist: the budget holds on any number of CPUs",
			    "%" PRIu64 " bytes on %d", bytes, nr_cpus);
	}
}

int main(void)
{
	libbpf_set_print(ignore_message);
	test_same_slots(&(struct hist_config){ .unit = 1 }, "ns");
	test_same_slots(&(struct hist_config){ .unit = 1000 }, "us");
	test_same_slots(&(struct hist_config){ .unit = 1000000 }, "ms");
	test_same_slots(&(struct hist_config){ .unit = 1000, .linear_step = 7 }, "linear");
	test_under_load(false);
	test_under_load(true);
	test_keys();
	test_view();
	test_room();
	return test__done();
}
