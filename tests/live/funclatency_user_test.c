// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Functions of user programs: as many calls as were made, also nested ones and from many threads,
 * in all processes or one, by C++ and Rust names, below another root, and of libraries. */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/calls.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"
#include "support/writer.h"

#define DEPTH 50
#define THREADS 8
#define NAP_NS 1000000L
#define CALL_WHEN_TOLD "call-when-told"
#define CALLS_WHEN_TOLD 250

static volatile unsigned long sink;

static void nap(void)
{
	const struct timespec time = { .tv_nsec = NAP_NS };

	nanosleep(&time, NULL);
}

/* The functions that are timed; the compiler must neither inline nor merge them. */
unsigned long timed_plain(unsigned long value);
unsigned long timed_nested(unsigned long depth);

__attribute__((noinline, noclone)) unsigned long timed_plain(unsigned long value)
{
	sink = value;
	return sink + 1;
}

__attribute__((noinline, noclone)) unsigned long timed_nested(unsigned long depth)
{
	unsigned long below;

	nap();
	below = depth > 1 ? timed_nested(depth - 1) : 0;
	sink = below;
	return below + 1;
}

/* Named as compilers name methods: fancy::Widget::draw(int), and draw::Shape::area of Rust. */
unsigned long cxx_method(unsigned long value) __asm__("_ZN5fancy6Widget4drawEi");
unsigned long rust_method(unsigned long value) __asm__("_ZN4draw5Shape4area17h0123456789abcdefE");

__attribute__((noinline, noclone)) unsigned long cxx_method(unsigned long value)
{
	sink = value;
	return sink + 2;
}

__attribute__((noinline, noclone)) unsigned long rust_method(unsigned long value)
{
	sink = value;
	return sink + 3;
}

static void call_plain(const struct writer *writer)
{
	for (unsigned long i = 0; i < writer->calls; i++)
		timed_plain(i);
}

static void call_nested(const struct writer *writer)
{
	for (unsigned long i = 0; i < writer->calls; i++)
		if (timed_nested(DEPTH) != DEPTH)
			_exit(4);
}

static void call_methods(const struct writer *writer)
{
	for (unsigned long i = 0; i < writer->calls; i++) {
		cxx_method(i);
		rust_method(i);
		rust_method(i);
	}
}

static void *call_in_thread(void *arg)
{
	call_plain(arg);
	return NULL;
}

static void call_from_threads(const struct writer *writer)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, call_in_thread, (void *)writer))
			_exit(5);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static const char *own_target(const char *function)
{
	static char texts[4][PATH_MAX + 128];
	static int next;
	char path[PATH_MAX], *text = texts[next++ % 4];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (size < 0)
		test__fatal("path", "%s", strerror(errno));
	path[size] = '\0';
	snprintf(text, sizeof(texts[0]), "%s:%s", path, function);
	return text;
}

/*
 * No other process runs this program's file, so nothing is filtered. A kernel that preempts its
 * programs (7.2) can skip one for another thread: then the rest is named, and missing tells how
 * much it is at most.
 */
static struct calls trace(const char *name, const struct writer *writer, const char *function,
			  uint64_t *missing)
{
	const struct json_value *account;
	struct records records;
	struct tool_run run;
	struct calls calls;

	tool_run__trace(&run, NULL, ARGS("-j", own_target(function)));
	writer__run(writer);
	test__equal("its status", (uint64_t)tool_run__stop(&run), 0);
	records__load(&records, &run);
	account = records__account(&records);
	*missing = account__missed(account, "user_call") + account__missed(account, "user_return");
	if (*missing)
		check_account(account, name);
	else
		check_exact(account, name);
	calls = calls__of(&records, NULL);
	records__free(&records);
	tool_run__free(&run);
	return calls;
}

static void check_count(const char *name, const struct writer *writer, const char *function,
			uint64_t made)
{
	uint64_t missing, count = trace(name, writer, function, &missing).count;
	char check[96];

	snprintf(check, sizeof(check), "%s: all calls, or the rest is named", name);
	test__check(count <= made && count + missing >= made, check,
		    "%" PRIu64 " of %" PRIu64 ", %" PRIu64 " missed", count, made, missing);
}

static void check_counts(void)
{
	const struct writer plain = { .name = writer__name("user"),
				      .calls = test__scaled(50000),
				      .cpu = -1,
				      .work = call_plain };
	const struct writer threads = { .name = writer__name("user"),
					.calls = test__scaled(5000),
					.cpu = -1,
					.work = call_from_threads };
	const struct writer nested = {
		.name = writer__name("user"), .calls = 3, .cpu = -1, .work = call_nested
	};
	struct calls calls;
	uint64_t missing;

	check_count("plain", &plain, "timed_plain", plain.calls);
	check_count("threads", &threads, "timed_plain", THREADS * threads.calls);
	calls = trace("nested", &nested, "timed_nested", &missing);
	test__equal("nested: all calls", calls.count, nested.calls * DEPTH);
	/* From 1 to 50 naps: the sum is that of 1275 in each turn. */
	test__check(calls.max_ns >= DEPTH * (uint64_t)NAP_NS && calls.min_ns < calls.max_ns / 10 &&
			    calls.sum_ns >= nested.calls * DEPTH * (DEPTH + 1) / 2 * NAP_NS,
		    "nested: each has its own time", "from %" PRIu64 " to %" PRIu64 ", %" PRIu64,
		    calls.min_ns, calls.max_ns, calls.sum_ns);
}

static void check_names(void)
{
	const struct writer writer = {
		.name = writer__name("user"), .calls = 700, .cpu = -1, .work = call_methods
	};
	struct tool_run run;

	check_count("C++ by a glob", &writer, "fancy::Widget::dr*", 700);
	check_count("C++ as it is written", &writer, "fancy::Widget::draw(int)", 700);
	check_count("C++ as the file has it", &writer, "_ZN5fancy6Widget4drawEi", 700);
	check_count("Rust by a glob", &writer, "draw::Shape::*", 1400);

	test__equal("several: status",
		    (uint64_t)tool_run__once(&run, NULL, ARGS(own_target("*::*"))), 1);
	test__check(strstr(run.err, "several functions") && strstr(run.err, "_ZN"),
		    "several: they are named", "%s", run.err);
	tool_run__free(&run);
	test__equal("none: status",
		    (uint64_t)tool_run__once(&run, NULL, ARGS(own_target("no_such"))), 1);
	test__check(!!strstr(run.err, "none of that name"), "none: it is said", "%s", run.err);
	tool_run__free(&run);
}

/* One process is meant: its own program, and no other that runs the same. */
static void check_pid(void)
{
	const struct writer writer = {
		.name = writer__name("user"), .calls = 400, .cpu = -1, .work = call_plain
	};
	const char *target = ":timed_plain";
	struct records records;
	struct tool_run run;
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", getpid());
	tool_run__trace(&run, NULL, ARGS("-j", "-p", pid, target));
	writer__run(&writer);
	for (unsigned long i = 0; i < 123; i++)
		timed_plain(i);
	tool_run__stop(&run);
	records__load(&records, &run);
	check_exact(records__account(&records), "one process");
	test__equal("one process: its calls", calls__of(&records, NULL).count, 123);
	test__equal("one process: the other's are filtered",
		    (uint64_t)account__term(records__account(&records), NULL, "filtered"), 400);
	records__free(&records);
	tool_run__free(&run);
}

/* What this program does in another root: stops, and then calls. */
static int call_when_told(unsigned long calls)
{
	raise(SIGSTOP);
	for (unsigned long i = 0; i < calls; i++)
		timed_plain(i);
	return 0;
}

/* The name is the folder: what the process is called comes from its program. */
static void run_below_root(const struct writer *writer)
{
	if (chroot(writer->name) || chdir("/"))
		_exit(6);
	execl("/program", CALL_WHEN_TOLD, (char *)NULL);
	_exit(7);
}

/* A process whose root is another folder, in which its program lies. */
static void check_root(void)
{
	char folder[] = "/tmp/funclatency_user_test.XXXXXX", path[64], text[16];
	struct writer writer = { .name = folder, .cpu = -1, .work = run_below_root };
	struct records records;
	struct tool_run run;
	int status;
	pid_t pid;

	if (!mkdtemp(folder))
		test__fatal("folder", "%s", strerror(errno));
	snprintf(path, sizeof(path), "%s/program", folder);
	if (link(workload__own_program("root"), path))
		test__fatal("program", "%s", strerror(errno));
	pid = writer__start(&writer);
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		test__fatal("root", "the program did not stop: %#x", status);
	snprintf(text, sizeof(text), "%d", pid);
	tool_run__trace(&run, NULL, ARGS("-j", "-p", text, "/program:timed_plain"));
	kill(pid, SIGCONT);
	writer__wait(pid);
	test__equal("root: status", (uint64_t)tool_run__stop(&run), 0);
	records__load(&records, &run);
	check_exact(records__account(&records), "root");
	test__equal("root: the calls of the program below it", calls__of(&records, NULL).count,
		    CALLS_WHEN_TOLD);
	records__free(&records);
	tool_run__free(&run);
	unlink(path);
	rmdir(folder);
}

/* A library by its name, in all processes that use it; where there is a program that does. */
static void check_library(void)
{
	struct records records;
	struct tool_run run;

	if (access("/bin/sleep", X_OK) || access("/etc/ld.so.cache", R_OK)) {
		test__check(!!getenv("VANTAGE_GUEST"), "library: there is one", "there is none");
		return;
	}
	tool_run__start(&run, NULL,
			ARGS("-j", "c:nanosleep", "--", "/bin/sh", "-c",
			     "sleep 0.01; sleep 0.01; sleep 0.01"));
	tool_run__wait(&run);
	test__equal("library: status", (uint64_t)run.status, 0);
	records__load(&records, &run);
	check_exact(records__account(&records), "library");
	test__equal("library: a call of each process", calls__of(&records, NULL).count, 3);
	test__check(calls__of(&records, NULL).min_ns >= 10000000, "library: as long as it slept",
		    "%" PRIu64, calls__of(&records, NULL).min_ns);
	records__free(&records);
	tool_run__free(&run);
	test__equal("indirect: status", (uint64_t)tool_run__once(&run, NULL, ARGS("c:memcpy")), 1);
	test__check(!!strstr(run.err, "indirect function"), "indirect: it is said", "%s", run.err);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	if (!strcmp(argv[0], CALL_WHEN_TOLD))
		return call_when_told(CALLS_WHEN_TOLD);
	role__play(argc, argv);
	check_counts();
	check_names();
	check_pid();
	check_root();
	check_library();
	return test__done();
}
