// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Functions of the kernel, by each way to attach that works here: as many calls as were made, also
 * nested ones, from many threads, asleep, and in interrupts on idle CPUs. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/children.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

#define LEVELS 3
#define THREADS 8
#define SLEEPERS 300
#define SLEEP_NS 400000000L
#define TICK_US 2000

static void run_threads(unsigned long nr, void *(*start)(void *), void *arg)
{
	pthread_t threads[SLEEPERS];
	pthread_attr_t attr;

	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 64 << 10))
		_exit(4);
	for (unsigned long i = 0; i < nr; i++)
		if (pthread_create(&threads[i], &attr, start, arg))
			_exit(5);
	for (unsigned long i = 0; i < nr; i++)
		pthread_join(threads[i], NULL);
}

static void *write_bytes(void *arg)
{
	const struct writer *writer = arg;
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	for (unsigned long i = 0; i < writer->calls; i++)
		if (write(fd, "x", 1) != 1)
			_exit(6);
	close(fd);
	return NULL;
}

static void write_from_threads(const struct writer *writer)
{
	run_threads(THREADS, write_bytes, (void *)writer);
}

static void *sleep_once(void *arg)
{
	const struct timespec time = { .tv_nsec = SLEEP_NS };

	nanosleep(&time, arg);
	return NULL;
}

/* Fails: there is no place left for a descriptor. */
static void open_without_place(const struct writer *writer)
{
	const struct rlimit limit = { 1, 1 };

	if (setrlimit(RLIMIT_NOFILE, &limit))
		_exit(13);
	for (unsigned long i = 0; i < writer->calls; i++)
		if (open("/", O_RDONLY) != -1 || errno != EMFILE)
			_exit(14);
}

/* Fails with an error in the place of a pointer. */
static void open_in_vain(const struct writer *writer)
{
	for (unsigned long i = 0; i < writer->calls; i++)
		if (open("/no_file_of_this_name", O_RDONLY) != -1 || errno != ENOENT)
			_exit(15);
}

static void sleep_in_threads(const struct writer *writer)
{
	(void)writer;
	run_threads(SLEEPERS, sleep_once, NULL);
}

static void *sleep_on(void *arg)
{
	const struct timespec time = { .tv_sec = 1000 };

	nanosleep(&time, arg);
	return NULL;
}

/* Until it is killed. */
static void sleep_on_in_threads(const struct writer *writer)
{
	(void)writer;
	run_threads(THREADS, sleep_on, NULL);
}

/* Epoll descriptors in epoll descriptors, at the bottom a counter: each time it is raised, the
 * callback of the one above it calls that of the next one from inside. */
static void wake_nested(const struct writer *writer)
{
	struct epoll_event event = { .events = EPOLLIN };
	int counter = eventfd(0, EFD_CLOEXEC), below = counter;
	const uint64_t one = 1;

	for (int level = 0; level < LEVELS; level++) {
		int above = epoll_create1(EPOLL_CLOEXEC);

		if (above < 0 || epoll_ctl(above, EPOLL_CTL_ADD, below, &event))
			_exit(7);
		below = above;
	}
	for (unsigned long i = 0; i < writer->calls; i++)
		if (write(counter, &one, sizeof(one)) != sizeof(one))
			_exit(8);
}

/* A timer of this process alone uses it_real_fn(), in an interrupt: here of an idle CPU. It is
 * started again when its signal is taken, so there is one call for each. */
static void take_ticks(const struct writer *writer)
{
	const struct itimerval timer = { { 0, TICK_US }, { 0, TICK_US } };
	const struct itimerval none = {};
	struct timespec at_once = {};
	sigset_t set;
	int signal;

	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	for (unsigned long i = 0; i < writer->calls; i++)
		if (sigwait(&set, &signal))
			_exit(11);
	setitimer(ITIMER_REAL, &none, NULL);
	/* One more than was asked for may have come before the timer was off. */
	if (sigtimedwait(&set, NULL, &at_once) >= 0)
		_exit(12);
}

static const struct workload_case {
	const char *name;
	const char *function;
	void (*work)(const struct writer *writer);
	unsigned long calls; /* of a writer */
	unsigned long times; /* so many calls of the function for each */
	uint64_t least_ns; /* that each call lasts */
	bool any_task; /* no filter: the task is whoever was interrupted */
} cases[] = {
	{ "plain", "vfs_write", NULL, 300000, 1, 0, false },
	{ "threads", "vfs_write", write_from_threads, 40000, THREADS, 0, false },
	{ "nested", "ep_poll_callback", wake_nested, 1000, LEVELS, 0, false },
	{ "asleep", "do_nanosleep", sleep_in_threads, 1, SLEEPERS, SLEEP_NS, false },
	{ "interrupts", "it_real_fn", take_ticks, 200, 1, 0, true },
};

/*
 * All calls are there; or as many as are missing are named. What the kernel skipped is of all
 * tasks, so that it is at least what is missing here.
 */
static void check_calls(const struct workload_case *workload, const struct records *records,
			const char *way, unsigned long made)
{
	const struct json_value *account = records__account(records);
	struct calls calls = calls__of(records, NULL);
	uint64_t no_end = (uint64_t)record__number(json__get(account, "lost"), "no_end");
	uint64_t missed = account__missed(account, "function_entry") +
			  account__missed(account, "function_call");
	uint64_t began = calls.count + no_end + (uint64_t)account__term(account, NULL, "in_flight");
	bool exact = !json__is(json__get(account, "verdict"), "lower_bound");
	char check[96];

	snprintf(check, sizeof(check), "%s by %s: the account", workload->name, way);
	check_account(account, check);
	snprintf(check, sizeof(check), "%s by %s: %lu calls, or the rest is named", workload->name,
		 way, made);
	test__check(exact && !no_end ? calls.count == made :
				       began <= made && began + missed >= made,
		    check, "%" PRIu64 ", no end %" PRIu64 ", missed %" PRIu64, calls.count, no_end,
		    missed);
	snprintf(check, sizeof(check), "%s by %s: none is too short", workload->name, way);
	test__check(!calls.count || (calls.min_ns >= workload->least_ns &&
				     calls.sum_ns >= calls.count * workload->least_ns),
		    check, "least %" PRIu64 ", sum %" PRIu64, calls.min_ns, calls.sum_ns);
}

/* Whether the tool runs; what does not work here has to be an error that offers another way. */
static bool start(struct tool_run *run, const struct workload_case *workload, const char *way,
		  const char *comm)
{
	const char *function = workload->function;
	char check[96];

	if (workload->any_task ?
		    tool_run__start(run, NULL, ARGS("-j", "--attach", way, function)) :
		    tool_run__start(run, NULL,
				    ARGS("-j", "--attach", way, "--comm", comm, function)))
		return true;
	tool_run__wait(run);
	snprintf(check, sizeof(check), "%s by %s: what does not work here is an error",
		 workload->name, way);
	/* All kernels of the guests have both. */
	test__check(run->status == 1 && strstr(run->err, "cannot ") && strstr(run->err, "sys:") &&
			    !getenv("VANTAGE_GUEST"),
		    check, "status %d: %s", run->status, run->err);
	tool_run__free(run);
	return false;
}

static void check_case(const struct workload_case *workload, const char *way)
{
	const struct writer writer = {
		.name = writer__name("call"),
		.calls = workload->calls > 1000 ? test__scaled(workload->calls) : workload->calls,
		.size = 1,
		.cpu = -1,
		.work = workload->work,
	};
	struct records records;
	struct tool_run run;

	if (!start(&run, workload, way, writer.name))
		return;
	writer__run(&writer);
	test__equal("its status", (uint64_t)tool_run__stop(&run), 0);
	records__load(&records, &run);
	check_calls(workload, &records, way, writer.calls * workload->times);
	records__free(&records);
	tool_run__free(&run);
}

/* How many threads of the process are inside nanosleep(2) or what the C library makes of it. */
static unsigned int sleepers(pid_t pid)
{
	unsigned int nr = 0;
	char path[300];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	while (folder && (entry = readdir(folder))) {
		long number;
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%d/task/%s/syscall", pid, entry->d_name);
		file = fopen(path, "re");
		if (!file)
			continue;
		nr += fscanf(file, "%ld", &number) == 1 &&
		      (number == SYS_nanosleep || number == SYS_clock_nanosleep);
		fclose(file);
	}
	if (folder)
		closedir(folder);
	return nr;
}

static pid_t start_sleepers(const struct writer *writer)
{
	pid_t pid = writer__start(writer);

	for (int i = 0; sleepers(pid) != THREADS; i++) {
		if (i == 3000)
			test__fatal("edges", "%u threads sleep, not %d", sleepers(pid), THREADS);
		test__sleep_ms(10);
	}
	return pid;
}

static void kill_sleepers(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	children__remove(pid);
}

/* A call that is inside at the start is none of the run, one that is at the end is in flight. */
static void check_edges(const char *way)
{
	const struct writer writer = { .name = writer__name("edge"),
				       .cpu = -1,
				       .work = sleep_on_in_threads };
	const struct json_value *account;
	pid_t before = start_sleepers(&writer), after;
	struct records records;
	struct tool_run run;
	char check[64];

	if (!tool_run__start(&run, NULL,
			     ARGS("-j", "--attach", way, "--comm", writer.name, "do_nanosleep"))) {
		test__check(!getenv("VANTAGE_GUEST"), "edges: a guest has functions", "%s",
			    run.err);
		kill_sleepers(before);
		tool_run__wait(&run);
		tool_run__free(&run);
		return;
	}
	kill_sleepers(before);
	after = start_sleepers(&writer);
	tool_run__stop(&run);
	kill_sleepers(after);
	records__load(&records, &run);
	account = records__account(&records);
	snprintf(check, sizeof(check), "edges by %s", way);
	check_account(account, check);
	test__equal("edges: no call came to its end", calls__of(&records, NULL).count, 0);
	test__equal("edges: calls inside at the end are in flight",
		    (uint64_t)account__term(account, NULL, "in_flight"), THREADS);
	test__equal("edges: each with a record of its own",
		    records__count(&records, "in_flight", NULL), THREADS);
	test__equal("edges: by name", records__count(&records, "in_flight", writer.name), THREADS);
	records__free(&records);
	tool_run__free(&run);
}

/* By what a function returns: a number of 32 bits, or a pointer. */
static void check_outcomes(const char *function, const char *error, const char *way,
			   void (*work)(const struct writer *writer))
{
	const struct writer writer = {
		.name = writer__name("ret"), .calls = 300, .cpu = -1, .work = work
	};
	struct records records;
	struct tool_run run;
	char check[96];
	uint64_t failed;

	if (!tool_run__start(&run, NULL,
			     ARGS("-j", "-e", "--attach", way, "--comm", writer.name, function))) {
		tool_run__wait(&run);
		snprintf(check, sizeof(check), "outcomes of %s: a guest has functions", function);
		test__check(!getenv("VANTAGE_GUEST"), check, "%s", run.err);
		tool_run__free(&run);
		return;
	}
	writer__run(&writer);
	tool_run__stop(&run);
	records__load(&records, &run);
	failed = calls__by_call(&records, NULL, error);
	snprintf(check, sizeof(check), "outcomes of %s by %s: those that fail", function, way);
	/* Before Linux 5.17 a program of fexit is not told. */
	test__check(failed == writer.calls ||
			    (!failed && strcmp(way, "kprobe") &&
			     calls__by_call(&records, NULL, "unknown") >= writer.calls),
		    check, "%" PRIu64 ", not known %" PRIu64, failed,
		    calls__by_call(&records, NULL, "unknown"));
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "auto", "fentry", "kprobe" };

	role__play(argc, argv);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++)
			check_case(&cases[i], ways[way]);
	for (size_t way = 0; way < sizeof(ways) / sizeof(ways[0]); way++) {
		check_outcomes("get_unused_fd_flags", "EMFILE", ways[way], open_without_place);
		/* Its name in Linux 7.2 is another one. */
		if (kernel__has("do_filp_open"))
			check_outcomes("do_filp_open", "ENOENT", ways[way], open_in_vain);
	}
	check_edges("fentry");
	check_edges("kprobe");
	return test__done();
}
