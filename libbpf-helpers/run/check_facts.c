// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/check_item.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>

#include "run/privileges.h"

/* The number of the first user namespace in every kernel (its include/linux/proc_ns.h). */
#define FIRST_USER_NAMESPACE 0xEFFFFFFDU

int line__read(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	int err = 0;

	line[0] = '\0';
	if (!file)
		return -errno;
	if (!fgets(line, size, file))
		err = ferror(file) ? -errno : -ENODATA;
	line[strcspn(line, "\n")] = '\0';
	fclose(file);
	return err;
}

static int read_release(void)
{
	int version = 0, patchlevel = 0;
	struct utsname name;

	if (!uname(&name))
		sscanf(name.release, "%d.%d", &version, &patchlevel);
	return RELEASE(version, patchlevel);
}

static bool in_user_namespace(void)
{
	struct stat own;

	return !stat("/proc/self/ns/user", &own) && own.st_ino != FIRST_USER_NAMESPACE;
}

static int read_paranoid(void)
{
	char line[32];

	if (line__read("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line)))
		return INT_MIN;
	return atoi(line);
}

/* The mode in force is the one in brackets: "none [integrity] confidentiality". */
static void read_lockdown(char *mode, size_t size)
{
	char line[128], *begin, *end;

	mode[0] = '\0';
	if (line__read("/sys/kernel/security/lockdown", line, sizeof(line)))
		return;
	begin = strchr(line, '[');
	end = begin ? strchr(begin, ']') : NULL;
	if (end)
		snprintf(mode, size, "%.*s", (int)(end - begin - 1), begin + 1);
}

bool lockdown__is_confidential(void)
{
	char mode[24];

	read_lockdown(mode, sizeof(mode));
	return !strcmp(mode, "confidentiality");
}

/* In the order libbpf looks for it. */
static const char *find_tracefs(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	struct statfs mounted;

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (!statfs(places[i], &mounted) && mounted.f_type == TRACEFS_MAGIC)
			return places[i];
	return NULL;
}

static int create_small_map(void)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "check", sizeof(__u32), sizeof(__u32), 1, NULL);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/*
 * Whether a map counts against the limit is seen by making one while the limit is zero.
 * libbpf raises the limit once, before the first map, if it can and the kernel needs it.
 */
bool memlock__is_counted(void)
{
	int release = read_release();
	struct rlimit limit, none;
	bool counted;

	/* Without a map it cannot be tried: Linux 5.11 ended the counting. */
	if (create_small_map() || getrlimit(RLIMIT_MEMLOCK, &limit))
		return release < RELEASE(5, 11);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = limit.rlim_max };
	if (setrlimit(RLIMIT_MEMLOCK, &none))
		return release < RELEASE(5, 11);
	counted = create_small_map() == -EPERM;
	setrlimit(RLIMIT_MEMLOCK, &limit);
	return counted;
}

void facts__read(struct check_facts *facts)
{
	struct rlimit memlock = { .rlim_cur = RLIM_INFINITY };

	getrlimit(RLIMIT_MEMLOCK, &memlock);
	*facts = (struct check_facts){
		.release = read_release(),
		.root = geteuid() == 0,
		.sys_admin = privileges__has(CAP_SYS_ADMIN),
		.sys_resource = privileges__has(CAP_SYS_RESOURCE),
		.user_namespace = in_user_namespace(),
		.seccomp = prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == SECCOMP_MODE_FILTER,
		.perf_units = !access("/sys/bus/event_source/devices", R_OK),
		.paranoid = read_paranoid(),
		.tracefs = find_tracefs(),
		.memlock = memlock.rlim_cur,
	};
	privileges__missing_for_bpf(facts->missing, sizeof(facts->missing));
	read_lockdown(facts->lockdown, sizeof(facts->lockdown));
	facts->memlock_counts = memlock__is_counted();
	/* Not btf__load_vmlinux_btf(), which would also take a file from /boot. */
	facts->btf = btf__parse_raw(BTF_PATH);
	if (!facts->btf)
		facts->btf_err = -errno;
}

void facts__free(struct check_facts *facts)
{
	btf__free(facts->btf);
}
