// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * The waits of threads that spin, sleep, yield, and hand work to each other, against the
 * kernel's own figures: time and number in /proc/PID/task/TID/schedstat. The threads stand still
 * when those are read. Between a wake-up that preempts and the switch, the clock that the
 * kernel counts with stands still, which moves time from one thread's figure to another's:
 * thread by thread the times are compared by that clock, and in sum by the real one. A
 * thread that is preempted on its way to sleep waits, too, but the kernel does not count that.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"

enum kind { SPIN, SLEEP, YIELD, LOCK, PIPE_A, PIPE_B, NR_KINDS };

static const char *const kind_names[] = { "spin", "sleep", "yield", "lock", "pipe", "pipe" };

/* Two of each kind, but of the pipe's two ends. */
#define NR_THREADS 10

static const enum kind kinds_of[NR_THREADS] = { SPIN,  SPIN, SLEEP, SLEEP,  YIELD,
						YIELD, LOCK, LOCK,  PIPE_A, PIPE_B };

struct figures {
	uint64_t delay_ns;
	uint64_t periods;
	uint64_t max_ns; /* runqlat's */
};

struct worker {
	enum kind kind;
	pthread_t thread;
	pid_t tid;
	struct figures before;
	struct figures after;
};

static struct worker workers[NR_THREADS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pipes[2][2];
static int gates[2][2]; /* a byte for each thread: to begin, and to end */
static volatile int stop;

static void burn(unsigned int rounds)
{
	for (volatile unsigned int i = 0; i < rounds; i++)
		;
}

/* One turn of the pipe: takes the token and gives it back. The end is passed on. */
static void pass_token(int from, int to)
{
	char token;

	if (read(from, &token, 1) == 1 && write(to, &token, 1) != 1)
		test__fatal("pipe", "errno %d", errno);
}

static void work(enum kind kind)
{
	switch (kind) {
	case SPIN:
		burn(100000);
		break;
	case SLEEP:
		usleep(100);
		break;
	case YIELD:
		burn(1000);
		sched_yield();
		break;
	case LOCK:
		pthread_mutex_lock(&lock);
		burn(20000);
		pthread_mutex_unlock(&lock);
		burn(2000);
		break;
	case PIPE_A:
		pass_token(pipes[0][0], pipes[1][1]);
		break;
	default:
		pass_token(pipes[1][0], pipes[0][1]);
	}
}

static void wait_at(int gate)
{
	char byte;

	if (read(gates[gate][0], &byte, 1) != 1)
		test__fatal("gate", "errno %d", errno);
}

static void *worker__run(void *arg)
{
	struct worker *worker = arg;

	__atomic_store_n(&worker->tid, gettid(), __ATOMIC_SEQ_CST);
	wait_at(0);
	while (!stop)
		work(worker->kind);
	wait_at(1);
	return NULL;
}

static void open_gate(int gate)
{
	char bytes[NR_THREADS] = { 0 };

	if (write(gates[gate][1], bytes, sizeof(bytes)) != sizeof(bytes))
		test__fatal("gate", "errno %d", errno);
}

static void worker__path(const struct worker *worker, const char *file, char *path, size_t size)
{
	snprintf(path, size, "/proc/self/task/%d/%s", worker->tid, file);
}

static bool worker__sleeps(const struct worker *worker)
{
	char path[64], line[512] = "", *end;
	FILE *file;

	worker__path(worker, "stat", path, sizeof(path));
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	end = strrchr(line, ')');
	return end && end[1] && end[2] == 'S';
}

/* Waits until all threads stand at a gate. */
static void wait_for_rest(void)
{
	uint64_t until = test__now_ns() + test__patience_ms(20000) * 1000000;

	for (int i = 0; i < NR_THREADS;) {
		if (test__now_ns() > until)
			test__fatal("threads come to rest", "thread %d does not", i);
		if (workers[i].tid && worker__sleeps(&workers[i]))
			i++;
		else
			test__sleep_ms(5);
	}
	test__sleep_ms(50);
}

static struct figures worker__read(const struct worker *worker)
{
	struct figures figures = { 0 };
	char path[64];
	FILE *file;

	worker__path(worker, "schedstat", path, sizeof(path));
	file = fopen(path, "re");
	if (!file ||
	    fscanf(file, "%*u %" SCNu64 " %" SCNu64, &figures.delay_ns, &figures.periods) != 2)
		test__fatal("schedstat", "cannot read %s", path);
	fclose(file);
	return figures;
}

static bool is_emulated(void)
{
	char line[256];
	bool found = false;
	FILE *file = fopen("/proc/cpuinfo", "re");

	while (file && fgets(line, sizeof(line), file))
		found = found || strstr(line, "QEMU TCG");
	if (file)
		fclose(file);
	return found;
}

/* The sum and count of the thread's histogram. */
static struct figures tool_figures(const struct records *records, pid_t tid)
{
	struct figures figures = { 0 };
	size_t index = 0;
	const struct json_value *record;

	while ((record = records__next(records, "histogram", 0, &index))) {
		uint64_t key = 0;

		if (!json__u64(json__get(json__get(record, "key"), "tid"), &key) ||
		    key != (uint64_t)tid)
			continue;
		figures.delay_ns += (uint64_t)record__number(record, "sum_ns");
		figures.periods += (uint64_t)record__number(record, "count");
		figures.max_ns = (uint64_t)record__number(record, "max_ns");
	}
	return figures;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* An emulated CPU's clocks run apart: those of two CPUs, and the real one and the scheduler's. */
#define EMULATED_PERCENT 5

/* slack_ns: what the waits that runqlat itself says it lost can be worth. permille: allowed. */
static void check_time(const char *name, uint64_t seen, uint64_t expected, uint64_t permille,
		       uint64_t slack_ns)
{
	uint64_t allowed = expected / 1000 * permille + slack_ns;

	test__check(distance(seen, expected) <= allowed, name,
		    "the kernel says %" PRIu64 " ns, runqlat %" PRIu64 " (%.3f %%)", expected, seen,
		    expected ? 100.0 * (double)seen / (double)expected : 0);
}

/* as_schedstat: both count the same; else runqlat counts some waits more. */
static void compare(const struct records *records, bool as_schedstat)
{
	struct figures kernel = { 0 }, tool = { 0 };
	uint64_t no_start = 0;
	char check[96];

	json__u64(json__get(json__get(records__account(records), "lost"), "no_start"), &no_start);
	for (int i = 0; i < NR_THREADS; i++) {
		const struct worker *worker = &workers[i];
		struct figures own = tool_figures(records, worker->tid);
		uint64_t delay_ns = worker->after.delay_ns - worker->before.delay_ns;
		uint64_t periods = worker->after.periods - worker->before.periods;

		snprintf(check, sizeof(check), "schedstat: time of thread %d (%s)", i,
			 kind_names[worker->kind]);
		if (as_schedstat)
			check_time(check, own.delay_ns, delay_ns,
				   is_emulated() ? 10 * EMULATED_PERCENT : 5,
				   no_start * own.max_ns);
		snprintf(check, sizeof(check), "schedstat: switch-ins of thread %d (%s)", i,
			 kind_names[worker->kind]);
		test__check(own.periods + 2 + no_start >= periods &&
				    own.periods <= periods + 2 + (as_schedstat ? 0 : periods / 100),
			    check, "the kernel says %" PRIu64 ", runqlat %" PRIu64, periods,
			    own.periods);
		kernel.delay_ns += delay_ns;
		kernel.periods += periods;
		tool.delay_ns += own.delay_ns;
		tool.periods += own.periods;
	}
	check_time("schedstat: time of all", tool.delay_ns, kernel.delay_ns,
		   !is_emulated() ? 5 :
		   as_schedstat	  ? 10 :
				    10 * EMULATED_PERCENT,
		   0);
	test__check(kernel.periods > 1000, "schedstat: there were many waits", "%" PRIu64,
		    kernel.periods);
	printf("# %" PRIu64 " waits, runqlat %" PRIu64 "; %.3f %% of the time\n", kernel.periods,
	       tool.periods, 100.0 * (double)tool.delay_ns / (double)kernel.delay_ns);
}

static void start_workers(void)
{
	for (int i = 0; i < NR_THREADS; i++) {
		workers[i].kind = kinds_of[i];
		if (pthread_create(&workers[i].thread, NULL, worker__run, &workers[i]))
			test__fatal("threads", "errno %d", errno);
	}
}

static void check_account_of(const struct records *records)
{
	const struct json_value *account = records__account(records);
	int64_t seen = account__term(account, NULL, "seen");
	uint64_t no_start = 0;

	check_account(account, "schedstat");
	json__u64(json__get(json__get(account, "lost"), "no_start"), &no_start);
	test__check(no_start * 10000 <= (uint64_t)seen, "schedstat: no_start is below 0.01 %",
		    "%" PRIu64 " of %" PRId64, no_start, seen);
	printf("# no_start %" PRIu64 " of %" PRId64 "\n", no_start, seen);
}

static void run_once(const char *clock)
{
	struct records records;
	struct tool_run run;
	char pid[16];

	stop = 0;
	start_workers();
	wait_for_rest();
	snprintf(pid, sizeof(pid), "%d", getpid());
	tool_run__trace(&run, NULL, ARGS("-j", "-L", "-p", pid, "--clock", clock));
	for (int i = 0; i < NR_THREADS; i++)
		workers[i].before = worker__read(&workers[i]);
	open_gate(0);
	if (write(pipes[0][1], "", 1) != 1)
		test__fatal("token", "errno %d", errno);
	test__sleep_ms(test__is_long() ? 20000 : 4000);
	stop = 1;
	/* A token more for each end, so that none waits for it. */
	if (write(pipes[0][1], "", 1) != 1 || write(pipes[1][1], "", 1) != 1)
		test__fatal("token", "errno %d", errno);
	wait_for_rest();
	for (int i = 0; i < NR_THREADS; i++)
		workers[i].after = worker__read(&workers[i]);
	printf("# clock %s\n", clock);
	test__equal("schedstat: the tool ends well", (uint64_t)tool_run__stop(&run), 0);
	records__load(&records, &run);
	compare(&records, !strcmp(clock, "schedstat"));
	check_account_of(&records);
	open_gate(1);
	for (int i = 0; i < NR_THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		workers[i].tid = 0;
	}
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	for (int i = 0; i < 2; i++)
		if (pipe(pipes[i]) || pipe(gates[i]))
			test__fatal("pipes", "errno %d", errno);
	run_once("schedstat");
	run_once("monotonic");
	return test__done();
}
