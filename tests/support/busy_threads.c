// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "busy_threads.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "test.h"

enum kind { SPIN, SLEEP, YIELD, LOCK, PIPE_A, PIPE_B };

static const char *const kind_names[] = { "spin", "sleep", "yield", "lock", "pipe", "pipe" };

/* Two of each kind, but of the pipe's two ends. */
static const enum kind kinds_of[BUSY_THREADS] = { SPIN,	 SPIN, SLEEP, SLEEP,  YIELD,
						  YIELD, LOCK, LOCK,  PIPE_A, PIPE_B };

static struct busy_thread threads[BUSY_THREADS];
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

static void *busy_thread__run(void *arg)
{
	struct busy_thread *thread = arg;

	__atomic_store_n(&thread->tid, gettid(), __ATOMIC_SEQ_CST);
	wait_at(0);
	while (!stop)
		work(kinds_of[thread->number]);
	wait_at(1);
	return NULL;
}

static void open_gate(int gate)
{
	char bytes[BUSY_THREADS] = { 0 };

	if (write(gates[gate][1], bytes, sizeof(bytes)) != sizeof(bytes))
		test__fatal("gate", "errno %d", errno);
}

static void busy_thread__path(const struct busy_thread *thread, const char *file, char *path,
			      size_t size)
{
	snprintf(path, size, "/proc/self/task/%d/%s", thread->tid, file);
}

static bool busy_thread__sleeps(const struct busy_thread *thread)
{
	char path[64], line[512] = "", *end;
	FILE *file;

	busy_thread__path(thread, "stat", path, sizeof(path));
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

	for (int i = 0; i < BUSY_THREADS;) {
		if (test__now_ns() > until)
			test__fatal("threads come to rest", "thread %d does not", i);
		if (threads[i].tid && busy_thread__sleeps(&threads[i]))
			i++;
		else
			test__sleep_ms(5);
	}
	test__sleep_ms(50);
}

static struct schedstat busy_thread__read(const struct busy_thread *thread)
{
	struct schedstat figures = { 0 };
	char path[64];
	FILE *file;

	busy_thread__path(thread, "schedstat", path, sizeof(path));
	file = fopen(path, "re");
	if (!file || fscanf(file, "%" SCNu64 " %" SCNu64 " %" SCNu64, &figures.run_ns,
			    &figures.delay_ns, &figures.periods) != 3)
		test__fatal("schedstat", "cannot read %s", path);
	fclose(file);
	return figures;
}

struct busy_thread *busy_threads__start(void)
{
	stop = 0;
	for (int i = 0; i < 2; i++)
		if (pipe(pipes[i]) || pipe(gates[i]))
			test__fatal("pipes", "errno %d", errno);
	for (int i = 0; i < BUSY_THREADS; i++) {
		threads[i] = (struct busy_thread){ .kind = kind_names[kinds_of[i]], .number = i };
		if (pthread_create(&threads[i].thread, NULL, busy_thread__run, &threads[i]))
			test__fatal("threads", "errno %d", errno);
	}
	wait_for_rest();
	return threads;
}

void busy_threads__work(uint64_t ms)
{
	for (int i = 0; i < BUSY_THREADS; i++)
		threads[i].before = busy_thread__read(&threads[i]);
	open_gate(0);
	if (write(pipes[0][1], "", 1) != 1)
		test__fatal("token", "errno %d", errno);
	test__sleep_ms(ms);
	stop = 1;
	/* A token more for each end, so that none waits for it. */
	if (write(pipes[0][1], "", 1) != 1 || write(pipes[1][1], "", 1) != 1)
		test__fatal("token", "errno %d", errno);
	wait_for_rest();
	for (int i = 0; i < BUSY_THREADS; i++) {
		struct busy_thread *thread = &threads[i];
		struct schedstat after = busy_thread__read(thread);

		thread->figures = (struct schedstat){
			.run_ns = after.run_ns - thread->before.run_ns,
			.delay_ns = after.delay_ns - thread->before.delay_ns,
			.periods = after.periods - thread->before.periods,
		};
	}
}

void busy_threads__join(void)
{
	open_gate(1);
	for (int i = 0; i < BUSY_THREADS; i++)
		pthread_join(threads[i].thread, NULL);
	for (int i = 0; i < 2; i++) {
		close(pipes[i][0]);
		close(pipes[i][1]);
		close(gates[i][0]);
		close(gates[i][1]);
	}
}
