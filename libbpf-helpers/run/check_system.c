// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/check_item.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <mntent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sys/utsname.h>

#include <bpf/btf.h>

#include "run/preemption.h"
#include "run/privileges.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* The largest tables of a tool and its ring, with room: with a limit above, it is not to blame. */
#define ENOUGH_MEMLOCK (128ULL << 20)

static void look_at_release(const struct check_item *item, const struct check_facts *facts,
			    struct finding *finding)
{
	struct utsname name;

	(void)item;
	(void)facts;
	if (uname(&name))
		finding__unknown(finding, "uname()", errno);
	else
		finding__ok(finding, "%s %s", name.release, name.machine);
}

static void look_at_btf(const struct check_item *item, const struct check_facts *facts,
			struct finding *finding)
{
	(void)item;
	if (facts->btf) {
		finding__ok(finding, BTF_PATH ": %u types", btf__type_cnt(facts->btf));
		return;
	}
	finding__no(finding, BTF_PATH ": %s", strerror(-facts->btf_err));
	if (facts->btf_err == -ENOENT) {
		finding__cause(finding, "this kernel was built without CONFIG_DEBUG_INFO_BTF, or "
					"/sys is hidden from this process");
		finding__remedy(finding, "Boot a kernel that has its types: those of Debian 11 and "
					 "later do.");
	} else {
		finding__cause(finding, "the file is there, but no types can be read from it");
		finding__remedy(finding, "Run it as root, and outside of a container.");
	}
}

static void look_at_tracefs(const struct check_item *item, const struct check_facts *facts,
			    struct finding *finding)
{
	(void)item;
	if (facts->tracefs) {
		finding__ok(finding, "%s", facts->tracefs);
		return;
	}
	finding__no(finding, "neither at /sys/kernel/tracing nor below /sys/kernel/debug");
	finding__cause(finding,
		       "it is not mounted where this process can see it; only tp needs it");
	finding__remedy(finding, "mount -t tracefs tracefs /sys/kernel/tracing");
}

const struct check_item check_kernel_items[] = {
	{ .name = "kernel release", .look = look_at_release },
	{ .name = "kernel types (BTF)", .look = look_at_btf, .required = true },
	{ .name = "tracefs", .look = look_at_tracefs },
	{},
};

/* Why the lack of a capability does no harm here, or NULL. */
static const char *why_spared(const struct check_item *item, const struct check_facts *facts)
{
	if (facts->sys_admin && (item->capability == CAP_BPF || item->capability == CAP_PERFMON))
		return "None needed: CAP_SYS_ADMIN, which is there, includes it.";
	if (!facts->memlock_counts && item->capability == CAP_SYS_RESOURCE)
		return "None needed: this kernel does not count BPF memory against that limit.";
	if (facts->root && item->capability == CAP_DAC_READ_SEARCH)
		return "None needed: tracefs belongs to root.";
	return NULL;
}

static void look_at_capability(const struct check_item *item, const struct check_facts *facts,
			       struct finding *finding)
{
	const char *spared = why_spared(item, facts);

	if (privileges__has(item->capability)) {
		finding__ok(finding, "effective");
		return;
	}
	finding__no(finding, "not effective; it is for %s", item->purpose);
	finding__cause(finding, "%s",
		       facts->root ? "root was started without it, by a container or service" :
				     "this process is not root and was not given it");
	if (spared)
		finding__remedy(finding, "%s", spared);
	else
		finding__remedy(finding, "%s",
				facts->root ? "Let the container or service keep it." :
					      "Run it as root or with this capability.");
}

static void look_at_lockdown(const struct check_item *item, const struct check_facts *facts,
			     struct finding *finding)
{
	static const char path[] = "/sys/kernel/security/lockdown";
	char line[128];
	int err = line__read(path, line, sizeof(line));

	(void)item;
	if (err) {
		finding__unknown(finding, path, err);
	} else if (!strcmp(facts->lockdown, "confidentiality")) {
		finding__no(finding, "%s", line);
		finding__cause(finding,
			       "in this mode the kernel refuses kprobes, tracefs and reading "
			       "kernel memory");
		finding__remedy(finding, "Boot with lockdown=integrity or without it (with Secure "
					 "Boot a distribution may set it).");
	} else {
		finding__ok(finding, "%s", line);
	}
}

int symbol__find(const char *name, unsigned long long *address)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], symbol[256], type;
	int err = -ENOENT;

	if (!file)
		return -errno;
	while (err && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%llx %c %255s", address, &type, symbol) != 3)
			continue;
		if (name ? !strcmp(symbol, name) : type == 'T' || type == 't')
			err = 0;
	}
	fclose(file);
	return err;
}

/* The rules are those of kallsyms_show_value() in the kernel's kernel/ksyms_common.c. */
static void look_at_symbols(const struct check_item *item, const struct check_facts *facts,
			    struct finding *finding)
{
	static const char path[] = "/proc/sys/kernel/kptr_restrict";
	unsigned long long address;
	char value[16];
	int err;

	(void)item;
	err = line__read(path, value, sizeof(value));
	if (err) {
		finding__unknown(finding, path, err);
		return;
	}
	err = symbol__find(NULL, &address);
	if (err) {
		finding__unknown(finding, "/proc/kallsyms", err);
		return;
	}
	if (address) {
		finding__ok(finding, "%s; /proc/kallsyms shows addresses", value);
		return;
	}
	finding__no(finding, "%s; /proc/kallsyms hides addresses: kernel stacks have no names",
		    value);
	if (atoi(value) > 1) {
		finding__cause(finding,
			       "kernel.kptr_restrict is 2, which hides them from everybody");
		finding__remedy(finding, "sysctl kernel.kptr_restrict=1");
	} else {
		finding__cause(finding, "this process lacks CAP_SYSLOG%s",
			       atoi(value) == 0 && facts->paranoid > 1 ?
				       ", and kernel.perf_event_paranoid is above 1" :
				       "");
		finding__remedy(finding, "Run it as root or with CAP_SYSLOG.");
	}
}

/* The setting, and an event really opened: which values forbid what differs by distribution. */
static void look_at_paranoid(const struct check_item *item, const struct check_facts *facts,
			     struct finding *finding)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_SOFTWARE,
					.config = PERF_COUNT_SW_CPU_CLOCK };
	char value[16] = "unknown";
	int fd = perf_event__open(&attr);

	if (facts->paranoid != INT_MIN)
		snprintf(value, sizeof(value), "%d", facts->paranoid);
	if (fd < 0) {
		finding__explain(finding, item, facts, STEP_OPEN, fd);
		finding__no(finding, "%s; an event cannot be opened: %s", value, strerror(-fd));
		return;
	}
	close(fd);
	finding__ok(finding, "%s; an event was opened", value);
}

static void look_at_unprivileged(const struct check_item *item, const struct check_facts *facts,
				 struct finding *finding)
{
	static const char path[] = "/proc/sys/kernel/unprivileged_bpf_disabled";
	char value[16];
	int err = line__read(path, value, sizeof(value));

	(void)item;
	if (err) {
		finding__unknown(finding, path, err);
	} else if (!strcmp(value, "0")) {
		finding__ok(finding, "0: everybody may call bpf()");
	} else if (!strstr(facts->missing, "CAP_BPF")) {
		finding__ok(finding, "%s: CAP_BPF may call bpf()", value);
	} else {
		finding__no(finding, "%s: only CAP_BPF may call bpf()", value);
		finding__cause(finding, "this process lacks CAP_BPF");
		finding__remedy(finding, "Run it as root or with CAP_BPF and CAP_PERFMON.");
	}
}

static void look_at_jit(const struct check_item *item, const struct check_facts *facts,
			struct finding *finding)
{
	static const char path[] = "/proc/sys/net/core/bpf_jit_enable";
	char value[16];
	int err = line__read(path, value, sizeof(value));

	(void)item;
	(void)facts;
	if (err) {
		finding__unknown(finding, path, err);
	} else if (strcmp(value, "0")) {
		finding__ok(finding, "%s", value);
	} else {
		finding__no(finding, "0: programs are interpreted, and cost more");
		finding__cause(finding, "the sysctl net.core.bpf_jit_enable is 0");
		finding__remedy(finding, "sysctl net.core.bpf_jit_enable=1");
	}
}

static void look_at_preemption(const struct check_item *item, const struct check_facts *facts,
			       struct finding *finding)
{
	struct preemption preemption;

	(void)item;
	(void)facts;
	preemption__read(&preemption);
	finding__ok(finding, "%s, from %s", preemption.mode, preemption.source);
	if (!preemption.known)
		finding->status = FINDING_UNKNOWN;
}

static void look_at_cgroups(const struct check_item *item, const struct check_facts *facts,
			    struct finding *finding)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	char unified[128] = "";
	const struct mntent *mount;
	bool v1 = false;

	(void)item;
	(void)facts;
	if (!mounts) {
		finding__unknown(finding, "/proc/self/mounts", errno);
		return;
	}
	while ((mount = getmntent(mounts))) {
		v1 |= !strcmp(mount->mnt_type, "cgroup");
		if (!*unified && !strcmp(mount->mnt_type, "cgroup2"))
			snprintf(unified, sizeof(unified), "%s", mount->mnt_dir);
	}
	endmntent(mounts);
	if (*unified) {
		finding__ok(finding, "%s; cgroup2 at %s", v1 ? "hybrid" : "v2", unified);
		return;
	}
	finding__no(finding, "%s", v1 ? "v1 only" : "no control groups are mounted");
	finding__cause(finding, "cgroup2 is not mounted; only --cgroup needs it");
	finding__remedy(finding, "mount -t cgroup2 cgroup2 /sys/fs/cgroup%s", v1 ? "/unified" : "");
}

static void look_at_memlock(const struct check_item *item, const struct check_facts *facts,
			    struct finding *finding)
{
	char limit[32] = "unlimited";

	(void)item;
	if (facts->memlock != RLIM_INFINITY)
		snprintf(limit, sizeof(limit), "%" PRIu64 " kB", (uint64_t)facts->memlock / 1024);
	if (!facts->memlock_counts) {
		finding__ok(finding, "%s; BPF memory does not count against it", limit);
	} else if (facts->memlock >= ENOUGH_MEMLOCK || facts->sys_resource) {
		finding__ok(finding, "%s%s; BPF memory counts against it", limit,
			    facts->memlock >= ENOUGH_MEMLOCK ? "" : ", raised by the tool");
	} else {
		finding__no(finding, "%s; BPF memory counts against it", limit);
		finding__cause(finding,
			       "kernels before 5.11 count it, and without CAP_SYS_RESOURCE "
			       "the tool cannot raise the limit");
		finding__remedy(finding, "Run it with CAP_SYS_RESOURCE, or ulimit -l unlimited.");
	}
}

#define CAPABILITY(which, what)                                                                    \
	{                                                                                          \
		.name = #which, .look = look_at_capability, .capability = which, .purpose = what   \
	}

const struct check_item check_system_items[] = {
	CAPABILITY(CAP_BPF, "loading programs and creating maps"),
	CAPABILITY(CAP_PERFMON, "attaching programs and reading kernel memory"),
	CAPABILITY(CAP_SYS_ADMIN, "uprobes, --stats, and probes if perf_event_paranoid is above 2"),
	CAPABILITY(CAP_SYS_PTRACE, "names in the user stacks of other processes"),
	CAPABILITY(CAP_SYSLOG, "names in kernel stacks"),
	CAPABILITY(CAP_SYS_RESOURCE, "raising the locked-memory limit"),
	CAPABILITY(CAP_DAC_READ_SEARCH, "reading tracefs by a user who is not root"),
	{ .name = "lockdown", .look = look_at_lockdown },
	{ .name = "kptr_restrict", .look = look_at_symbols },
	{ .name = "perf_event_paranoid", .look = look_at_paranoid, .config = "CONFIG_PERF_EVENTS" },
	{ .name = "unprivileged_bpf_disabled", .look = look_at_unprivileged },
	{ .name = "bpf_jit_enable", .look = look_at_jit },
	{ .name = "preemption", .look = look_at_preemption },
	{ .name = "control groups", .look = look_at_cgroups },
	{ .name = "locked-memory limit", .look = look_at_memlock, .required = true },
	{},
};
