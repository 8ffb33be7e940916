// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "mechanisms.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "test.h"

#include "instructions.skel.h"

/* Since 6.10, include/uapi/linux/bpf.h; older headers do not have it. */
#define BPF_TRACE_KPROBE_SESSION 56

/* What all programs on functions are attached to; instructions.bpf.c names it, too. */
#define TRACED_FUNCTION "vfs_write"

/* Batches of the workload in a round of the statistics. */
#define STATISTICS_BATCHES 20

struct mechanism {
	const struct workload *workload;
	const char *entry, *ret; /* names of the rows; ret: NULL if there is no second place */
	const char *entry_program, *ret_program;
};

static const struct mechanism mechanisms[] = {
	{ &writing, "fentry", "fexit", "at_fentry", "at_fexit" },
	{ &writing, "kprobe", "kretprobe", "at_kprobe_entry", "at_kprobe_return" },
	{ &writing, "kprobe.multi", "kretprobe.multi", "at_multi_entry", "at_multi_return" },
	{ &writing, "kprobe.session", NULL, "at_session", NULL },
	{ &writing, "tp sys_enter_write", "tp sys_exit_write", "at_tp_entry", "at_tp_return" },
	{ &writing, "raw_tp sys_enter", "raw_tp sys_exit", "at_raw_tp_entry", "at_raw_tp_return" },
	{ &writing, "tp_btf sys_enter", "tp_btf sys_exit", "at_tp_btf_entry", "at_tp_btf_return" },
	{ &executing, "tp_btf sched_process_exec", "tp_btf sched_process_exit", "at_exec",
	  "at_exit" },
};

static double exec_floors[AT_BOTH + 1];

double exec_floor(enum places places)
{
	return exec_floors[places];
}

const char *bpf_compiler(void)
{
	static char name[64];
	struct instructions_bpf *skel = instructions_bpf__open();

	if (!skel)
		test__fatal("BPF programs", "cannot open them: %s", strerror(errno));
	/* The compiler's own name of its version may end with a space. */
	snprintf(name, sizeof(name), "%s", (const char *)skel->rodata->clang_version);
	name[strcspn(name, " ")] = '\0';
	instructions_bpf__destroy(skel);
	return name;
}

/*
 * By the name of the function and without libbpf, which would look it up in all of
 * /proc/kallsyms, and which in the versions of today's distributions knows no session.
 * The link's descriptor, or -1 with errno.
 */
static int attach_multi(const struct bpf_program *program, bool at_return)
{
	const char *const functions[] = { TRACED_FUNCTION };
	union bpf_attr attr = {};

	attr.link_create.prog_fd = (__u32)bpf_program__fd(program);
	attr.link_create.attach_type = bpf_program__expected_attach_type(program);
	attr.link_create.kprobe_multi.flags = at_return ? BPF_F_KPROBE_MULTI_RETURN : 0;
	attr.link_create.kprobe_multi.cnt = 1;
	attr.link_create.kprobe_multi.syms = (uintptr_t)functions;
	return (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

struct attached {
	struct bpf_link *link;
	int multi_fd;
};

/* 0, or an errno. */
static int attached__open(struct attached *attached, const struct bpf_program *program,
			  bool at_return)
{
	int type = (int)bpf_program__expected_attach_type(program);

	if (type == BPF_TRACE_KPROBE_MULTI || type == BPF_TRACE_KPROBE_SESSION) {
		attached->multi_fd = attach_multi(program, at_return);
		return attached->multi_fd < 0 ? errno : 0;
	}
	attached->link = bpf_program__attach(program);
	return attached->link ? 0 : errno;
}

static void attached__close(const struct attached *attached)
{
	bpf_link__destroy(attached->link);
	if (attached->multi_fd >= 0)
		close(attached->multi_fd);
}

/* The programs of a row; a place that is not asked for has none. */
struct row {
	struct bpf_program *programs[2]; /* at entry, at return */
	struct attached attached[2];
};

/* Loads the row's programs and no others, and attaches them. 0, or an errno and what failed. */
static int row__open(struct row *row, struct bpf_object *object, const char **failed)
{
	int error = 0;

	for (int i = 0; i < 2; i++)
		if (row->programs[i])
			bpf_program__set_autoload(row->programs[i], true);
	*failed = "load";
	if (bpf_object__load(object))
		return errno;
	*failed = "attach";
	for (int i = 0; i < 2 && !error; i++)
		if (row->programs[i])
			error = attached__open(&row->attached[i], row->programs[i], i == 1);
	return error;
}

static void row__measure(const struct row *row, const struct workload *workload, double baseline,
			 enum places places)
{
	double cost = workload__cost(workload), inside;
	struct programs programs = {};

	for (int i = 0; i < 2; i++)
		if (row->programs[i])
			programs__add(&programs, bpf_program__fd(row->programs[i]));
	inside = programs__cost(&programs, workload, workload->batch * STATISTICS_BATCHES);
	printf("%12.1f  %12.1f  %12.1f\n", cost, cost - baseline, inside);
	if (workload == &executing)
		exec_floors[places] = inside;
}

static struct bpf_program *find_program(const struct bpf_object *object, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(object, name);

	if (!program)
		test__fatal(name, "there is no program of this name");
	if (!strcmp(name, "at_session"))
		bpf_program__set_expected_attach_type(program, BPF_TRACE_KPROBE_SESSION);
	return program;
}

/* Each row has an object of its own: before 5.13 an fentry program attaches only once. */
static void measure_row(const struct mechanism *mechanism, enum places places, double baseline)
{
	struct instructions_bpf *skel = instructions_bpf__open();
	struct row row = { .attached = { { .multi_fd = -1 }, { .multi_fd = -1 } } };
	char name[NAME_WIDTH * 2];
	const char *failed;
	int error;

	if (!skel)
		test__fatal("BPF programs", "cannot open them: %s", strerror(errno));
	if (places & AT_ENTRY)
		row.programs[0] = find_program(skel->obj, mechanism->entry_program);
	if (places & AT_RETURN)
		row.programs[1] = find_program(skel->obj, mechanism->ret_program);
	snprintf(name, sizeof(name), "%s%s%s", places & AT_ENTRY ? mechanism->entry : "",
		 places == AT_BOTH ? " + " : "", places & AT_RETURN ? mechanism->ret : "");
	printf("%-*s  ", NAME_WIDTH, name);
	error = row__open(&row, skel->obj, &failed);
	if (error)
		printf("not in this kernel: cannot %s: %s\n", failed, strerror(error));
	else
		row__measure(&row, mechanism->workload, baseline, places);
	attached__close(&row.attached[0]);
	attached__close(&row.attached[1]);
	instructions_bpf__destroy(skel);
}

void measure_mechanisms(const struct workload *workload)
{
	double baseline = workload__cost(workload);

	printf("\n== %-*s  %12s  %12s  %12s\n", NAME_WIDTH - 3, workload->what, "instructions",
	       "overhead", "in program");
	printf("%-*s  %12.1f\n", NAME_WIDTH, "nothing attached", baseline);
	for (size_t i = 0; i < sizeof(mechanisms) / sizeof(mechanisms[0]); i++) {
		const struct mechanism *mechanism = &mechanisms[i];
		enum places most = mechanism->ret ? AT_BOTH : AT_ENTRY;

		if (mechanism->workload != workload)
			continue;
		for (enum places places = AT_ENTRY; places <= most; places++)
			measure_row(mechanism, places, baseline);
	}
}
