// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/explain.h"

#include <stdio.h>

#include <bpf/libbpf.h>

#include "run/log.h"
#include "run/number.h"

/* What is worth knowing of a mechanism before its figures are believed. */
static const char *const mechanism_notes[] = {
	[ATTACH_TP_BTF] = "a BPF program called by the kernel's own tracepoint with its typed "
			  "arguments; needs BTF, no tracefs and no kprobes",
	[ATTACH_TP] = "a tracepoint by way of perf; needs tracefs",
	[ATTACH_FENTRY] = "a trampoline at the function; needs BTF; where the kernel preempts "
			  "itself, a preempted program makes other calls on that CPU go uncounted",
	[ATTACH_KPROBE] = "a breakpoint or jump at the function; a return has to find room among "
			  "two for each CPU, ten at least, or is not seen",
	[ATTACH_KPROBE_MULTI] = "one program at many functions, by fprobe",
	[ATTACH_KPROBE_SESSION] = "one program at entry and return of many functions, by fprobe",
	[ATTACH_UPROBE] = "a breakpoint in a user program's file",
};

/* The ways that come before this one, and why they do not work here. */
static void explain__failures(const struct attachment *attachment)
{
	char reason[512];

	for (size_t i = 0; i < attachment->nr_failures; i++)
		for (size_t n = 0;
		     log_held__text(attachment->failures[i].reasons, n, reason, sizeof(reason));
		     n++)
			printf("Not by %s: %s.\n",
			       attach_mechanism_names[attachment->failures[i].mechanism], reason);
	if (attachment->nr_failures)
		putchar('\n');
}

void explain__print(const char *tool, const char *question, const struct common_options *options,
		    const char *own_limits, const struct attachment *attachment,
		    const struct bpf_map *ring)
{
	char limits[512], duration[32];

	printf("%s: %s\n\n", tool, question);
	printf("Attached for this explanation, and detached again:\n");
	for (size_t i = 0; i < attachment->nr_probes; i++)
		printf("  %s by %s%s\n", attachment->probes[i].program->target,
		       attach_mechanism_names[attachment->probes[i].mechanism],
		       attachment->probes[i].program->stands_in_for ?
			       ", a stand-in for runs that this kernel skips" :
			       "");
	printf("%s: %s.\n\n", attach_mechanism_names[attachment->mechanism],
	       mechanism_notes[attachment->mechanism]);

	explain__failures(attachment);
	task_filter__describe(&options->filter, limits, sizeof(limits));
	printf("Only: %s%s%s%s%s\n", limits, *limits && *own_limits ? ", " : "", own_limits,
	       *limits || *own_limits ? (options->command ? ", of " : "") :
	       options->command	      ? "" :
					"no limit; events of every task",
	       options->command ? "the command and its descendants" : "");
	printf("Until: %s\n", options->duration.given ?
				      number__format_time(options->duration.ns, duration) :
				      (options->command ? "the command ends" : "a signal"));
	printf("Ring buffer: %u KiB; a record that finds no room is counted as lost (ring_full)\n",
	       bpf_map__max_entries(ring) / 1024);
	printf("Not traced now: this run only explains.\n");
}
