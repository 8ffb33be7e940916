// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/probe_info.h"

#include <stddef.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

/*
 * struct bpf_link_info of Linux 6.7 as far as it is about a kprobe; the headers of 6.1 end before
 * it. The kernel writes back how much it has filled.
 */
struct kprobe_link_info {
	__u32 type;
	__u32 id;
	__u32 prog_id;
	__u32 unused;
	__u32 event; /* enum bpf_perf_event_type; 0 before 6.6 */
	__u32 unused_too;
	__u64 func_name;
	__u32 name_len;
	__u32 offset;
	__u64 addr;
	__u64 missed;
};

/* Whether hits of its mechanism can be lost before they come to the program. Of a uprobe none are
 * (they come from user mode, where nothing of tracing is under way), though the program can be
 * skipped where another run of it was preempted; kernels that can do that count it. */
static bool probe__has_kprobe(const struct attached_probe *probe)
{
	return bpf_program__type(probe->prog) == BPF_PROG_TYPE_KPROBE &&
	       probe->mechanism != ATTACH_UPROBE;
}

void probe_info__note_link(struct attached_probe *probe)
{
	struct kprobe_link_info link = {};
	__u32 size = sizeof(link);

	if (!probe__has_kprobe(probe))
		return;
	/* Before 5.15 it is no link but a descriptor of the event itself. */
	if (bpf_obj_get_info_by_fd(bpf_link__fd(probe->link), &link, &size))
		return;
	probe->link_missed = link.missed;
	probe->link_missed_known = size >= sizeof(link) && link.event;
}

void probe_info__read(const struct attached_probe *probe, struct probe_info *info)
{
	struct bpf_prog_info prog = {};
	__u32 size = sizeof(prog);

	*info = (struct probe_info){};
	/* The kernels without the count run tp_btf programs unconditionally (5.10,
	 * __bpf_trace_run); trampolines and kprobes are guarded by a counter nobody reads. */
	info->can_miss = bpf_program__type(probe->prog) != BPF_PROG_TYPE_TRACING ||
			 bpf_program__expected_attach_type(probe->prog) != BPF_TRACE_RAW_TP;
	if (bpf_obj_get_info_by_fd(bpf_program__fd(probe->prog), &prog, &size))
		return;
	info->runs = prog.run_cnt;
	info->run_ns = prog.run_time_ns;
	info->missed = prog.recursion_misses + probe->link_missed;
	/* The kernel writes back how much of the struct it knows. */
	info->missed_known = size >= offsetof(struct bpf_prog_info, recursion_misses) +
					     sizeof(prog.recursion_misses) &&
			     (!probe__has_kprobe(probe) || probe->link_missed_known);
}
