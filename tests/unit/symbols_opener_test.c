// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the opener may and does: its privileges, other users, namespaces, other capabilities. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>

#include "children.h"
#include "run/log.h"
#include "scratch.h"
#include "symbols/opener.h"
#include "symbols/symbolizer.h"
#include "test.h"

#define PTRACE (1ULL << CAP_SYS_PTRACE)
#define RESTORE (1ULL << CAP_CHECKPOINT_RESTORE)
#define READ_SEARCH (1ULL << CAP_DAC_READ_SEARCH)

static void *place;
static int mapped_fd;

static void map_file(void)
{
	if (mmap(place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_FIXED, mapped_fd, 0) ==
	    MAP_FAILED)
		_exit(1);
}

static void become_other_user(void)
{
	map_file();
	if (setgroups(0, NULL) || setresgid(1234, 1234, 1234) || setresuid(1234, 1234, 1234))
		_exit(1);
}

static void set_capabilities(uint64_t mask)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)mask, .permitted = (uint32_t)mask },
		{ .effective = mask >> 32, .permitted = mask >> 32 },
	};

	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid(4321, 4321, 4321) || setresuid(4321, 4321, 4321) ||
	    syscall(SYS_capset, &header, data))
		_exit(200);
}

/* Why a place of a process has no name, as a user with these capabilities alone sees it. */
static void check_with(const char *name, uint64_t capabilities, pid_t pid,
		       enum symbol_reason expected)
{
	const struct symbolizer_options options = { .user = true };
	const struct symbolizer_process process = { .pid = pid };
	struct symbolizer *symbolizer;
	struct symbol symbol;
	int status = 0;
	pid_t child = fork();

	if (!child) {
		set_capabilities(capabilities);
		if (symbolizer__open(&symbolizer, &options))
			_exit(201);
		symbolizer__user(symbolizer, &process, (uintptr_t)place + 64, &symbol);
		symbolizer__close(symbolizer);
		_exit(symbol.reason);
	}
	waitpid(child, &status, 0);
	test__check(WIFEXITED(status) && WEXITSTATUS(status) == (int)expected, name,
		    "expected %s, saw status %#x (%s)", symbol_reason__name(expected), status,
		    WIFEXITED(status) && WEXITSTATUS(status) < SYMBOL_NR_REASONS ?
			    symbol_reason__name(WEXITSTATUS(status)) :
			    "none");
}

static void test_files(void)
{
	const char *path = scratch__copy("/proc/self/exe", "program");
	const uint64_t all = PTRACE | RESTORE | READ_SEARCH;
	pid_t pid;

	chmod(path, 0700);
	mapped_fd = open(path, O_RDONLY | O_CLOEXEC);
	pid = children__start(become_other_user);
	check_with("another user's process, a file of root alone", all, pid, SYMBOL_NOT_IN_SYMBOLS);
	check_with("without map_files: by its path", PTRACE | READ_SEARCH, pid,
		   SYMBOL_NOT_IN_SYMBOLS);
	check_with("without CAP_DAC_READ_SEARCH", PTRACE | RESTORE, pid, SYMBOL_FILE_NO_PERMISSION);
	check_with("without capabilities", 0, pid, SYMBOL_NO_PERMISSION);
	unlink(path);
	scratch__copy("/proc/self/exe", "program");
	check_with("replaced: read by its mapping", all, pid, SYMBOL_NOT_IN_SYMBOLS);
	check_with("replaced: not the other file", PTRACE | READ_SEARCH, pid, SYMBOL_FILE_REPLACED);
	unlink(path);
	check_with("deleted: no path leads to it", PTRACE | READ_SEARCH, pid, SYMBOL_FILE_GONE);
	check_with("deleted: read by its mapping", all, pid, SYMBOL_NOT_IN_SYMBOLS);
	children__end(pid);
	close(mapped_fd);
}

static unsigned long long status_field(pid_t pid, const char *name, int base)
{
	char path[32], *text, *field;
	unsigned long long value = ~0ULL;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	text = file__read(path, NULL);
	field = text ? strstr(text, name) : NULL;
	if (field)
		value = strtoull(field + strlen(name), NULL, base);
	free(text);
	return value;
}

static int count_descriptors(pid_t pid)
{
	char path[32];
	int nr = -2; /* . and .. */
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	folder = opendir(path);
	while (folder && readdir(folder))
		nr++;
	if (folder)
		closedir(folder);
	return nr;
}

static void test_privileges(void)
{
	struct opener_request request = { .what = OPENER_MAPS, .pid = getpid() };
	int extra = open("/dev/null", O_RDONLY), fd;
	struct opener opener;

	if (opener__start(&opener))
		test__fatal("opener", "it did not start");
	fd = opener__open(&opener, &request);
	test__check(fd >= 0, "maps of this process", "%s", strerror(-fd));
	close(fd);
	test__equal("its capabilities", status_field(opener.pid, "CapEff:", 16),
		    PTRACE | RESTORE | READ_SEARCH);
	test__equal("those it could get", status_field(opener.pid, "CapPrm:", 16),
		    PTRACE | RESTORE | READ_SEARCH);
	test__equal("its user", status_field(opener.pid, "Uid:", 10), 65534);
	test__equal("no new privileges", status_field(opener.pid, "NoNewPrivs:", 10), 1);
	test__equal("its descriptors", count_descriptors(opener.pid), 4);
	kill(opener.pid, SIGINT);
	kill(opener.pid, SIGTERM);
	fd = opener__open(&opener, &request);
	test__check(fd >= 0, "it outlives the signals that end a run", "%s", strerror(-fd));
	close(fd);
	request.what = 77;
	test__equal("an unknown request", -opener__open(&opener, &request), EINVAL);
	request.what = OPENER_MAPPED_FILE;
	request.start = 1;
	request.end = 2;
	test__equal("a mapping that is not there", -opener__open(&opener, &request), ENOENT);
	request.pid = 0x7fffffff;
	test__equal("a process that is not there", -opener__open(&opener, &request), ESRCH);
	kill(opener.pid, SIGKILL);
	test__sleep_ms(50);
	request.pid = getpid();
	request.what = OPENER_MAPS;
	test__equal("it was killed", -opener__open(&opener, &request), EPIPE);
	opener__stop(&opener);
	close(extra);
}

/* First process of new PID and mount namespaces, with a perf map in a /tmp of its own. */
static void generate_in_namespaces(void)
{
	char line[64];
	int fd;

	if (mmap(place, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		 0) == MAP_FAILED ||
	    !scratch__private_mounts() || mount("none", "/tmp", "tmpfs", 0, NULL))
		_exit(1);
	fd = open("/tmp/perf-1.map", O_WRONLY | O_CREAT, 0600);
	snprintf(line, sizeof(line), "%lx 1000 generated\n", (unsigned long)place);
	if (fd < 0 || write(fd, line, strlen(line)) != (ssize_t)strlen(line))
		_exit(1);
}

static void test_namespaces(void)
{
	const struct symbolizer_options options = { .user = true };
	struct symbolizer_process process = {};
	struct symbolizer *symbolizer;
	struct symbol symbol;
	int ours = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

	if (symbolizer__open(&symbolizer, &options))
		test__fatal("symbolizer", "it did not open");
	if (unshare(CLONE_NEWPID)) {
		test__skip("a perf map in other namespaces", "%s", strerror(errno));
		return;
	}
	process.pid = children__start(generate_in_namespaces);
	setns(ours, CLONE_NEWPID);
	close(ours);
	symbolizer__user(symbolizer, &process, (uintptr_t)place + 64, &symbol);
	test__same("a perf map in other namespaces", symbol.name, "generated");
	children__end(process.pid);
	symbolizer__close(symbolizer);
}

static void map_much(void)
{
	char *at = mmap(NULL, 60000 * 4096UL, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < 60000; i += 2)
		if (mprotect(at + i * 4096UL, 4096, PROT_READ | PROT_EXEC))
			break;
}

static void test_many_mappings(void)
{
	const struct symbolizer_options options = { .user = true };
	struct symbolizer_process process = { .pid = children__start(map_much) };
	struct symbolizer *symbolizer;
	uint64_t begin;
	int err;

	if (symbolizer__open(&symbolizer, &options))
		test__fatal("symbolizer", "it did not open");
	begin = test__now_ns();
	err = symbolizer__remember(symbolizer, &process);
	test__equal("60,000 mappings are read", -err, 0);
	test__check(test__now_ns() - begin < test__patience_ms(3000) * 1000000,
		    "60,000 mappings take no time", "%" PRIu64 " ms",
		    (test__now_ns() - begin) / 1000000);
	children__end(process.pid);
	symbolizer__close(symbolizer);
}

int main(void)
{
	log__init("symbols_opener_test");
	if (geteuid()) {
		test__skip("the opener", "needs root");
		return test__done();
	}
	place = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	test_privileges();
	test_files();
	test_namespaces();
	test_many_mappings();
	return test__done();
}
