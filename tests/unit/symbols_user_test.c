// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Names of real processes: this one and its children. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "children.h"
#include "run/log.h"
#include "scratch.h"
#include "symbols/symbolizer.h"
#include "test.h"

static struct symbolizer *symbolizer;

static struct symbol look_up(pid_t pid, uint64_t address)
{
	const struct symbolizer_process process = { .pid = pid };
	struct symbol symbol;

	symbolizer__user(symbolizer, &process, address, &symbol);
	return symbol;
}

static void check_reason(const char *name, pid_t pid, uint64_t address, enum symbol_reason reason)
{
	struct symbol symbol = look_up(pid, address);

	test__check(symbol.reason == reason && (reason == SYMBOL_NAMED || !symbol.name), name,
		    "expected %s, saw %s (%s)", symbol_reason__name(reason),
		    symbol_reason__name(symbol.reason), symbol.name ? symbol.name : "no name");
}

static void check_name(const char *name, pid_t pid, uint64_t address, const char *expected)
{
	struct symbol symbol = look_up(pid, address);

	if (!symbol.name)
		test__check(false, name, "expected %s, saw %s", expected,
			    symbol_reason__sentence(symbol.reason));
	else
		test__same(name, symbol.name, expected);
}

/* Starts a process that stays until it is killed and has done prepare() before this returns. */
static void *shared_place;

static void test_own(void)
{
	struct symbol symbol = look_up(getpid(), (uintptr_t)test_own + 1);
	char stack;

	test__same("a function of this program", symbol.name, "test_own");
	test__equal("its offset", symbol.offset, 1);
	check_name("a function of libc", getpid(), (uintptr_t)getpid, "getpid");
	check_reason("the stack is not code", getpid(), (uintptr_t)&stack, SYMBOL_NOT_CODE);
	check_reason("address 1 is not mapped", getpid(), 1, SYMBOL_UNMAPPED);
}

static void test_vdso(void)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	bool found = false;

	for (uint64_t at = base; base && at < base + 8192 && !found; at += 16) {
		struct symbol symbol = look_up(getpid(), at);

		found = symbol.name && strstr(symbol.name, "clock_gettime");
	}
	test__check(found || !base, "the vDSO has names", "none is clock_gettime");
}

static void test_exited(void)
{
	struct symbolizer_counts before, after;
	pid_t pid = children__start(NULL);
	const struct symbolizer_process process = { .pid = pid };

	test__equal("a process is remembered", -symbolizer__remember(symbolizer, &process), 0);
	children__end(pid);
	check_name("it has ended: named", pid, (uintptr_t)test_exited, "test_exited");
	pid = children__start(NULL);
	children__end(pid);
	symbolizer__counts(symbolizer, &before);
	check_reason("it ended before", pid, (uintptr_t)test_exited, SYMBOL_EXITED_EARLY);
	symbolizer__counts(symbolizer, &after);
	test__equal("it is counted", after.exited_early - before.exited_early, 1);
}

/* In clock ticks since the boot, as the kernel rounds it. */
static uint64_t start_ticks(pid_t pid)
{
	unsigned long long ticks = 0;
	char path[32], *text, *field;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	text = file__read(path, NULL);
	field = text ? strrchr(text, ')') : NULL;
	if (field)
		sscanf(field,
		       ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
		       "%*d %*d %llu",
		       &ticks);
	free(text);
	return ticks;
}

static void test_reused(void)
{
	uint64_t tick_ns = 1000000000ULL / sysconf(_SC_CLK_TCK);
	struct symbolizer_process process = { .pid = getpid() };
	struct symbol symbol;

	process.start_ns = start_ticks(getpid()) * tick_ns + 5;
	symbolizer__user(symbolizer, &process, (uintptr_t)test_reused, &symbol);
	test__same("the right start time", symbol.name, "test_reused");
	process.start_ns += 2 * tick_ns;
	symbolizer__user(symbolizer, &process, (uintptr_t)test_reused, &symbol);
	test__check(symbol.reason == SYMBOL_PID_REUSED && !symbol.name, "another start time",
		    "saw %s", symbol_reason__name(symbol.reason));
}

static int mapped_fd;

static void map_file(void)
{
	if (mmap(shared_place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, mapped_fd,
		 0) == MAP_FAILED)
		_exit(1);
}

/* A process that has a file of these bytes mapped, which is deleted then. */
static void check_file(const char *name, const void *bytes, size_t size, enum symbol_reason reason)
{
	const char *path = scratch__write("mapped", bytes, size, 0755);
	pid_t pid;

	mapped_fd = open(path, O_RDONLY | O_CLOEXEC);
	pid = children__start(map_file);
	unlink(path);
	check_reason(name, pid, (uintptr_t)shared_place + 16, reason);
	children__end(pid);
	close(mapped_fd);
}

static void test_files(void)
{
	char bytes[4096] = "#!/bin/sh\n";

	check_file("a script is no ELF file", bytes, sizeof(bytes), SYMBOL_FILE_NOT_ELF);
	memcpy(bytes, "\177ELF\2\1\1", 7);
	memset(bytes + 16, 0xff, 64);
	check_file("a crafted ELF file is broken", bytes, sizeof(bytes), SYMBOL_FILE_BROKEN);
	memset(bytes + 16, 0, 64);
	check_file("an empty ELF file has no symbols", bytes, sizeof(bytes), SYMBOL_NO_SYMBOLS);
}

static void test_deleted(void)
{
	const char *path = scratch__copy("/proc/self/exe", "copy");
	pid_t pid;

	mapped_fd = open(path, O_RDONLY | O_CLOEXEC);
	pid = children__start(map_file);
	unlink(path);
	check_reason("a deleted file is read by its mapping", pid, (uintptr_t)shared_place + 64,
		     SYMBOL_NOT_IN_SYMBOLS);
	children__end(pid);
	close(mapped_fd);
}

static void write_perf_map(void)
{
	char path[64], line[128];
	int fd;

	if (mmap(shared_place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		_exit(1);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	snprintf(line, sizeof(line), "%lx 10 old\n%lx 10 LazyCompile:~f a b.js:1\nbad line\n",
		 (unsigned long)shared_place, (unsigned long)shared_place);
	if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		_exit(1);
}

static void map_anonymous(void)
{
	if (mmap(shared_place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		_exit(1);
}

static void fifo_perf_map(void)
{
	char path[64];

	map_anonymous();
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	if (mkfifo(path, 0600))
		_exit(1);
}

static void remove_perf_map(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", pid);
	unlink(path);
}

static void test_generated(void)
{
	uint64_t place = (uintptr_t)shared_place;
	pid_t pid = children__start(map_anonymous);

	check_reason("generated code without a perf map", pid, place, SYMBOL_ANONYMOUS);
	children__end(pid);
	pid = children__start(write_perf_map);
	check_name("generated code: the later line", pid, place + 3, "LazyCompile:~f a b.js:1");
	check_reason("generated code that is not in it", pid, place + 16, SYMBOL_NOT_IN_PERF_MAP);
	children__end(pid);
	remove_perf_map(pid);
	check_name("it is kept after the end", pid, place + 3, "LazyCompile:~f a b.js:1");
	pid = children__start(fifo_perf_map);
	check_reason("a FIFO is not waited for", pid, place, SYMBOL_ANONYMOUS);
	children__end(pid);
	remove_perf_map(pid);
}

static void test_ambiguous(void)
{
	const char *path = scratch__copy("/proc/self/exe", "other");
	uint64_t place = (uintptr_t)shared_place;
	const struct symbolizer_process process = { .pid = getpid() };

	mapped_fd = open(path, O_RDONLY | O_CLOEXEC);
	map_file();
	symbolizer__remember(symbolizer, &process);
	check_reason("one file", getpid(), place + 64, SYMBOL_NOT_IN_SYMBOLS);
	close(mapped_fd);
	mapped_fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	map_file();
	symbolizer__remember(symbolizer, &process);
	check_reason("two files, one after the other", getpid(), place + 64, SYMBOL_AMBIGUOUS);
	close(mapped_fd);
	munmap(shared_place, 4096);
}

int main(void)
{
	const struct symbolizer_options options = { .user = true };

	log__init("symbols_user_test");
	shared_place = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (symbolizer__open(&symbolizer, &options))
		test__fatal("symbolizer", "cannot open it");
	test_own();
	test_vdso();
	test_exited();
	test_reused();
	test_files();
	test_deleted();
	test_generated();
	test_ambiguous();
	symbolizer__close(symbolizer);
	return test__done();
}
