// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "role.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "handing.h"
#include "scratch.h"
#include "test.h"

#define WORDS_MAX 8
#define THREADS_MAX 64

/* The exit status of a role that cannot be played, which no test expects. */
#define FAILED 99

struct role {
	const char *name;
	void (*play)(char **words);
};

static pthread_barrier_t barrier;

static unsigned long number(const char *word)
{
	return word ? strtoul(word, NULL, 10) : 0;
}

/* Ends this thread alone, with a status, as the bare system call does. */
_Noreturn static void end_thread(long status)
{
	syscall(SYS_exit, status);
	__builtin_unreachable();
}

static void start_thread(void *(*run)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run, argument))
		_exit(FAILED);
}

static void write_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		_exit(FAILED);
	close(fd);
}

static void play_true(char **words)
{
	(void)words;
}

static void play_exit(char **words)
{
	_exit((int)number(words[1]));
}

static void play_signal(char **words)
{
	const struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	raise((int)number(words[1]));
	_exit(FAILED);
}

static void play_abort(char **words)
{
	struct rlimit limit;

	(void)words;
	getrlimit(RLIMIT_CORE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_CORE, &limit);
	abort();
}

static void play_sleep(char **words)
{
	test__sleep_ms(number(words[1]));
}

/* Sleeps by the bare system call: what is in libc may keep no frame pointer. */
#define WITH_FRAME_POINTER __attribute__((noinline, optimize("no-omit-frame-pointer")))

static WITH_FRAME_POINTER long chain_leaf(const struct timespec *time)
{
	long result;

	/* A function that calls none would do without it. */
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(SYS_nanosleep), "D"(time), "S"(NULL)
			 : "rcx", "r11", "memory");
	return result;
}

/* What follows a call keeps it from being a jump. */
static WITH_FRAME_POINTER long chain_middle(const struct timespec *time)
{
	long result = chain_leaf(time);

	__asm__ volatile("" ::: "memory");
	return result;
}

static WITH_FRAME_POINTER long chain_outer(const struct timespec *time)
{
	long result = chain_middle(time);

	__asm__ volatile("" ::: "memory");
	return result;
}

static void play_chain(char **words)
{
	const unsigned long ms = number(words[1]);
	const struct timespec time = { (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 };

	if (chain_outer(&time))
		_exit(FAILED);
}

/* Depth of the stacks of play_stacks(): two functions at each level tell 2^DEPTH stacks apart. */
#define DEPTH 16

static WITH_FRAME_POINTER long stacks_left(unsigned long number, int depth);
static WITH_FRAME_POINTER long stacks_right(unsigned long number, int depth);

static WITH_FRAME_POINTER long stacks_below(unsigned long number, int depth)
{
	const struct timespec time = { 0, 50000 };
	long result;

	if (depth == DEPTH)
		result = chain_leaf(&time);
	else if (number >> depth & 1)
		result = stacks_left(number, depth + 1);
	else
		result = stacks_right(number, depth + 1);
	__asm__ volatile("" ::: "memory");
	return result;
}

static WITH_FRAME_POINTER long stacks_left(unsigned long number, int depth)
{
	long result = stacks_below(number, depth);

	__asm__ volatile("" ::: "memory");
	return result;
}

static WITH_FRAME_POINTER long stacks_right(unsigned long number, int depth)
{
	long result = stacks_below(number, depth);

	/* Not the same code as its sister: one would stand for both. */
	__asm__ volatile("nop" ::: "memory");
	return result;
}

static void play_stacks(char **words)
{
	for (unsigned long number_left = number(words[1]); number_left; number_left--)
		if (stacks_below(number_left - 1, 0))
			_exit(FAILED);
}

static void play_hold(char **words)
{
	char byte;

	(void)words;
	while (read(0, &byte, 1) > 0)
		;
}

static uint64_t thread_cpu_ms(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000 + (uint64_t)used.tv_nsec / 1000000;
}

/* Uses CPU time of this thread, in the kernel or out of it. */
static void burn(unsigned long ms, bool in_kernel)
{
	static volatile uint64_t sink;
	/* The thread has used some before the exec. */
	const uint64_t until_ms = thread_cpu_ms() + ms + 1;

	do {
		for (int i = 0; i < 20000 && !in_kernel; i++)
			sink++;
		for (int i = 0; i < 2 && in_kernel; i++) {
			void *area = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE,
					  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

			if (area != MAP_FAILED)
				munmap(area, 1 << 20);
		}
	} while (thread_cpu_ms() < until_ms);
}

static void play_burn(char **words)
{
	burn(number(words[1]), false);
}

static void play_burn_system(char **words)
{
	burn(number(words[1]), true);
}

static void *burn_thread(void *word)
{
	burn(number(word), false);
	pthread_barrier_wait(&barrier);
	return NULL;
}

static void play_burn_threads(char **words)
{
	pthread_barrier_init(&barrier, NULL, 3);
	start_thread(burn_thread, words[1]);
	start_thread(burn_thread, words[1]);
	pthread_barrier_wait(&barrier);
	/* Both have ended, or soon will: their time counts although they are gone. */
	test__sleep_ms(20);
}

static void play_grow(char **words)
{
	size_t size = number(words[1]) * 1024;
	char *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (area == MAP_FAILED)
		_exit(FAILED);
	for (size_t at = 0; at < size; at += 4096)
		area[at] = 1;
	/* The most it had is asked for, not what it had last. */
	munmap(area, size);
}

static void *exit_later(void *argument)
{
	char **words = argument;

	test__sleep_ms(number(words[1]));
	_exit((int)number(words[2]));
}

static void play_leader_gone(char **words)
{
	start_thread(exit_later, words);
	end_thread(0);
}

static void *end_later(void *word)
{
	test__sleep_ms(100);
	end_thread((long)number(word));
}

static void play_leader_first(char **words)
{
	start_thread(end_later, words[2]);
	end_thread((long)number(words[1]));
}

/* All are awake and on their way when the last one comes: a barrier of the library would wake them
 * one after another. */
static void *end_together(void *nr)
{
	static atomic_ulong arrived;

	atomic_fetch_add(&arrived, 1);
	while (atomic_load(&arrived) < *(unsigned long *)nr)
		sched_yield();
	end_thread(0);
}

static void play_together(char **words)
{
	unsigned long nr = number(words[1]);

	for (unsigned long i = 1; i < nr; i++)
		start_thread(end_together, &nr);
	end_together(&nr);
}

static void *exec_in_thread(void *argument)
{
	char **words = argument, text[16];
	char *const argv[] = { words[2], NULL };
	char role[] = "VANTAGE_ROLE=true";
	char *const envp[] = { role, NULL };
	int size = snprintf(text, sizeof(text), "%ld", syscall(SYS_gettid));

	write_file(words[1], text, (size_t)size);
	execve(words[2], argv, envp);
	_exit(FAILED);
}

static void *wait_forever(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void play_thread_exec(char **words)
{
	start_thread(wait_forever, NULL);
	start_thread(exec_in_thread, words);
	wait_forever(NULL);
}

static void play_catch(char **words)
{
	sigset_t signals;
	int number_seen;

	sigemptyset(&signals);
	sigaddset(&signals, (int)number(words[1]));
	sigprocmask(SIG_BLOCK, &signals, NULL);
	write_file(words[2], "ready", 5);
	if (sigwait(&signals, &number_seen))
		_exit(FAILED);
	write_file(words[2], "caught", 6);
	_exit(42);
}

static void play_count(char **words)
{
	const unsigned long ms = number(words[2]);
	const struct timespec patience = { (time_t)(ms / 1000), (long)(ms % 1000 * 1000000) };
	sigset_t signals;

	/* It comes when the leader of the session ends, which is not what is counted. */
	signal(SIGHUP, SIG_IGN);
	sigemptyset(&signals);
	sigaddset(&signals, (int)number(words[1]));
	sigprocmask(SIG_BLOCK, &signals, NULL);
	write_file(words[3], "ready", 5);
	sigwaitinfo(&signals, NULL);
	do
		write_file(words[3], " caught", 7);
	while (sigtimedwait(&signals, NULL, &patience) > 0);
	write_file(words[3], " done", 5);
}

static void play_status(char **words)
{
	char link[32], line[512];
	size_t size;
	char *text = file__read("/proc/self/status", &size);

	if (!text)
		_exit(FAILED);
	write_file(words[1], text, size);
	for (int fd = 0; fd < 256; fd++) {
		int prefix = snprintf(line, sizeof(line), "fd %d: ", fd);
		ssize_t length;

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		length = readlink(link, line + prefix, sizeof(line) - (size_t)prefix - 1);
		if (length < 0)
			continue;
		line[prefix + length] = '\n';
		write_file(words[1], line, (size_t)(prefix + length) + 1);
	}
}

static void play_agent(char **words)
{
	char path[512], text[16];
	int size = snprintf(text, sizeof(text), "%d", getpid());

	(void)words;
	snprintf(path, sizeof(path), "%s.pid", (const char *)getauxval(AT_EXECFN));
	write_file(path, text, (size_t)size);
}

static void play_spawn(char **words)
{
	char *const argv[] = { words[2], NULL };
	char role[] = "VANTAGE_ROLE=true";
	char *const envp[] = { role, NULL };

	for (unsigned long i = number(words[1]); i; i--) {
		pid_t pid;

		if (posix_spawn(&pid, words[2], NULL, NULL, argv, envp) ||
		    waitpid(pid, NULL, 0) != pid)
			_exit(FAILED);
	}
}

static void play_hand(char **words)
{
	unsigned long times = number(words[1]);
	char text[32];
	cpu_set_t set;
	uint64_t ns;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	if (!times || sched_setaffinity(0, sizeof(set), &set))
		_exit(FAILED);
	handing__once();
	ns = test__now_ns();
	for (unsigned long i = times; i; i--)
		handing__once();
	ns = test__now_ns() - ns;
	write_file(words[2], text,
		   (size_t)snprintf(text, sizeof(text), "%.1f\n", (double)ns / 2 / (double)times));
}

static void *nap_forever(void *unused)
{
	for (;;)
		test__sleep_ms(500);
	return unused;
}

static void play_nappers(char **words)
{
	pthread_attr_t attr;
	pthread_t thread;

	/* Small stacks, for thousands. */
	if (pthread_attr_init(&attr) || pthread_attr_setstacksize(&attr, 65536))
		_exit(FAILED);
	for (unsigned long i = number(words[1]); i; i--)
		if (pthread_create(&thread, &attr, nap_forever, NULL))
			_exit(FAILED);
	test__sleep_ms(number(words[2]));
}

static void play_nest(char **words)
{
	unsigned long depth = number(words[1]);
	char *const argv[] = { words[2], NULL };
	char role[600];
	char *const envp[] = { role, NULL };
	cpu_set_t set;
	pid_t pid;

	CPU_ZERO(&set);
	CPU_SET(depth % (unsigned long)sysconf(_SC_NPROCESSORS_ONLN), &set);
	/* Where that is refused, it runs where it is. */
	sched_setaffinity(0, sizeof(set), &set);
	if (!depth)
		return;
	snprintf(role, sizeof(role), "VANTAGE_ROLE=nest %lu %s", depth - 1, words[2]);
	if (posix_spawn(&pid, words[2], NULL, NULL, argv, envp) || waitpid(pid, NULL, 0) != pid)
		_exit(FAILED);
}

static const struct role roles[] = {
	{ "true", play_true },
	{ "exit", play_exit },
	{ "signal", play_signal },
	{ "abort", play_abort },
	{ "sleep", play_sleep },
	{ "chain", play_chain },
	{ "stacks", play_stacks },
	{ "hold", play_hold },
	{ "burn", play_burn },
	{ "burn-system", play_burn_system },
	{ "burn-threads", play_burn_threads },
	{ "grow", play_grow },
	{ "leader-gone", play_leader_gone },
	{ "leader-first", play_leader_first },
	{ "together", play_together },
	{ "thread-exec", play_thread_exec },
	{ "catch", play_catch },
	{ "count", play_count },
	{ "status", play_status },
	{ "agent", play_agent },
	{ "spawn", play_spawn },
	{ "hand", play_hand },
	{ "nappers", play_nappers },
	{ "nest", play_nest },
};

/* The two roles that are about the arguments themselves. */
static void play_arguments(const char *name, char **words, int argc, char **argv)
{
	if (!strcmp(name, "argc"))
		_exit(argc);
	if (strcmp(name, "argv") != 0)
		return;
	write_file(words[1], "", 0);
	for (int i = 0; i < argc; i++)
		write_file(words[1], argv[i], strlen(argv[i]) + 1);
	_exit(0);
}

void role__play(int argc, char **argv)
{
	const char *given = getenv("VANTAGE_ROLE");
	const char *path = (const char *)getauxval(AT_EXECFN);
	char *words[WORDS_MAX + 1] = { NULL };
	size_t nr = 0;

	if (given) {
		char *copy = strdup(given);

		for (char *word = copy ? strtok(copy, " ") : NULL; word && nr < WORDS_MAX;
		     word = strtok(NULL, " "))
			words[nr++] = word;
	} else if (path) {
		words[nr++] = strdup(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
		for (int i = 1; i < argc && nr < WORDS_MAX; i++)
			words[nr++] = argv[i];
	}
	if (!words[0])
		return;
	play_arguments(words[0], words, argc, argv);
	for (size_t i = 0; i < sizeof(roles) / sizeof(*roles); i++) {
		if (strcmp(roles[i].name, words[0]) != 0)
			continue;
		roles[i].play(words);
		_exit(0);
	}
	if (given)
		_exit(FAILED);
}
