// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <bpf/bpf.h>

#include "run/log.h"
#include "run/privileges.h"
#include "test.h"

/* What a child tells of itself after privileges__drop(). */
struct outcome {
	int err;
	uid_t real, effective, saved;
	gid_t group;
	int nr_groups;
	uint64_t permitted, effective_capabilities, inheritable, bounding, ambient;
	int no_new_privileges;
	int lookup; /* result of a step in the map, if there is one */
	char message[128]; /* the last debug message */
	char warning[128];
};

/* How a child is before it drops. */
struct child {
	void (*prepare)(void);
	int map_fd; /* or -1 */
	uid_t user;
	const int *keep;
	size_t nr_keep;
};

static struct outcome outcome;

static void keep_message(const struct log_message *message)
{
	char *text = message->level == LOG_DEBUG ? outcome.message : outcome.warning;

	snprintf(text, sizeof(outcome.message), "%s", message->message);
}

static void read_status(void)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "re");

	while (file && fgets(line, sizeof(line), file)) {
		sscanf(line, "CapInh: %" SCNx64, &outcome.inheritable);
		sscanf(line, "CapPrm: %" SCNx64, &outcome.permitted);
		sscanf(line, "CapEff: %" SCNx64, &outcome.effective_capabilities);
		sscanf(line, "CapBnd: %" SCNx64, &outcome.bounding);
		sscanf(line, "CapAmb: %" SCNx64, &outcome.ambient);
		sscanf(line, "NoNewPrivs: %d", &outcome.no_new_privileges);
	}
	if (file)
		fclose(file);
}

static void __attribute__((noreturn)) child__run(const struct child *child, int out)
{
	__u32 key = 0, value;

	if (child->prepare)
		child->prepare();
	outcome.err = privileges__drop(child->map_fd, child->user, child->keep, child->nr_keep);
	getresuid(&outcome.real, &outcome.effective, &outcome.saved);
	outcome.group = getegid();
	outcome.nr_groups = getgroups(0, NULL);
	read_status();
	if (child->map_fd >= 0)
		outcome.lookup = bpf_map_lookup_elem(child->map_fd, &key, &value);
	_exit(write(out, &outcome, sizeof(outcome)) != sizeof(outcome));
}

/* Drops in a child of its own; outcome is then what that child saw. */
static bool drop_in_child(const char *name, const struct child *child)
{
	int ends[2], status = -1;
	ssize_t got;
	pid_t pid;

	memset(&outcome, 0, sizeof(outcome));
	if (pipe(ends))
		return test__check(false, name, "no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid)
		child__run(child, ends[1]);
	close(ends[1]);
	got = read(ends[0], &outcome, sizeof(outcome));
	close(ends[0]);
	waitpid(pid, &status, 0);
	return test__check(got == sizeof(outcome) && status == 0, name,
			   "the child ended with %#x and told nothing", status);
}

static void check_nobody(const char *name)
{
	test__check(outcome.real == 65534 && outcome.effective == 65534 && outcome.saved == 65534 &&
			    outcome.group == 65534 && !outcome.nr_groups,
		    name, "user %u/%u/%u, group %u, %d more groups", outcome.real,
		    outcome.effective, outcome.saved, outcome.group, outcome.nr_groups);
}

static void check_capabilities(const char *name, uint64_t expected)
{
	test__check(outcome.effective_capabilities == expected && outcome.permitted == expected &&
			    !outcome.inheritable && !outcome.ambient,
		    name,
		    "expected %" PRIx64 ", saw effective %" PRIx64 ", permitted %" PRIx64
		    ", inheritable %" PRIx64 ", ambient %" PRIx64,
		    expected, outcome.effective_capabilities, outcome.permitted,
		    outcome.inheritable, outcome.ambient);
}

static void add_groups(void)
{
	const gid_t groups[] = { 7, 8 };

	if (setgroups(2, groups))
		_exit(3);
}

static void test_root_drops_all(void)
{
	const struct child child = { .prepare = add_groups,
				     .map_fd = -1,
				     .user = PRIVILEGES_NOBODY };

	if (!drop_in_child("root drops", &child))
		return;
	test__equal("root drops: no error", -outcome.err, 0);
	check_nobody("root drops: is nobody");
	check_capabilities("root drops: has no capability", 0);
	test__equal("root drops: no-new-privileges", outcome.no_new_privileges, 1);
	test__equal("root drops: the bounding set is empty", outcome.bounding, 0);
	test__same("root drops: it says so", outcome.message, "kept no capability");
}

static void test_root_keeps_kill(void)
{
	const int keep[] = { CAP_KILL };
	const struct child child = {
		.map_fd = -1, .user = PRIVILEGES_NOBODY, .keep = keep, .nr_keep = 1
	};

	if (!drop_in_child("root keeps CAP_KILL", &child))
		return;
	test__equal("root keeps CAP_KILL: no error", -outcome.err, 0);
	check_nobody("root keeps CAP_KILL: is nobody");
	check_capabilities("root keeps CAP_KILL: and only that", 1ULL << CAP_KILL);
	test__same("root keeps CAP_KILL: it says so", outcome.message, "kept CAP_KILL");
}

static void test_other_than_nobody(void)
{
	const struct child owner = { .map_fd = -1, .user = 1234 }, root = { .map_fd = -1 };

	if (!drop_in_child("root becomes an owner", &owner))
		return;
	test__check(!outcome.err && outcome.real == 1234 && outcome.effective == 1234 &&
			    outcome.saved == 1234 && outcome.group == 65534,
		    "root becomes an owner: and nobody else", "user %u/%u/%u, group %u",
		    outcome.real, outcome.effective, outcome.saved, outcome.group);
	check_capabilities("root becomes an owner: has no capability", 0);
	if (!drop_in_child("root stays", &root))
		return;
	test__check(!outcome.err && !outcome.effective, "root stays: user 0", "user %u",
		    outcome.effective);
	check_capabilities("root stays: has no capability", 0);
	test__same("root stays: it says so", outcome.message, "kept no capability, stays root");
}

static void set_capabilities(uint64_t mask)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {
		{ .effective = (uint32_t)mask, .permitted = (uint32_t)mask },
		{ .effective = mask >> 32, .permitted = mask >> 32 },
	};

	if (syscall(SYS_capset, &header, data))
		_exit(3);
}

static void leave_root_with_kill(void)
{
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) || setresgid(1234, 0, 0) ||
	    setresuid(1234, 1234, 1234))
		_exit(3);
	set_capabilities(1ULL << CAP_KILL | 1ULL << CAP_SYS_NICE);
}

static void test_other_user(void)
{
	const int keep[] = { CAP_KILL, CAP_SYS_PTRACE };
	const struct child child = {
		.prepare = leave_root_with_kill,
		.map_fd = -1,
		.user = PRIVILEGES_NOBODY,
		.keep = keep,
		.nr_keep = 2,
	};

	if (!drop_in_child("another user drops", &child))
		return;
	test__equal("another user drops: no error", -outcome.err, 0);
	test__check(outcome.real == 1234 && outcome.effective == 1234 && outcome.saved == 1234,
		    "another user stays who it is", "user %u/%u/%u", outcome.real,
		    outcome.effective, outcome.saved);
	check_capabilities("another user keeps what it had of the listed", 1ULL << CAP_KILL);
	test__equal("another user drops: no-new-privileges", outcome.no_new_privileges, 1);
}

static void leave_root(void)
{
	if (setgroups(0, NULL) || setresgid(1234, 1234, 1234) || setresuid(1234, 1234, 1234))
		_exit(3);
}

static void test_user_without_capabilities(void)
{
	const struct child child = { .prepare = leave_root,
				     .map_fd = -1,
				     .user = PRIVILEGES_NOBODY };

	if (!drop_in_child("a plain user drops", &child))
		return;
	test__equal("a plain user drops: no error", -outcome.err, 0);
	check_capabilities("a plain user has no capability", 0);
}

static void keep_only_bpf(void)
{
	set_capabilities(1ULL << CAP_BPF | 1ULL << CAP_PERFMON);
}

static void test_root_that_cannot_leave(void)
{
	const struct child child = { .prepare = keep_only_bpf,
				     .map_fd = -1,
				     .user = PRIVILEGES_NOBODY };

	if (!drop_in_child("root without CAP_SETUID drops", &child))
		return;
	test__equal("root without CAP_SETUID drops: no error", -outcome.err, 0);
	check_capabilities("root without CAP_SETUID has no capability", 0);
	test__same("root without CAP_SETUID says that it stays root", outcome.message,
		   "kept no capability, stays root");
	test__check(strstr(outcome.warning, "stays user root") != NULL,
		    "root without CAP_SETUID warns", "it said \"%s\"", outcome.warning);
}

static void test_map_goes_on_working(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "test", sizeof(__u32), sizeof(__u32), 1, NULL);
	const struct child child = { .map_fd = fd, .user = PRIVILEGES_NOBODY };

	if (fd < 0) {
		test__skip("a map can be read after the drop", "no map can be created: %s",
			   strerror(-fd));
		return;
	}
	if (drop_in_child("a map can be read after the drop", &child)) {
		bool kept = outcome.permitted & 1ULL << CAP_BPF;

		test__equal("a map: no error", -outcome.err, 0);
		check_nobody("a map: is nobody");
		test__equal("a map: the lookup works", -outcome.lookup, 0);
		check_capabilities("a map: nothing but CAP_BPF, where needed, is kept",
				   kept ? 1ULL << CAP_BPF : 0);
		test__same("a map: it says so", outcome.message,
			   kept ? "kept CAP_BPF" : "kept no capability");
	}
	close(fd);
}

/* In a child, since lowered capabilities do not come back. */
static void check_missing(const char *name, uint64_t mask, const char *expected)
{
	char text[64] = "";
	int ends[2];
	pid_t pid;

	if (pipe(ends)) {
		test__check(false, name, "no pipe: %s", strerror(errno));
		return;
	}
	pid = fork();
	if (!pid) {
		set_capabilities(mask);
		privileges__missing_for_bpf(text, sizeof(text));
		_exit(write(ends[1], text, sizeof(text)) != sizeof(text));
	}
	close(ends[1]);
	if (read(ends[0], text, sizeof(text)) != sizeof(text))
		snprintf(text, sizeof(text), "(the child told nothing)");
	test__same(name, text, expected);
	close(ends[0]);
	waitpid(pid, NULL, 0);
}

static void test_missing(void)
{
	check_missing("no capability: both are missing", 0, "CAP_BPF and CAP_PERFMON");
	check_missing("CAP_BPF alone: the other is missing", 1ULL << CAP_BPF, "CAP_PERFMON");
	check_missing("CAP_PERFMON alone: the other is missing", 1ULL << CAP_PERFMON, "CAP_BPF");
	check_missing("both: none is missing", 1ULL << CAP_BPF | 1ULL << CAP_PERFMON, "");
	check_missing("CAP_SYS_ADMIN includes both", 1ULL << CAP_SYS_ADMIN, "");
}

int main(void)
{
	log__init("privileges_test");
	log__set_level(LOG_DEBUG);
	log__set_writer(keep_message);
	if (geteuid()) {
		test__skip("giving up privileges", "needs root");
		return test__done();
	}
	test_missing();
	test_root_drops_all();
	test_root_keeps_kill();
	test_other_than_nobody();
	test_other_user();
	test_user_without_capabilities();
	test_root_that_cannot_leave();
	test_map_goes_on_working();
	return test__done();
}
