/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The parts of --check, for check*.c, preemption.c and their tests only: an item is a row of a
 * table, and looking at it gives a finding. What is known of this process and kernel is read once
 * and handed to every row, so that what is said of a cause follows from it alone.
 */
#ifndef VANTAGE_RUN_CHECK_ITEM_H
#define VANTAGE_RUN_CHECK_ITEM_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include <linux/bpf.h>

#include "run/attach.h"

struct btf;
struct perf_event_attr;

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* A kernel release as a number that grows. */
#define RELEASE(version, patchlevel) (1000 * (version) + (patchlevel))

struct check_facts {
	int release;
	bool root; /* effective user 0 */
	bool sys_admin; /* CAP_SYS_ADMIN is effective */
	bool sys_resource; /* CAP_SYS_RESOURCE is effective */
	char missing[64]; /* capabilities, as of privileges__missing_for_bpf() */
	bool user_namespace; /* not in the first one: its capabilities do not count for BPF */
	bool seccomp; /* a filter of system calls is in force */
	bool perf_units; /* /sys shows the kinds of perf events */
	int paranoid; /* kernel.perf_event_paranoid; INT_MIN when it cannot be read */
	char lockdown[24]; /* mode; "" when it cannot be read */
	const char *tracefs; /* where it is mounted; NULL: nowhere that this process can see */
	rlim_t memlock; /* RLIMIT_MEMLOCK at the start of the report */
	bool memlock_counts; /* BPF memory counts against it (before 5.11) */
	struct btf *btf; /* the kernel's types, or NULL */
	int btf_err; /* why there are none: -errno or 0 */
};

/* Whether this kernel counts maps and programs against RLIMIT_MEMLOCK (before 5.11), by trying. */
bool memlock__is_counted(void);

/* Whether kernel lockdown is in the mode in which programs may not read kernel memory by helper. */
bool lockdown__is_confidential(void);

/* Reads the facts. Nothing here fails: what cannot be read is left unknown. */
void facts__read(struct check_facts *facts);
void facts__free(struct check_facts *facts);

/* The first line of a file, without its end. 0 or -errno. */
int line__read(const char *path, char *line, size_t size);

enum finding_status {
	FINDING_UNKNOWN, /* cannot be told */
	FINDING_OK,
	FINDING_NO,
};

struct finding {
	enum finding_status status;
	char seen[192];
	char cause[192]; /* of FINDING_NO */
	char remedy[192]; /* of FINDING_NO, one sentence */
};

/* Steps of trying a mechanism; what an errno means depends on the step that gave it. */
enum trial_step {
	STEP_BTF, /* finding the target in the kernel's types */
	STEP_PMU, /* reading the number of a kind of perf event */
	STEP_TRACEFS, /* reading the number of a tracepoint */
	STEP_LOAD, /* bpf() */
	STEP_CREATE, /* bpf() */
	STEP_OPEN, /* perf_event_open() */
	STEP_ATTACH, /* bpf() or ioctl() */
};

struct check_item {
	const char *name;
	void (*look)(const struct check_item *item, const struct check_facts *facts,
		     struct finding *finding);
	/* Of a mechanism: does it for real. 0 or -errno, and the step it came to. */
	int (*trial)(const struct check_item *item, const struct check_facts *facts,
		     enum trial_step *step);
	enum attach_mechanism mechanism; /* ATTACH_AUTO: none that a tool can ask for */
	bool required; /* no tool can run without it */
	const char *target; /* what it is tried on */
	enum bpf_attach_type attach_type;
	bool at_return;
	bool wants_admin; /* newer kernels want CAP_SYS_ADMIN for it */
	bool reads_kernel; /* what a way that says so needs, too (run/attach.h) */
	bool confidential; /* lockdown in the mode confidentiality refuses it */
	int since; /* the RELEASE() that brought it; 0: older than BPF */
	const char *config; /* what a kernel that lacks it was built without */
	const char *instead; /* what the tools do where a kernel lacks it; NULL: nothing */
	int capability; /* CAP_* */
	const char *purpose; /* of the capability */
};

/* Rows end with one that has no name. */
extern const struct check_item check_kernel_items[]; /* what programs are loaded against */
extern const struct check_item check_mechanism_items[]; /* what can be traced by */
extern const struct check_item check_system_items[]; /* capabilities and settings */

/* These set a finding; the format is of what was seen. */
void finding__ok(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding__no(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Of what could not be read; err: an errno of either sign. */
void finding__unknown(struct finding *finding, const char *subject, int err);
void finding__cause(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void finding__remedy(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* What a failed trial means: sets the finding from the facts alone. err: -errno. */
void finding__explain(struct finding *finding, const struct check_item *item,
		      const struct check_facts *facts, enum trial_step step, int err);

/* Opens an event of all tasks on the first CPU, as libbpf does for probes. A descriptor or
 * -errno. */
int perf_event__open(struct perf_event_attr *attr);

/* The address of a symbol; name NULL: of the first function. 0 when it is hidden. -errno when
 * the file cannot be read or has no such symbol. */
int symbol__find(const char *name, unsigned long long *address);

/* Reads an int of kernel memory by running a program once. 0 or -errno. */
int kernel_memory__read(unsigned long long address, int *value);

#endif
