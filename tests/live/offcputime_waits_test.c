// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Threads that wait for a known time, each in another way: the time is in the report within 2 %,
 * under the right stack and in the right part of --split. A thread that is asleep all the time is
 * there, too, and so is one that is asleep at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"

#define WAIT_MS 1000

struct waiter {
	const char *name;
	void (*wait)(struct waiter *waiter); /* in the waiter's thread */
	void (*end)(struct waiter *waiter); /* what ends it, in the main thread; NULL: itself */
	const char *function; /* one of the stack has this in its name */
	pthread_t thread;
	pid_t tid;
	uint64_t begun_ns;
	uint64_t ended_ns; /* when it was let go */
};

static int pipe_fds[2], sleep_fds[2], gate_fds[2], fault_fd = -1;
static uint32_t futex_word;
static char *fault_page;
static size_t page_size;

static void wait_in_pipe(struct waiter *waiter)
{
	char byte;

	(void)waiter;
	if (read(pipe_fds[0], &byte, 1) != 1)
		test__fatal("pipe", "errno %d", errno);
}

static void end_pipe(struct waiter *waiter)
{
	(void)waiter;
	if (write(pipe_fds[1], "", 1) != 1)
		test__fatal("pipe", "errno %d", errno);
}

static void wait_in_futex(struct waiter *waiter)
{
	(void)waiter;
	while (!__atomic_load_n(&futex_word, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}

static void end_futex(struct waiter *waiter)
{
	(void)waiter;
	__atomic_store_n(&futex_word, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void wait_in_nanosleep(struct waiter *waiter)
{
	const struct timespec time = { WAIT_MS / 1000, WAIT_MS % 1000 * 1000000 };

	nanosleep(&time, NULL);
	waiter->ended_ns = waiter->begun_ns + WAIT_MS * 1000000ULL;
}

/* A page that its pager delivers late, as a slow device does. */
static void wait_in_fault(struct waiter *waiter)
{
	(void)waiter;
	if (*(volatile char *)fault_page)
		test__fatal("fault", "the page is not empty");
}

static void end_fault(struct waiter *waiter)
{
	struct uffdio_zeropage zero = {
		.range = { (uintptr_t)fault_page, page_size },
	};

	(void)waiter;
	if (ioctl(fault_fd, UFFDIO_ZEROPAGE, &zero))
		test__fatal("fault", "errno %d", errno);
}

static struct waiter waiters[] = {
	{ .name = "pipe", .wait = wait_in_pipe, .end = end_pipe, .function = "pipe_read" },
	{ .name = "futex", .wait = wait_in_futex, .end = end_futex, .function = "futex_wait" },
	{ .name = "nanosleep", .wait = wait_in_nanosleep, .function = "nanosleep" },
	{ .name = "fault", .wait = wait_in_fault, .end = end_fault, .function = "userfault" },
};

#define NR_WAITERS (sizeof(waiters) / sizeof(waiters[0]))

static bool open_fault(void)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range;

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	fault_page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	fault_fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
	if (fault_page == MAP_FAILED || fault_fd < 0 || ioctl(fault_fd, UFFDIO_API, &api))
		return false;
	range = (struct uffdio_register){
		.range = { (uintptr_t)fault_page, page_size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	return !ioctl(fault_fd, UFFDIO_REGISTER, &range);
}

static void *waiter__run(void *arg)
{
	struct waiter *waiter = arg;
	char byte;

	waiter->tid = gettid();
	if (read(gate_fds[0], &byte, 1) != 1)
		test__fatal("gate", "errno %d", errno);
	__atomic_store_n(&waiter->begun_ns, test__now_ns(), __ATOMIC_SEQ_CST);
	waiter->wait(waiter);
	/* Then it stands in a pipe until the end of the run. */
	if (read(sleep_fds[0], &byte, 1) != 1)
		test__fatal("end", "errno %d", errno);
	return NULL;
}

static pid_t sleeper_tid;

static void *sleep_all_the_time(void *arg)
{
	struct pollfd pollfd = { .fd = sleep_fds[0], .events = 0 };

	(void)arg;
	__atomic_store_n(&sleeper_tid, gettid(), __ATOMIC_SEQ_CST);
	poll(&pollfd, 1, -1);
	return NULL;
}

static bool has_function(const struct json_value *record, const char *function)
{
	const struct json_value *stack = json__get(record, "kernel_stack");

	for (size_t i = 0; stack && stack->kind == JSON_ARRAY && i < stack->array.nr; i++) {
		const char *symbol = json__string(json__get(&stack->array.items[i], "symbol"));

		if (symbol && strstr(symbol, function))
			return true;
	}
	return false;
}

/* Time of the thread's rows with this function; only: in this part. */
static uint64_t time_of(const struct records *records, pid_t tid, const char *function,
			const char *part)
{
	const struct json_value *record;
	uint64_t time_ns = 0;
	size_t index = 0;

	while ((record = records__next(records, "stack", 0, &index)))
		if (record__number(record, "tid") == tid &&
		    (!function || has_function(record, function)))
			time_ns += (uint64_t)record__number(record, part);
	return time_ns;
}

static void check_near(const char *name, uint64_t seen, uint64_t expected, uint64_t percent)
{
	uint64_t distance = seen > expected ? seen - expected : expected - seen;

	test__check(distance * 100 <= expected * percent, name,
		    "expected %" PRIu64 " ns, saw %" PRIu64, expected, seen);
}

static void check_waiters(const struct records *records)
{
	char check[96];

	for (size_t i = 0; i < NR_WAITERS; i++) {
		const struct waiter *waiter = &waiters[i];

		snprintf(check, sizeof(check), "%s: blocked so long at that place", waiter->name);
		check_near(check, time_of(records, waiter->tid, waiter->function, "blocked_ns"),
			   waiter->ended_ns - waiter->begun_ns, 2);
	}
}

/* The thread's stay that had not ended. */
static const struct json_value *open_of(const struct records *records, pid_t tid)
{
	const struct json_value *record;
	size_t index = 0;

	while ((record = records__next(records, "in_flight", 0, &index)))
		if (record__number(record, "tid") == tid)
			return record;
	return NULL;
}

static void check_sleepers(const struct records *records, uint64_t stopped_ns)
{
	const struct json_value *record = open_of(records, sleeper_tid);
	uint64_t duration_ns = (uint64_t)record__number(records__account(records), "duration_ns");
	const struct json_value *before = json__get(record, "begun_before");

	test__check(record && before && before->kind == JSON_BOOL && before->truth &&
			    has_function(record, "poll") &&
			    json__is(json__get(record, "state"), "S"),
		    "asleep all the time: it is there, with its stack", "%s", record ? "so" : "no");
	check_near("asleep all the time: as long as the run",
		   (uint64_t)record__number(record, "age_ns"), duration_ns, 1);
	for (size_t i = 0; i < NR_WAITERS; i++) {
		char check[96];

		record = open_of(records, waiters[i].tid);
		snprintf(check, sizeof(check), "%s: asleep at the end, with its stack",
			 waiters[i].name);
		test__check(record && has_function(record, "pipe_read"), check, "%s",
			    record ? "so" : "no");
		if (waiters[i].end)
			continue;
		snprintf(check, sizeof(check), "%s: asleep at the end, for so long",
			 waiters[i].name);
		check_near(check, (uint64_t)record__number(record, "age_ns"),
			   stopped_ns - waiters[i].ended_ns, 10);
	}
}

/* Two loops on one CPU: each waits while the other one runs, and could run all the time. */
static volatile int loop_stop;
static pid_t loop_tid;

static void *loop(void *arg)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(0, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
	if (arg)
		loop_tid = gettid();
	while (!loop_stop)
		;
	return NULL;
}

static uint64_t thread_ns(pthread_t thread)
{
	struct timespec used;
	clockid_t clock;

	if (pthread_getcpuclockid(thread, &clock) || clock_gettime(clock, &used))
		test__fatal("clock", "errno %d", errno);
	return (uint64_t)used.tv_sec * 1000000000ULL + (uint64_t)used.tv_nsec;
}

static void check_loops(void)
{
	struct records records;
	pthread_t threads[2];
	struct tool_run run;
	uint64_t cpu_ns, duration_ns;
	char tid[16];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, loop, i ? NULL : &loop_tid))
			test__fatal("loops", "errno %d", errno);
	while (!*(volatile pid_t *)&loop_tid)
		test__sleep_ms(1);
	snprintf(tid, sizeof(tid), "%d", loop_tid);
	tool_run__trace(&run, NULL, ARGS("-j", "--split", "-t", tid));
	cpu_ns = thread_ns(threads[0]);
	test__sleep_ms(2 * WAIT_MS);
	tool_run__signal(&run, SIGINT);
	cpu_ns = thread_ns(threads[0]) - cpu_ns;
	tool_run__wait(&run);
	loop_stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	records__load(&records, &run);
	duration_ns = (uint64_t)record__number(records__account(&records), "duration_ns");
	check_near("loop: preempted for as long as it did not run",
		   time_of(&records, loop_tid, NULL, "preempted_ns") +
			   (open_of(&records, loop_tid) ?
				    (uint64_t)record__number(open_of(&records, loop_tid),
							     "preempted_ns") :
				    0),
		   duration_ns - cpu_ns, test__is_emulated() ? 10 : 3);
	check_account(records__account(&records), "loop");
	records__free(&records);
	tool_run__free(&run);
}

static void start_waiters(void)
{
	pthread_t sleeper;

	if (pipe(pipe_fds) || pipe(sleep_fds) || pipe(gate_fds))
		test__fatal("pipes", "errno %d", errno);
	if (!open_fault())
		test__fatal("fault", "errno %d", errno);
	for (size_t i = 0; i < NR_WAITERS; i++)
		if (pthread_create(&waiters[i].thread, NULL, waiter__run, &waiters[i]))
			test__fatal("threads", "errno %d", errno);
	if (pthread_create(&sleeper, NULL, sleep_all_the_time, NULL))
		test__fatal("threads", "errno %d", errno);
	pthread_detach(sleeper);
	test__sleep_ms(test__patience_ms(50));
}

static void check_waits(void)
{
	struct records records;
	struct tool_run run;
	uint64_t stopped_ns;
	char pid[16];

	start_waiters();
	snprintf(pid, sizeof(pid), "%d", getpid());
	tool_run__trace(&run, NULL, ARGS("-j", "--split", "-p", pid));
	if (write(gate_fds[1], "1234", NR_WAITERS) != NR_WAITERS)
		test__fatal("gate", "errno %d", errno);
	for (size_t i = 0; i < NR_WAITERS; i++)
		while (!__atomic_load_n(&waiters[i].begun_ns, __ATOMIC_SEQ_CST))
			test__sleep_ms(1);
	test__sleep_ms(WAIT_MS);
	for (size_t i = 0; i < NR_WAITERS; i++) {
		if (!waiters[i].end)
			continue;
		waiters[i].ended_ns = test__now_ns();
		waiters[i].end(&waiters[i]);
	}
	test__sleep_ms(WAIT_MS);
	stopped_ns = test__now_ns();
	test__equal("waits: the tool ends well", (uint64_t)tool_run__stop(&run), 0);
	records__load(&records, &run);
	check_waiters(&records);
	check_sleepers(&records, stopped_ns);
	check_account(records__account(&records), "waits");
	if (write(sleep_fds[1], "1234", NR_WAITERS) != NR_WAITERS)
		test__fatal("end", "errno %d", errno);
	for (size_t i = 0; i < NR_WAITERS; i++)
		pthread_join(waiters[i].thread, NULL);
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	check_waits();
	check_loops();
	return test__done();
}
