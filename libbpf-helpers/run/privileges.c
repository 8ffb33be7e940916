// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/privileges.h"

#include <errno.h>
#include <grp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>

#include "run/log.h"

/* Sets of capabilities are masks: bit N is capability N. */
struct capability_sets {
	uint64_t effective;
	uint64_t permitted;
	uint64_t inheritable;
};

#define NAME(capability) [capability] = #capability
static const char *const capability_names[] = {
	NAME(CAP_CHOWN),
	NAME(CAP_DAC_OVERRIDE),
	NAME(CAP_DAC_READ_SEARCH),
	NAME(CAP_FOWNER),
	NAME(CAP_FSETID),
	NAME(CAP_KILL),
	NAME(CAP_SETGID),
	NAME(CAP_SETUID),
	NAME(CAP_SETPCAP),
	NAME(CAP_LINUX_IMMUTABLE),
	NAME(CAP_NET_BIND_SERVICE),
	NAME(CAP_NET_BROADCAST),
	NAME(CAP_NET_ADMIN),
	NAME(CAP_NET_RAW),
	NAME(CAP_IPC_LOCK),
	NAME(CAP_IPC_OWNER),
	NAME(CAP_SYS_MODULE),
	NAME(CAP_SYS_RAWIO),
	NAME(CAP_SYS_CHROOT),
	NAME(CAP_SYS_PTRACE),
	NAME(CAP_SYS_PACCT),
	NAME(CAP_SYS_ADMIN),
	NAME(CAP_SYS_BOOT),
	NAME(CAP_SYS_NICE),
	NAME(CAP_SYS_RESOURCE),
	NAME(CAP_SYS_TIME),
	NAME(CAP_SYS_TTY_CONFIG),
	NAME(CAP_MKNOD),
	NAME(CAP_LEASE),
	NAME(CAP_AUDIT_WRITE),
	NAME(CAP_AUDIT_CONTROL),
	NAME(CAP_SETFCAP),
	NAME(CAP_MAC_OVERRIDE),
	NAME(CAP_MAC_ADMIN),
	NAME(CAP_SYSLOG),
	NAME(CAP_WAKE_ALARM),
	NAME(CAP_BLOCK_SUSPEND),
	NAME(CAP_AUDIT_READ),
	NAME(CAP_PERFMON),
	NAME(CAP_BPF),
	NAME(CAP_CHECKPOINT_RESTORE),
};
#undef NAME
#define NR_NAMES (sizeof(capability_names) / sizeof(*capability_names))

static uint64_t bit(int capability)
{
	return 1ULL << capability;
}

static int capability_sets__read(struct capability_sets *sets)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &header, data))
		return -errno;
	sets->effective = data[0].effective | (uint64_t)data[1].effective << 32;
	sets->permitted = data[0].permitted | (uint64_t)data[1].permitted << 32;
	sets->inheritable = data[0].inheritable | (uint64_t)data[1].inheritable << 32;
	return 0;
}

/* Empties the inheritable set, and with it the kernel empties the ambient one. */
static int capability_sets__write(uint64_t effective, uint64_t permitted)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {
		{ .effective = (uint32_t)effective, .permitted = (uint32_t)permitted },
		{ .effective = effective >> 32, .permitted = permitted >> 32 },
	};

	if (syscall(SYS_capset, &header, data))
		return log_error(errno, NULL, "cannot give up capabilities");
	return 0;
}

bool privileges__has(int capability)
{
	struct capability_sets sets;

	return !capability_sets__read(&sets) && sets.effective & bit(capability);
}

void privileges__missing_for_bpf(char *text, size_t size)
{
	bool bpf = privileges__has(CAP_BPF), perfmon = privileges__has(CAP_PERFMON);

	/* CAP_SYS_ADMIN includes both (include/linux/capability.h of the kernel). */
	if (privileges__has(CAP_SYS_ADMIN))
		bpf = perfmon = true;
	snprintf(text, size, "%s%s%s", bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ",
		 perfmon ? "" : "CAP_PERFMON");
}

/* 0, or -errno of a lookup's first step in the map. */
static int map__try(int map_fd, void *key)
{
	int err = bpf_map_get_next_key(map_fd, NULL, key);

	/* An empty map has no first key, and a ring buffer no keys at all: both were asked. */
	return err == -EPERM ? err : 0;
}

/* Makes room for a key of the map; while the map's size may still be asked. */
static int map__alloc_key(int map_fd, void **key)
{
	struct bpf_map_info info = {};
	uint32_t size = sizeof(info);
	int err;

	err = bpf_obj_get_info_by_fd(map_fd, &info, &size);
	if (err)
		return log_error(err, NULL, "cannot read the size of a map's keys");
	*key = calloc(1, info.key_size ? info.key_size : 1);
	return *key ? 0 : log_error(ENOMEM, NULL, "cannot make room for a map's key");
}

/* What later execs could gain; no-new-privileges holds also where CAP_SETPCAP is missing. */
static void drop_bounding_set(void)
{
	for (int capability = 0; !prctl(PR_CAPBSET_DROP, capability, 0, 0, 0); capability++)
		;
}

static bool is_root(void)
{
	uid_t real, effective, saved;

	return getresuid(&real, &effective, &saved) || !real || !effective || !saved;
}

static bool is_user(uid_t wanted)
{
	uid_t user[3];
	gid_t group[3];

	if (getresuid(&user[0], &user[1], &user[2]) || getresgid(&group[0], &group[1], &group[2]))
		return false;
	for (int i = 0; i < 3; i++)
		if (user[i] != wanted || group[i] != PRIVILEGES_NOBODY)
			return false;
	return getgroups(0, NULL) == 0;
}

static int become(uid_t user)
{
	const gid_t group = PRIVILEGES_NOBODY;

	/* Else the kernel takes all capabilities away with user 0. */
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0))
		return log_error(errno, NULL, "cannot keep capabilities when giving up root");
	if (setgroups(0, NULL) || setresgid(group, group, group) || setresuid(user, user, user))
		return log_error(errno, NULL, "cannot become user %u and group %u", user, group);
	if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0))
		return log_error(errno, NULL, "cannot end the keeping of capabilities");
	if (!is_user(user))
		return log_error_because(EPERM, "the kernel shows another user or group", NULL,
					 "cannot become user %u and group %u", user, group);
	return 0;
}

static int drop_root(uid_t user)
{
	if (!is_root() || !user)
		return 0;
	if (privileges__has(CAP_SETUID) && privileges__has(CAP_SETGID))
		return become(user);
	log_warning("Add CAP_SETUID and CAP_SETGID, or run it as another user.",
		    "stays user root: it lacks CAP_SETUID or CAP_SETGID to give that up");
	return 0;
}

static int verify(uint64_t kept)
{
	struct capability_sets sets;
	int err;

	err = capability_sets__read(&sets);
	if (err)
		return log_error(err, NULL, "cannot read the capabilities back");
	if (sets.permitted != kept || sets.effective != kept || sets.inheritable)
		return log_error_because(EPERM, "the kernel shows other capabilities than were set",
					 NULL, "cannot give up capabilities");
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return log_error_because(EPERM, "the kernel does not show no-new-privileges", NULL,
					 "cannot give up later privileges");
	return 0;
}

static void tell_kept(uint64_t kept)
{
	char names[NR_NAMES * sizeof("CAP_CHECKPOINT_RESTORE, ")] = "";

	for (size_t i = 0; i < NR_NAMES; i++) {
		if (!(kept & bit(i)))
			continue;
		if (*names)
			strcat(names, ", ");
		strcat(names, capability_names[i]);
	}
	log_debug("kept %s%s", *names ? names : "no capability", is_root() ? ", stays root" : "");
}

/* Lowers the capabilities to keep, and to one more if lookups in the map need it. */
static int lower(int map_fd, void *key, uint64_t keep, uint64_t *kept)
{
	struct capability_sets sets;
	uint64_t lookup;
	int err;

	err = capability_sets__read(&sets);
	if (err)
		return log_error(err, NULL, "cannot read the capabilities");
	lookup = sets.permitted & bit(CAP_BPF) ? bit(CAP_BPF) : sets.permitted & bit(CAP_SYS_ADMIN);
	keep &= sets.permitted;
	if (map_fd >= 0) {
		err = capability_sets__write(keep, keep | lookup);
		if (err)
			return err;
		/* Before 5.19 all of bpf() was shut to others (commit c8644cd0efe7). */
		if (map__try(map_fd, key))
			keep |= lookup;
	}
	*kept = keep;
	err = capability_sets__write(keep, keep);
	if (!err && map_fd >= 0 && map__try(map_fd, key))
		return log_error(EPERM, NULL, "cannot read maps without privileges");
	return err;
}

int privileges__drop(int map_fd, uid_t user, const int *keep, size_t nr_keep)
{
	uint64_t wanted = 0, kept = 0;
	void *key = NULL;
	int err = 0;

	for (size_t i = 0; i < nr_keep; i++)
		wanted |= bit(keep[i]);
	if (map_fd >= 0)
		err = map__alloc_key(map_fd, &key);
	if (err)
		return err;
	drop_bounding_set();
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		err = log_error(errno, NULL, "cannot set no-new-privileges");
	if (!err)
		err = drop_root(user);
	if (!err)
		err = lower(map_fd, key, wanted, &kept);
	free(key);
	if (!err)
		err = verify(kept);
	if (!err)
		tell_kept(kept);
	return err;
}
