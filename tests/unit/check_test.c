// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "run/check.h"
#include "run/check_item.h"
#include "run/libbpf_log.h"
#include "run/log.h"
#include "scratch.h"
#include "test.h"

/* Root on a kernel of today that forbids nothing. */
static const struct check_facts nothing_wrong = {
	.release = RELEASE(6, 18),
	.root = true,
	.sys_admin = true,
	.sys_resource = true,
	.perf_units = true,
	.paranoid = 2,
	.lockdown = "none",
	.tracefs = "/sys/kernel/tracing",
	.memlock = 8 << 20,
};

static const struct check_item kprobe = {
	.name = "kprobe",
	.target = "vfs_fsync",
	.confidential = true,
	.config = "CONFIG_KPROBES",
};

static const struct check_item multi = {
	.name = "kprobe.multi",
	.target = "vfs_fsync",
	.since = RELEASE(5, 18),
	.config = "CONFIG_FPROBE",
};

static const struct check_item fentry = {
	.name = "fentry",
	.target = "vfs_fsync",
	.config = "CONFIG_BPF_JIT",
};

static const struct check_item uprobe = {
	.name = "uprobe",
	.target = "a function",
	.wants_admin = true,
	.config = "CONFIG_UPROBES",
};

static const struct check_item storage = {
	.name = "task storage",
	.since = RELEASE(5, 11),
	.instead = "None needed.",
	.config = "CONFIG_BPF_LSM",
};

static const struct check_item ring = { .name = "ring buffer", .config = "CONFIG_BPF_SYSCALL" };

static void check_cause(const char *name, const struct check_item *item,
			const struct check_facts *facts, enum trial_step step, int error,
			const char *expected)
{
	struct finding finding = {};

	finding__explain(&finding, item, facts, step, -error);
	test__check(finding.status == FINDING_NO && *finding.remedy &&
			    !strcmp(finding.cause, expected),
		    name, "expected \"%s\", saw \"%s\", remedy \"%s\"", expected, finding.cause,
		    finding.remedy);
}

static void test_capabilities(void)
{
	struct check_facts facts = nothing_wrong;

	facts.root = facts.sys_admin = facts.sys_resource = false;
	strcpy(facts.missing, "CAP_BPF and CAP_PERFMON");
	check_cause("no capability: loading", &fentry, &facts, STEP_LOAD, EPERM,
		    "this process lacks CAP_BPF and CAP_PERFMON");
	check_cause("no capability: a map asks for CAP_BPF only", &ring, &facts, STEP_CREATE, EPERM,
		    "this process lacks CAP_BPF");
	check_cause("no capability: an event asks for CAP_PERFMON only", &kprobe, &facts, STEP_OPEN,
		    EACCES, "this process lacks CAP_PERFMON");
	check_cause("a user cannot read tracefs", &kprobe, &facts, STEP_TRACEFS, EACCES,
		    "only root may read tracefs");

	/* Also with a limit that counts: the limit is not to blame. */
	facts.memlock_counts = true;
	check_cause("no capability: the memory limit is not blamed", &ring, &facts, STEP_CREATE,
		    EPERM, "this process lacks CAP_BPF");
	facts.user_namespace = true;
	check_cause("in a user namespace", &ring, &facts, STEP_CREATE, EPERM,
		    "this process is in a user namespace, whose capabilities do not count here");
}

static void test_policy(void)
{
	struct check_facts facts = nothing_wrong;

	check_cause("all is there and it is refused", &fentry, &facts, STEP_LOAD, EPERM,
		    "root with all needed capabilities is refused: this kernel forbids it");
	facts.memlock = 0;
	check_cause("a limit that does not count is not blamed", &ring, &facts, STEP_CREATE, EPERM,
		    "root with all needed capabilities is refused: this kernel forbids it");
	facts.lockdown[0] = '\0';
	facts.root = false;
	check_cause("what could not be read is said", &fentry, &facts, STEP_LOAD, EPERM,
		    "a process with all needed capabilities is refused: this kernel forbids it "
		    "(its lockdown mode cannot be read)");
	facts.seccomp = true;
	check_cause("a seccomp filter", &fentry, &facts, STEP_LOAD, EPERM,
		    "a seccomp filter is in force for this process");
	check_cause("a seccomp filter that hides the call", &fentry, &facts, STEP_LOAD, ENOSYS,
		    "a seccomp filter is in force for this process");
}

static void test_paranoid(void)
{
	struct check_facts facts = nothing_wrong;

	facts.paranoid = 3;
	facts.sys_admin = false;
	check_cause("perf_event_paranoid above 2", &kprobe, &facts, STEP_OPEN, EACCES,
		    "kernel.perf_event_paranoid is 3, which asks for CAP_SYS_ADMIN");
	facts.paranoid = 2;
	check_cause("a uprobe without CAP_SYS_ADMIN", &uprobe, &facts, STEP_OPEN, EACCES,
		    "kernels since 6.16, and older ones with that fix, want CAP_SYS_ADMIN for it");
}

static void test_lockdown(void)
{
	struct check_facts facts = nothing_wrong;

	strcpy(facts.lockdown, "confidentiality");
	check_cause("lockdown refuses kprobes", &kprobe, &facts, STEP_OPEN, EPERM,
		    "kernel lockdown is in the mode confidentiality, which forbids it");
	check_cause("lockdown hides a helper", &kprobe, &facts, STEP_LOAD, EINVAL,
		    "kernel lockdown is in the mode confidentiality, which forbids it");
	check_cause("lockdown does not forbid fentry", &fentry, &facts, STEP_LOAD, EPERM,
		    "root with all needed capabilities is refused: this kernel forbids it");
	check_cause("lockdown is not why a kernel has no kprobes", &kprobe, &facts, STEP_PMU,
		    ENOENT, "this kernel was built without CONFIG_KPROBES");
}

static void test_memlock(void)
{
	struct check_facts facts = nothing_wrong;

	facts.release = RELEASE(5, 10);
	facts.memlock_counts = true;
	facts.sys_resource = false;
	facts.memlock = 64 << 10;
	check_cause("a limit that counts and cannot be raised", &ring, &facts, STEP_CREATE, EPERM,
		    "this kernel counts BPF memory against the locked-memory limit of 64 kB");
	facts.memlock = RLIM_INFINITY;
	check_cause("no limit is not blamed", &ring, &facts, STEP_CREATE, EPERM,
		    "root with all needed capabilities is refused: this kernel forbids it");
}

static void test_absence(void)
{
	struct check_facts facts = nothing_wrong;

	check_cause("built without", &multi, &facts, STEP_ATTACH, EOPNOTSUPP,
		    "this kernel was built without CONFIG_FPROBE");
	check_cause("no kind of perf event", &kprobe, &facts, STEP_PMU, ENOENT,
		    "this kernel was built without CONFIG_KPROBES");
	check_cause("no such function", &kprobe, &facts, STEP_OPEN, ENOENT,
		    "the kernel does not find vfs_fsync");
	check_cause("EINVAL only makes it likely", &multi, &facts, STEP_ATTACH, EINVAL,
		    "most likely this kernel was built without CONFIG_FPROBE");
	check_cause("no such name in BTF", &fentry, &facts, STEP_BTF, ENOENT,
		    "the kernel's types (BTF) do not name vfs_fsync");
	check_cause("another error is told as it is", &ring, &facts, STEP_CREATE, ENOMEM,
		    "Cannot allocate memory");
	facts.release = RELEASE(5, 10);
	check_cause("too old", &multi, &facts, STEP_ATTACH, EINVAL,
		    "Linux 5.18 brought it; this is 5.10");
	check_cause("too old, with another way", &storage, &facts, STEP_CREATE, EINVAL,
		    "Linux 5.11 brought it; this is 5.10");
	facts.btf_err = -ENOENT;
	check_cause("no BTF", &fentry, &facts, STEP_BTF, ENOENT,
		    "the kernel's types (BTF) cannot be read");
	facts.tracefs = NULL;
	check_cause("no tracefs", &kprobe, &facts, STEP_TRACEFS, ENOENT,
		    "tracefs is not mounted where this process can see it");
	facts.perf_units = false;
	check_cause("/sys is hidden", &kprobe, &facts, STEP_PMU, ENOENT,
		    "/sys does not show this process any kind of perf event");
}

static const struct attach_way ways[] = {
	{ .mechanism = ATTACH_TP_BTF },
	{ .mechanism = ATTACH_KPROBE },
};

/* The report of a child, with or without capabilities. Its result in *result; to be freed. */
static char *report(bool capable, int *result)
{
	const char *path = scratch__path("report");
	pid_t pid = fork();
	int status;

	if (!pid) {
		struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
		struct __user_cap_data_struct none[2] = {};

		if (!capable && syscall(SYS_capset, &header, none))
			_exit(2);
		if (!freopen(path, "w", stdout))
			_exit(2);
		_exit(check__report("toolname", ways, 2) ? 1 : 0);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		status = 2 << 8;
	*result = WEXITSTATUS(status);
	return file__read(path, NULL);
}

/* Each failed item has a cause and a remedy; each line is one of the kinds. */
static bool is_well_formed(char *text, char *last, size_t size)
{
	int owed = 0; /* lines that must follow a failed item */
	bool good = true;
	char *rest, *line;

	*last = '\0';
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		snprintf(last, size, "%s", line);
		if (owed == 2)
			good &= !strncmp(line, "        cause:  ", 16) && line[16];
		else if (owed == 1)
			good &= !strncmp(line, "        remedy: ", 16) && line[16];
		else if (!strncmp(line, "no  ", 4))
			owed = 3;
		else if (strncmp(line, "ok  ", 4) && strncmp(line, "-   ", 4))
			good &= !strncmp(line, "toolname can", 12);
		owed -= owed > 0;
	}
	return good && !owed;
}

static void test_report(void)
{
	char last[256];
	int result;
	char *text;

	text = report(true, &result);
	test__check(text && is_well_formed(text, last, sizeof(last)), "the report is well formed",
		    "a line is not as it should be");
	test__check(result < 2 &&
			    !strncmp(last, result ? "toolname cannot run: " : "toolname can run: ",
				     result ? 21 : 18),
		    "the result is what the last line says", "%d with \"%s\"", result, last);
	free(text);
}

static void test_report_without_capabilities(void)
{
	char last[256];
	int result;
	char *text;

	text = report(false, &result);
	test__check(text && strstr(text, "cause:  this process lacks CAP_BPF and CAP_PERFMON\n"),
		    "without capabilities they are named", "they are not");
	test__check(text && !strstr(text, "against the locked-memory limit of"),
		    "without capabilities no limit is blamed", "one is");
	test__check(text && is_well_formed(text, last, sizeof(last)),
		    "without capabilities the report is well formed",
		    "a line is not as it should be");
	test__equal("without capabilities the tool cannot run", result, 1);
	test__check(!strncmp(last, "toolname cannot run: ", 21),
		    "without capabilities the last line says so", "it says \"%s\"", last);
	free(text);
}

int main(void)
{
	log__init("check_test");
	libbpf_log__install();
	test_capabilities();
	test_policy();
	test_paranoid();
	test_lockdown();
	test_memlock();
	test_absence();
	test_report();
	test_report_without_capabilities();
	return test__done();
}
