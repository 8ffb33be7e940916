// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/refusal.h"

#include <errno.h>
#include <unistd.h>

#include <linux/bpf.h>
#include <linux/capability.h>

#include <bpf/bpf.h>

#include "run/check_item.h"
#include "run/log.h"
#include "run/privileges.h"

#define EVENT_SOURCES_PATH "/sys/bus/event_source/devices"
#define KPROBE_PMU_PATH EVENT_SOURCES_PATH "/kprobe"

/*
 * A program for a target that is no function: a kernel that allows programs at functions answers
 * EINVAL when it looks at the target; a policy answers EPERM before.
 */
static int try_fentry(void)
{
	const struct bpf_insn return_zero[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = 1);
	int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "refusal", "GPL", return_zero,
			       sizeof(return_zero) / sizeof(return_zero[0]), &options);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int check_fentry(void)
{
	char missing[64];

	if (try_fentry() != -EPERM)
		return 0;
	/* These have the same answer; the real try tells them. */
	privileges__missing_for_bpf(missing, sizeof(missing));
	if (*missing || (memlock__is_counted() && !privileges__has(CAP_SYS_RESOURCE)))
		return 0;
	return log_error_because(EPERM,
				 "this kernel forbids programs at functions, by lockdown or a "
				 "policy",
				 "--check tells what it allows.",
				 "cannot load the fentry programs");
}

static int check_kprobe(void)
{
	if (access(EVENT_SOURCES_PATH, F_OK) || !access(KPROBE_PMU_PATH, F_OK))
		return 0;
	return log_error_because(ENOENT, "this kernel was built without kprobes (CONFIG_KPROBES)",
				 "--check tells what it allows.", "cannot attach by kprobe");
}

int attach__check_refusal(enum attach_mechanism mechanism)
{
	switch (mechanism) {
	case ATTACH_FENTRY:
		return check_fentry();
	case ATTACH_KPROBE:
		return check_kprobe();
	default:
		return 0;
	}
}
