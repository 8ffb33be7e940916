// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/probe_info.h"

#include <stddef.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

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
	info->missed = prog.recursion_misses;
	/* The kernel writes back how much of the struct it knows. */
	info->missed_known = size >= offsetof(struct bpf_prog_info, recursion_misses) +
					     sizeof(prog.recursion_misses);
}
