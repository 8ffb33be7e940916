// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Every way into a new program is seen, with pid, tid, filename and arguments as they were. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

static char true_role[] = "VANTAGE_ROLE=true";
static char *const true_env[] = { true_role, NULL };
static const char *const some_args[] = { "first word", "second", "", NULL };

/* One tool run traces all ways; each notes what must be found in the output. */
struct way {
	pid_t pid;
	int status;
};

static struct way by_execveat, by_fexecve, by_int80, by_script, by_path, by_mapped;
static struct way by_thread;
static const char *program, *script, *thread_file;

static char *const *as_argv(const char *const *words)
{
	return (char *const *)(const void *)words;
}

static struct way fork_and(void (*act)(void))
{
	struct way way = { .pid = fork() };

	if (way.pid < 0)
		test__fatal("workload", "fork: %s", strerror(errno));
	if (!way.pid) {
		act();
		_exit(127);
	}
	way.status = workload__wait(way.pid, NULL);
	return way;
}

static void act_execveat(void)
{
	int fd = open(program, O_PATH | O_CLOEXEC);

	syscall(SYS_execveat, fd, "", some_args, true_env, AT_EMPTY_PATH);
}

static void act_fexecve(void)
{
	int fd = open(program, O_RDONLY | O_CLOEXEC);

	fexecve(fd, as_argv(some_args), true_env);
}

/* The 32-bit system call by its own door, with everything it points to below 4 GB. */
static void act_int80(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t *pointers = (uint32_t *)(void *)page;
	char *text = page + 4096;
	unsigned int used = 0, at = 0;
	long result;

	if (page == MAP_FAILED)
		return;
	for (size_t i = 0; i < 3; i++) {
		pointers[at++] = (uint32_t)(uintptr_t)(text + used);
		used += (unsigned int)sprintf(text + used, "%s", some_args[i]) + 1;
	}
	pointers[at++] = 0;
	pointers[at++] = (uint32_t)(uintptr_t)(text + used);
	used += (unsigned int)sprintf(text + used, "%s", true_role) + 1;
	pointers[at++] = 0;
	sprintf(text + used, "%s", program);
	asm volatile("int $0x80"
		     : "=a"(result)
		     : "a"(11L), "b"((long)(uintptr_t)(text + used)), "c"((long)(uintptr_t)page),
		       "d"((long)(uintptr_t)(pointers + 4))
		     : "memory", "r8", "r9", "r10", "r11");
	/* A kernel without 32-bit calls kills by SIGSEGV or gives ENOSYS. */
	_exit(result == -ENOSYS ? 126 : 127);
}

static void act_script(void)
{
	execve(script, as_argv(some_args), true_env);
}

static void act_path(void)
{
	execve(program, as_argv(ARGS("-not-its-path")), true_env);
}

/* Path and arguments on pages of a file that nothing has touched before the kernel reads them. */
static void act_mapped(void)
{
	static const char *const *words = some_args;
	const char *argv[4] = { NULL };
	size_t sizes[3], used = 0;
	char *area;
	int fd;

	for (size_t i = 0; i < 3; i++)
		sizes[i] = strlen(words[i]) + 1;
	fd = open(scratch__path("mapped"), O_RDONLY | O_CLOEXEC);
	if (fd < 0 || posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		return;
	area = mmap(NULL, 4 * 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (area == MAP_FAILED)
		return;
	for (size_t i = 0; i < 3; i++) {
		argv[i] = area + 4096 + used;
		used += sizes[i];
	}
	execve(area, as_argv(argv), true_env);
}

static void make_mapped_file(void)
{
	static char pages[4 * 4096];
	char *at = pages + 4096;

	strcpy(pages, program);
	for (size_t i = 0; some_args[i]; i++)
		at = stpcpy(at, some_args[i]) + 1;
	scratch__write("mapped", pages, sizeof(pages), 0644);
}

static void make_script(void)
{
	char text[512];
	int size = snprintf(text, sizeof(text), "#!%s one argument\n", program);

	script = scratch__write("script", text, (size_t)size, 0755);
}

static struct way exec_from_thread(void)
{
	char role[1024];
	struct workload workload = { .program = workload__own_program("thread"), .role = role };
	struct way way;

	thread_file = scratch__path("thread");
	snprintf(role, sizeof(role), "thread-exec %s %s", thread_file, program);
	way.pid = workload__start(&workload);
	way.status = workload__wait(way.pid, NULL);
	return way;
}

static void check_record(const struct records *records, const struct way *way, const char *filename,
			 const char *const *argv, const char *name)
{
	const struct json_value *record;
	char check[96];

	snprintf(check, sizeof(check), "exec: %s is seen", name);
	if (way->status) {
		test__check(false, check, "it was not made: wait status 0x%x", way->status);
		return;
	}
	record = records__only(records, "exec", way->pid, check);
	if (!record)
		return;
	test__check(true, check, "it is");
	snprintf(check, sizeof(check), "exec: %s has its filename", name);
	if (filename)
		test__same(check, json__string(json__get(record, "filename")), filename);
	else
		test__check(json__string(json__get(record, "filename")) &&
				    !strncmp(json__string(json__get(record, "filename")),
					     "/dev/fd/", 8),
			    check, "expected /dev/fd/N, saw \"%s\"",
			    json__string(json__get(record, "filename")));
	snprintf(check, sizeof(check), "exec: %s has its arguments", name);
	check_args(record, argv, check);
	snprintf(check, sizeof(check), "exec: %s has its parent", name);
	test__equal(check, (uint64_t)record__number(record, "ppid"), (uint64_t)getpid());
}

static void check_thread(const struct records *records)
{
	char *tid = file__read(thread_file, NULL);
	const struct json_value *record = NULL;
	size_t index = 0;

	/* The first exec of this pid starts the threads, the second is made by one of them. */
	records__next(records, "exec", by_thread.pid, &index);
	record = records__next(records, "exec", by_thread.pid, &index);
	if (!test__check(record, "exec: from a thread that is not the first is seen",
			 "no second record of pid %d", by_thread.pid)) {
		free(tid);
		return;
	}
	test__same("exec: from a thread, comm is of the new program",
		   json__string(json__get(record, "comm")), file_name(program));
	test__equal("exec: from a thread, tid is of the thread that called",
		    (uint64_t)record__number(record, "tid"), tid ? strtoul(tid, NULL, 10) : 0);
	check_args(record, ARGS(program), "exec: from a thread, the arguments are right");
	test__check(!records__next(records, "exec", by_thread.pid, &index),
		    "exec: from a thread, there is no third record", "there is");
	free(tid);
}

/*
 * The kernel itself starts a program when the last process leaves a control group of a
 * hierarchy with a release agent. A hierarchy of our own without controllers touches nobody.
 */
static pid_t run_kernel_helper(const char *agent, const char *mount_point, char *why, size_t size)
{
	char group[512], path[600], text[32], *pid_text = NULL;
	pid_t child, pid = -1;

	snprintf(group, sizeof(group), "%s/group", mount_point);
	snprintf(path, sizeof(path), "%s/release_agent", mount_point);
	if (file__write(path, agent) || mkdir(group, 0755)) {
		snprintf(why, size, "no release agent: %s", strerror(errno));
		return -1;
	}
	snprintf(path, sizeof(path), "%s/notify_on_release", group);
	if (file__write(path, "1")) {
		snprintf(why, size, "no notify_on_release: %s", strerror(errno));
		rmdir(group);
		return -1;
	}
	child = fork();
	if (!child) {
		snprintf(path, sizeof(path), "%s/cgroup.procs", group);
		snprintf(text, sizeof(text), "%d", getpid());
		_exit(file__write(path, text) ? 1 : 0);
	}
	if (workload__wait(child, NULL))
		snprintf(why, size, "a process could not be moved into the group");
	snprintf(path, sizeof(path), "%s.pid", agent);
	for (int i = 0; i < 50 && !pid_text; i++) {
		test__sleep_ms(test__patience_ms(100));
		pid_text = file__read(path, NULL);
	}
	rmdir(group);
	if (pid_text)
		pid = (pid_t)strtol(pid_text, NULL, 10);
	else
		snprintf(why, size, "the release agent did not run");
	free(pid_text);
	return pid;
}

static bool mount_hierarchy(const char *mount_point)
{
	char hierarchy[64];

	snprintf(hierarchy, sizeof(hierarchy), "none,name=vantage-test.%d", getpid());
	return !mkdir(mount_point, 0755) && scratch__private_mounts() &&
	       !mount("none", mount_point, "cgroup", 0, hierarchy);
}

static struct way exec_by_kernel(const char *agent, char *why, size_t size)
{
	const char *mount_point = scratch__path("hierarchy");
	struct way way = { .pid = -1 };

	if (!mount_hierarchy(mount_point)) {
		snprintf(why, size, "a cgroup v1 hierarchy cannot be mounted: %s", strerror(errno));
		return way;
	}
	way.pid = run_kernel_helper(agent, mount_point, why, size);
	umount(mount_point);
	return way;
}

static void check_kernel_helper(const struct records *records, pid_t pid, const char *agent,
				const char *why)
{
	static const char name[] = "exec: by a kernel helper is seen";
	const struct json_value *record;

	if (pid < 0) {
		test__skip(name, "%s", why);
		return;
	}
	record = records__only(records, "exec", pid, name);
	if (!record)
		return;
	test__same(name, json__string(json__get(record, "filename")), agent);
	check_args(record, ARGS(agent, "/group"), "exec: by a kernel helper has its arguments");
}

static void check_int80(const struct records *records)
{
	bool refused = WIFSIGNALED(by_int80.status) ||
		       (WIFEXITED(by_int80.status) && WEXITSTATUS(by_int80.status) == 126);

	if (refused)
		test__skip("exec: by int 0x80 is seen", "this kernel has no 32-bit system calls");
	else
		check_record(records, &by_int80, program, some_args, "by int 0x80");
}

int main(int argc, char **argv)
{
	struct records records;
	struct tool_run run;
	struct way by_kernel;
	char why[160] = "", agent[512];

	role__play(argc, argv);
	program = workload__own_program("ways");
	make_script();
	make_mapped_file();

	tool_run__trace(&run, NULL, ARGS("-j"));
	by_path = fork_and(act_path);
	by_execveat = fork_and(act_execveat);
	by_fexecve = fork_and(act_fexecve);
	by_int80 = fork_and(act_int80);
	by_script = fork_and(act_script);
	by_mapped = fork_and(act_mapped);
	by_thread = exec_from_thread();
	/* The kernel looks for it from the first process's root, which need not be this one's. */
	snprintf(agent, sizeof(agent), "/proc/%d/root%s", getpid(), workload__program("agent"));
	by_kernel = exec_by_kernel(agent, why, sizeof(why));
	tool_run__stop(&run);

	records__load(&records, &run);
	check_record(&records, &by_path, program, ARGS("-not-its-path"),
		     "with argv[0] that is not the path");
	check_record(&records, &by_execveat, NULL, some_args, "by execveat of a descriptor");
	check_record(&records, &by_fexecve, NULL, some_args, "by fexecve");
	check_int80(&records);
	check_record(&records, &by_script, script,
		     ARGS(program, "one argument", script, "second", ""), "of a script");
	check_record(&records, &by_mapped, program, some_args, "with arguments never touched");
	check_thread(&records);
	check_kernel_helper(&records, by_kernel.pid, agent, why);
	check_exact(records__account(&records), "ways");
	records__free(&records);
	tool_run__free(&run);
	return test__done();
}
