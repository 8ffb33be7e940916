// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What the tool needs, what it keeps while it runs, and what it says when something is missing. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

#define NOBODY 65534

static const char *program;
static const char *tool_copy; /* where every user can execute it */

/* A kernel before 5.19 refuses map look-ups to a process without CAP_BPF, so that one is kept. */
static bool bpf_is_kept(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	uname(&name);
	sscanf(name.release, "%u.%u", &major, &minor);
	return major < 5 || (major == 5 && minor < 19);
}

static void check_line(pid_t pid, const char *line, const char *expected, const char *name)
{
	char *seen = process__status_line(pid, line), check[128];

	snprintf(check, sizeof(check), "privileges: %s: %s", name, line);
	test__same(check, seen, expected);
	free(seen);
}

/* kept: capabilities that may be there. */
static void check_capabilities(pid_t pid, const char *line, uint64_t kept, const char *name)
{
	char *seen = process__status_line(pid, line), check[128];
	uint64_t set = seen ? strtoull(seen, NULL, 16) : UINT64_MAX;

	snprintf(check, sizeof(check), "privileges: %s: %s has nothing that is not needed", name,
		 line);
	test__check(!(set & ~kept), check, "saw %s", seen);
	free(seen);
}

static void check_dropped(const char *const *args, uint64_t kept, const char *name)
{
	struct tool_run run;

	if (bpf_is_kept())
		kept |= 1ull << CAP_BPF;
	tool_run__trace(&run, NULL, args);
	check_line(run.pid, "Uid", "65534\t65534\t65534\t65534", name);
	check_line(run.pid, "Gid", "65534\t65534\t65534\t65534", name);
	check_line(run.pid, "NoNewPrivs", "1", name);
	check_capabilities(run.pid, "CapEff", kept, name);
	check_capabilities(run.pid, "CapPrm", kept, name);
	check_capabilities(run.pid, "CapInh", 0, name);
	check_capabilities(run.pid, "CapAmb", 0, name);
	tool_run__stop(&run);
	tool_run__free(&run);
}

/* The tool traces: one exec is seen, and the run ends well. */
static void check_traces(const struct tool_setup *setup, const char *name)
{
	struct records records;
	struct tool_run run;
	char check[128];

	snprintf(check, sizeof(check), "%s: it traces", name);
	if (!tool_run__start(&run, setup, ARGS("-j", "-e", "--comm", file_name(program)))) {
		tool_run__wait(&run);
		test__check(false, check, "no ready byte; status %d, stderr: %s", run.status,
			    run.err);
		tool_run__free(&run);
		return;
	}
	workload__repeat(program, 2);
	tool_run__stop(&run);
	records__load(&records, &run);
	test__check(run.status == 0 && records__count(&records, "exec", NULL) == 2 &&
			    records__count(&records, "exit", NULL) == 2,
		    check, "status %d, %zu execs; stderr: %s", run.status,
		    records__count(&records, "exec", NULL), run.err);
	check_exact(records__account(&records), name);
	records__free(&records);
	tool_run__free(&run);
}

/* A message in JSON, on stderr, when JSON is what was asked for. */
static void check_json_error(const char *text, const char *name)
{
	const char *end = strchr(text, '\n');
	char why[256], check[128];
	struct json *json = json__parse(text, end ? (size_t)(end - text) : 0, why, sizeof(why));
	const struct json_value *root = json ? json__root(json) : NULL;

	snprintf(check, sizeof(check), "%s: with -j the message is a record on stderr", name);
	test__check(json__is(json__get(root, "type"), "error") &&
			    json__string(json__get(root, "message")) &&
			    json__string(json__get(root, "cause")) &&
			    json__string(json__get(root, "hint")),
		    check, "expected type, message, cause and hint, saw: %s", text);
	json__free(json);
}

/* The tool refuses: status 1, no ready byte, and a message with these words. */
static void check_refuses(const struct tool_setup *setup, const char *name,
			  const char *const *words)
{
	struct tool_run run;
	char check[128];

	snprintf(check, sizeof(check), "%s: it is told before tracing", name);
	test__check(!tool_run__start(&run, setup, ARGS("-j")), check, "there was a ready byte");
	tool_run__signal(&run, SIGINT);
	snprintf(check, sizeof(check), "%s: the status is 1", name);
	test__equal(check, (uint64_t)tool_run__wait(&run), 1);
	for (; *words; words++) {
		snprintf(check, sizeof(check), "%s: the message has \"%s\"", name, *words);
		test__check(strstr(run.err, *words), check, "saw: %s", run.err);
	}
	check_json_error(run.err, name);
	snprintf(check, sizeof(check), "%s: nothing on stdout", name);
	test__check(!run.out_size, check, "saw: %s", run.out);
	tool_run__free(&run);
}

/* Takes capabilities away for good: also an exec by root does not bring them back. */
static void bound_capabilities(uint64_t left)
{
	for (int capability = 0; capability < 64; capability++)
		if (!(left >> capability & 1) && prctl(PR_CAPBSET_READ, capability) == 1 &&
		    prctl(PR_CAPBSET_DROP, capability))
			_exit(126);
}

static void lose_bpf(void *ctx)
{
	(void)ctx;
	bound_capabilities(~(1ull << CAP_BPF | 1ull << CAP_SYS_ADMIN));
}

static void lose_perfmon(void *ctx)
{
	(void)ctx;
	bound_capabilities(~(1ull << CAP_PERFMON | 1ull << CAP_SYS_ADMIN));
}

static const uint64_t two = 1ull << CAP_BPF | 1ull << CAP_PERFMON;

/* Before 5.11 maps and programs count against it, and the two capabilities do not lift it. Where it
 * cannot be raised, a kernel that counts refuses the tool, and the check fails. */
static void raise_memlock(void)
{
	const struct rlimit none = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &none);
}

static void keep_two_as_root(void *ctx)
{
	(void)ctx;
	raise_memlock();
	bound_capabilities(two);
}

/* As a service manager starts a service with a user and ambient capabilities. */
static void keep_two_as_user(void *ctx)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { 0 } };

	raise_memlock();
	if (prctl(PR_SET_KEEPCAPS, 1))
		_exit(126);
	become_user(ctx);
	for (int i = 0; i < 2; i++) {
		data[i].permitted = (uint32_t)(two >> (32 * i));
		data[i].effective = data[i].inheritable = data[i].permitted;
	}
	if (syscall(SYS_capset, &header, data) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_BPF, 0, 0) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_PERFMON, 0, 0))
		_exit(126);
}

static void enter_private_mounts(void)
{
	if (!scratch__private_mounts())
		_exit(126);
}

static void hide_btf(void *empty_file)
{
	enter_private_mounts();
	if (mount(empty_file, "/sys/kernel/btf/vmlinux", NULL, MS_BIND, NULL))
		_exit(126);
	/* Images with types of their own, which libbpf would take instead. */
	mount("none", "/boot", "tmpfs", 0, NULL);
}

static void hide_tracefs(void *empty_folder)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug" };

	enter_private_mounts();
	for (size_t i = 0; i < 2; i++) {
		while (!umount2(places[i], MNT_DETACH))
			;
		/* Touching the folder below debugfs would mount tracefs again. */
		if (!access(places[i], F_OK) && mount(empty_folder, places[i], NULL, MS_BIND, NULL))
			_exit(126);
	}
}

static void check_missing_things(void)
{
	unsigned int nobody = NOBODY;
	const char *empty = scratch__write("empty", "", 0, 0644);
	const char *folder = scratch__folder("empty-folder");

	check_refuses(
		&(struct tool_setup){ .path = tool_copy, .prepare = become_user, .ctx = &nobody },
		"not root", ARGS("CAP_BPF", "CAP_PERFMON"));
	check_refuses(&(struct tool_setup){ .prepare = lose_bpf }, "without CAP_BPF",
		      ARGS("CAP_BPF"));
	check_refuses(&(struct tool_setup){ .prepare = lose_perfmon }, "without CAP_PERFMON",
		      ARGS("CAP_PERFMON"));
	check_refuses(&(struct tool_setup){ .prepare = hide_btf, .ctx = (void *)(uintptr_t)empty },
		      "without BTF", ARGS("BTF", "CONFIG_DEBUG_INFO_BTF"));
	check_traces(&(struct tool_setup){ .prepare = hide_tracefs,
					   .ctx = (void *)(uintptr_t)folder },
		     "without tracefs");
	check_traces(&(struct tool_setup){ .prepare = keep_two_as_root },
		     "root with CAP_BPF and CAP_PERFMON alone");
	check_traces(&(struct tool_setup){ .path = tool_copy,
					   .prepare = keep_two_as_user,
					   .ctx = &nobody },
		     "a user with CAP_BPF and CAP_PERFMON alone");
}

int main(int argc, char **argv)
{
	char path[600];

	role__play(argc, argv);
	program = workload__own_program("caps");
	snprintf(path, sizeof(path), "%s/execsnoop", tool__folder());
	tool_copy = scratch__copy(path, "execsnoop");
	check_dropped(ARGS("-j", "-e"), 0, "a run");
	check_dropped(ARGS("-j", "-e", "-d", "60", "--", workload__program("sleep"), "500"),
		      1ull << CAP_KILL, "a run with a command");
	check_missing_things();
	return test__done();
}
