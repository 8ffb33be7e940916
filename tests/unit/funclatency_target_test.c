// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Targets by name, near names, frames that are left at the end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "funclatency/functions.h"
#include "funclatency/inflight.h"
#include "funclatency/names.h"
#include "funclatency/syscalls.h"
#include "funclatency/target.h"
#include "support/test.h"

static void check_forms(void)
{
	static const struct {
		const char *text;
		int err;
		enum target_kind kind;
	} forms[] = {
		{ "vfs_write", 0, TARGET_FUNCTION },
		{ "tcp_v4_rcv.isra.0", 0, TARGET_FUNCTION },
		{ "sys:write", 0, TARGET_SYSCALLS },
		{ "sys:*", 0, TARGET_SYSCALLS },
		{ "sys:read,write", 0, TARGET_SYSCALLS },
		{ "sys:read,", -ENOENT, 0 },
		{ "sys:read,no_such_call", -ENOENT, 0 },
		{ "read,write", -EINVAL, 0 },
		{ "", -EINVAL, 0 },
		{ "sys:", -EINVAL, 0 },
		{ "a b", -EINVAL, 0 },
		{ "a-b", -EINVAL, 0 },
		{ "c:malloc", 0, TARGET_USER },
		{ "/bin/a:f", 0, TARGET_USER },
		{ ":f", 0, TARGET_USER },
		{ "a:ns::Class::method*", 0, TARGET_USER },
		{ "c:", -EINVAL, 0 },
		{ ":", -EINVAL, 0 },
		{ "sys:no_such_call", -ENOENT, 0 },
		{ "sys:exit", -ENOENT, 0 },
		{ "sys:exit*", -ENOENT, 0 },
	};
	static struct target target;
	char check[64];

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		int err = target__parse(forms[i].text, &target);

		snprintf(check, sizeof(check), "target '%s'", forms[i].text);
		test__check(err == forms[i].err && (err || target.kind == forms[i].kind), check,
			    "%d", err);
	}
}

static void check_split(void)
{
	static struct target target;

	test__check(!target__parse("/opt/a:ns::Class::method*", &target) &&
			    !strcmp(target.binary, "/opt/a") &&
			    !strcmp(target.name, "ns::Class::method*"),
		    "a program ends at the first colon", "%s and %s", target.binary, target.name);
	test__check(!target__parse(":main", &target) && !*target.binary &&
			    !strcmp(target.name, "main"),
		    "without a program", "%s and %s", target.binary, target.name);
}

static void check_numbers(void)
{
	static struct target target;

	test__equal("openat2 is read", (uint64_t)target__parse("sys:openat2", &target), 0);
	test__equal("openat2 is one call", target.nr_syscalls, 1);
	test__check(target.syscalls[0][437] == FUNCLATENCY_SYSCALL_ASKED &&
			    target.syscalls[1][437] == FUNCLATENCY_SYSCALL_ASKED,
		    "openat2 has one number in both tables", "%u %u", target.syscalls[0][437],
		    target.syscalls[1][437]);
	test__equal("write is read", (uint64_t)target__parse("sys:write", &target), 0);
	test__check(target.syscalls[0][1] && target.syscalls[1][4] && !target.syscalls[0][4] &&
			    !target.syscalls[1][1],
		    "write has a number in each table", "%u %u", target.syscalls[0][1],
		    target.syscalls[1][4]);
	test__equal("clone is read", (uint64_t)target__parse("sys:clone", &target), 0);
	test__equal("clone returns twice", target.syscalls[0][56], FUNCLATENCY_SYSCALL_FORKS);
	test__equal("a list is read",
		    (uint64_t)target__parse("sys:read,*sync,read,fdatasync", &target), 0);
	test__check(target.syscalls[0][0] && target.syscalls[0][74] && target.syscalls[0][75] &&
			    target.nr_syscalls == 5,
		    "a list: read, and the four that sync, each once", "%zu", target.nr_syscalls);
	test__equal("all are read", (uint64_t)target__parse("sys:*", &target), 0);
	test__check(!target.syscalls[0][60] && !target.syscalls[0][231],
		    "all of them, but what never returns", "%u %u", target.syscalls[0][60],
		    target.syscalls[0][231]);
}

static void check_functions(void)
{
	test__same("vfs_write", syscalls__of_function("vfs_write"), "write");
	test__same("__x64_sys_openat", syscalls__of_function("__x64_sys_openat"), "openat");
	test__same("ksys_read", syscalls__of_function("ksys_read"), "read");
	test__same("nf_conntrack_in", syscalls__of_function("nf_conntrack_in"), NULL);
	test__same("vfs_frobnicate", syscalls__of_function("vfs_frobnicate"), NULL);
	test__check(function__may_sleep("do_nanosleep"), "do_nanosleep sleeps", "no");
	test__check(!function__may_sleep("vfs_write"), "vfs_write does not say so", "yes");
}

static const char *near_of(const char *wanted, const char *const *names)
{
	static char text[256];
	struct near_names near = { .wanted = wanted };

	for (; *names; names++)
		near_names__offer(&near, *names);
	return near_names__text(&near, text, sizeof(text));
}

static void check_near_names(void)
{
	static const char *const names[] = { "vfs_write", "vfs_writev", "vfs_read",  "vfs_rite",
					     "vfs_wrote", "write",	"vfs_write", NULL };
	static const char *const swapped[] = { "read", "write", NULL };
	char longer[NEAR_NAME_SIZE + 2];
	const char *const long_names[] = { longer, NULL };

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	test__same("the nearest first, each once", near_of("vfs_wrte", names),
		   "vfs_write, vfs_wrote or vfs_writev");
	test__same("neighbours that changed places", near_of("wirte", swapped), "write");
	test__same("none is near", near_of("tcp_v4_rcv", names), "");
	test__same("of a name that is too long, none", near_of(longer, long_names), "");
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* This process for a thread that is there; a made-up /proc for one whose id is another's. */
static void check_frames(void)
{
	struct funclatency_frame frame = { .tid = (__u32)getpid(), .pid = (__u32)getpid() };
	char folder[] = "/tmp/funclatency_target_test.XXXXXX", path[128], command[160];
	uint64_t now = now_ns();
	struct open_call call;
	FILE *file;

	frame.start_ns = now - 5;
	test__check(frame__is_open(&frame, "/proc", now, &call), "a thread that is there", "gone");
	test__equal("the age of its call", call.age_ns, 5);
	test__check(!strncmp(call.comm, "funclatency_tar", 16), "its name", "%.16s", call.comm);
	frame.tid = 0;
	test__check(frame__is_open(&frame, "/nowhere", now, &call), "an idle CPU", "gone");
	frame.tid = 7;
	frame.pid = 7;
	test__check(!frame__is_open(&frame, "/nowhere", now, &call), "a thread that has ended",
		    "there");
	if (!mkdtemp(folder))
		test__fatal("folder", "%s", strerror(errno));
	snprintf(command, sizeof(command), "mkdir -p %s/7/task/7", folder);
	snprintf(path, sizeof(path), "%s/7/task/7/stat", folder);
	if (system(command) || !(file = fopen(path, "w")))
		test__fatal("stat", "%s", strerror(errno));
	/* Begun 1000 s after boot; its name looks like the end of one. */
	fprintf(file, "7 (a) b (c) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 %ld 1 2\n",
		1000 * sysconf(_SC_CLK_TCK));
	fclose(file);
	frame.start_ns = 1;
	test__check(!frame__is_open(&frame, folder, now, &call),
		    "a thread that began after the call", "there");
	frame.start_ns = 1001ULL * 1000000000;
	test__check(frame__is_open(&frame, folder, frame.start_ns, &call),
		    "a thread that began before it", "gone");
	test__same("whose name has parentheses", call.comm, "a) b (c");
	snprintf(command, sizeof(command), "rm -r %s", folder);
	if (system(command))
		test__fatal("folder", "cannot be removed");
}

int main(void)
{
	check_forms();
	check_split();
	check_numbers();
	check_functions();
	check_near_names();
	check_frames();
	return test__done();
}
