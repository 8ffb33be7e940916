// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/check_item.h"

#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* Rare on any machine, in the BTF and traceable in every kernel from 5.10 on. */
#define HARMLESS_FUNCTION "vfs_fsync"

/* BPF_TRACE_KPROBE_SESSION of Linux 6.10, which the headers of 6.1 do not name. */
#define KPROBE_SESSION ((enum bpf_attach_type)56)

/* return 0; */
static const struct bpf_insn return_zero[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
	{ .code = BPF_JMP | BPF_EXIT },
};

static int program__load(enum bpf_prog_type type, enum bpf_attach_type attach_type, int btf_id)
{
	LIBBPF_OPTS(bpf_prog_load_opts, options, .expected_attach_type = attach_type,
		    .attach_btf_id = btf_id);

	return bpf_prog_load(type, "check", "GPL", return_zero, NR(return_zero), &options);
}

/* Closes a descriptor that was only to be had. 0, or the -errno it is. */
static int had(int fd)
{
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_load(const struct check_item *item, const struct check_facts *facts,
		    enum trial_step *step)
{
	(void)item;
	(void)facts;
	*step = STEP_LOAD;
	return had(program__load(BPF_PROG_TYPE_TRACEPOINT, 0, 0));
}

/* u64 value = 0; bpf_probe_read_kernel(&value, 4, address); return (u32)value; */
static int load_reader(unsigned long long address)
{
	/* code, dst_reg, src_reg, off, imm */
	const struct bpf_insn reader[] = {
		{ BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0 },
		{ BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, BPF_REG_10, 0, 0 },
		{ BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, -8 },
		{ BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 4 },
		{ BPF_LD | BPF_IMM | BPF_DW, BPF_REG_3, 0, 0, (__s32)address },
		{ 0, 0, 0, 0, (__s32)(address >> 32) },
		{ BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_probe_read_kernel },
		{ BPF_LDX | BPF_MEM | BPF_W, BPF_REG_0, BPF_REG_10, -8, 0 },
		{ BPF_JMP | BPF_EXIT, 0, 0, 0, 0 },
	};

	return bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "check", "GPL", reader, NR(reader),
			     NULL);
}

int kernel_memory__read(unsigned long long address, int *value)
{
	LIBBPF_OPTS(bpf_test_run_opts, run);
	int prog_fd = load_reader(address);
	int err;

	if (prog_fd < 0)
		return prog_fd;
	err = bpf_prog_test_run_opts(prog_fd, &run);
	close(prog_fd);
	*value = (int)run.retval;
	return err;
}

static int try_reader(const struct check_item *item, const struct check_facts *facts,
		      enum trial_step *step)
{
	(void)item;
	(void)facts;
	*step = STEP_LOAD;
	return had(load_reader(0));
}

static int try_ring_buffer(const struct check_item *item, const struct check_facts *facts,
			   enum trial_step *step)
{
	(void)item;
	(void)facts;
	*step = STEP_CREATE;
	return had(bpf_map_create(BPF_MAP_TYPE_RINGBUF, "check", 0, 0, getpagesize(), NULL));
}

/* Local storage needs types of its key and value: int here. */
static int create_task_storage(struct btf *btf)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int id, err;

	id = btf__add_int(btf, "int", sizeof(int), BTF_INT_SIGNED);
	if (id < 0)
		return id;
	err = btf__load_into_kernel(btf);
	if (err)
		return err;
	options.btf_fd = btf__fd(btf);
	options.btf_key_type_id = options.btf_value_type_id = id;
	return bpf_map_create(BPF_MAP_TYPE_TASK_STORAGE, "check", sizeof(int), sizeof(int), 0,
			      &options);
}

static int try_task_storage(const struct check_item *item, const struct check_facts *facts,
			    enum trial_step *step)
{
	struct btf *btf = btf__new_empty();
	int fd;

	(void)item;
	(void)facts;
	*step = STEP_CREATE;
	if (!btf)
		return -errno;
	fd = create_task_storage(btf);
	btf__free(btf);
	return had(fd);
}

/* Finds the target of a tracing program as the kernel's BTF names it. */
static int find_btf_id(const struct btf *btf, const struct check_item *item)
{
	char name[64];

	if (item->attach_type == BPF_TRACE_RAW_TP) {
		snprintf(name, sizeof(name), "btf_trace_%s", item->target);
		return btf__find_by_name_kind(btf, name, BTF_KIND_TYPEDEF);
	}
	snprintf(name, sizeof(name), "%s%s", item->attach_type == BPF_TRACE_ITER ? "bpf_iter_" : "",
		 item->target);
	return btf__find_by_name_kind(btf, name, BTF_KIND_FUNC);
}

static int try_tracing(const struct check_item *item, const struct check_facts *facts,
		       enum trial_step *step)
{
	int btf_id, prog_fd, link_fd;

	*step = STEP_BTF;
	if (!facts->btf)
		return facts->btf_err;
	btf_id = find_btf_id(facts->btf, item);
	if (btf_id < 0)
		return btf_id;
	*step = STEP_LOAD;
	prog_fd = program__load(BPF_PROG_TYPE_TRACING, item->attach_type, btf_id);
	if (prog_fd < 0)
		return prog_fd;
	*step = STEP_ATTACH;
	if (item->attach_type == BPF_TRACE_ITER)
		link_fd = bpf_link_create(prog_fd, 0, BPF_TRACE_ITER, NULL);
	else
		link_fd = bpf_raw_tracepoint_open(NULL, prog_fd);
	close(prog_fd);
	return had(link_fd);
}

int perf_event__open(struct perf_event_attr *attr)
{
	int fd = syscall(SYS_perf_event_open, attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int try_perf_attach(enum bpf_prog_type type, struct perf_event_attr *attr,
			   enum trial_step *step)
{
	int prog_fd, event_fd, err = 0;

	*step = STEP_LOAD;
	prog_fd = program__load(type, 0, 0);
	if (prog_fd < 0)
		return prog_fd;
	*step = STEP_OPEN;
	event_fd = perf_event__open(attr);
	if (event_fd < 0) {
		close(prog_fd);
		return event_fd;
	}
	*step = STEP_ATTACH;
	if (ioctl(event_fd, PERF_EVENT_IOC_SET_BPF, prog_fd) ||
	    ioctl(event_fd, PERF_EVENT_IOC_ENABLE, 0))
		err = -errno;
	close(event_fd);
	close(prog_fd);
	return err;
}

/* A number alone in a file. 0 or -errno. */
static int number__read(const char *path, unsigned long *number)
{
	char line[32], *end;
	int err = line__read(path, line, sizeof(line));

	if (err)
		return err;
	*number = strtoul(line, &end, 10);
	return end == line || *end ? -EINVAL : 0;
}

static int try_tracepoint(const struct check_item *item, const struct check_facts *facts,
			  enum trial_step *step)
{
	struct perf_event_attr attr = { .size = sizeof(attr),
					.type = PERF_TYPE_TRACEPOINT,
					.sample_period = 1,
					.wakeup_events = 1 };
	unsigned long number;
	char path[128];
	int err;

	*step = STEP_TRACEFS;
	if (!facts->tracefs)
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/events/%s/id", facts->tracefs, item->target);
	err = number__read(path, &number);
	if (err)
		return err;
	attr.config = number;
	return try_perf_attach(BPF_PROG_TYPE_TRACEPOINT, &attr, step);
}

/* Sets the event's kind by the name of its unit: "kprobe" or "uprobe". */
static int set_kind(struct perf_event_attr *attr, const char *unit, enum trial_step *step)
{
	unsigned long type = 0;
	char path[64];
	int err;

	*step = STEP_PMU;
	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", unit);
	err = number__read(path, &type);
	attr->type = type;
	return err;
}

static int try_kprobe(const struct check_item *item, const struct check_facts *facts,
		      enum trial_step *step)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	int err;

	(void)facts;
	err = set_kind(&attr, "kprobe", step);
	if (err)
		return err;
	attr.config = item->at_return; /* format/retprobe is bit 0 in every kernel */
	attr.kprobe_func = (uintptr_t)item->target;
	return try_perf_attach(BPF_PROG_TYPE_KPROBE, &attr, step);
}

/* libbpf 1.1 knows no sessions, which the kernel takes in the same words. */
static int try_kprobe_multi(const struct check_item *item, const struct check_facts *facts,
			    enum trial_step *step)
{
	union bpf_attr attr = {};
	int prog_fd, err;

	(void)facts;
	*step = STEP_LOAD;
	prog_fd = program__load(BPF_PROG_TYPE_KPROBE, item->attach_type, 0);
	if (prog_fd < 0)
		return prog_fd;
	*step = STEP_ATTACH;
	attr.link_create.prog_fd = prog_fd;
	attr.link_create.attach_type = item->attach_type;
	attr.link_create.kprobe_multi.cnt = 1;
	attr.link_create.kprobe_multi.syms = (uintptr_t)&item->target;
	err = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
	err = had(err < 0 ? -errno : err);
	close(prog_fd);
	return err;
}

/* The function of this program that the uprobe is put on. */
static __attribute__((noinline, used)) void probed_function(void)
{
	__asm__ volatile("");
}

/* Looks in one loaded object for the function: its place in the file is what a uprobe takes. */
static int find_offset(struct dl_phdr_info *object, size_t size, void *data)
{
	uintptr_t address = (uintptr_t)probed_function - object->dlpi_addr;
	uint64_t *offset = data;

	(void)size;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || address - part->p_vaddr >= part->p_filesz)
			continue;
		*offset = address - part->p_vaddr + part->p_offset;
		return 1;
	}
	return 0;
}

static int try_uprobe(const struct check_item *item, const struct check_facts *facts,
		      enum trial_step *step)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	uint64_t offset;
	int err;

	(void)facts;
	err = set_kind(&attr, "uprobe", step);
	if (err)
		return err;
	if (!dl_iterate_phdr(find_offset, &offset))
		return -ENOENT;
	attr.uprobe_path = (uintptr_t) "/proc/self/exe";
	attr.probe_offset = offset;
	attr.config = item->at_return;
	return try_perf_attach(BPF_PROG_TYPE_KPROBE, &attr, step);
}

static void look_by_trial(const struct check_item *item, const struct check_facts *facts,
			  struct finding *finding)
{
	static const char *const done_words[] = {
		[STEP_LOAD] = "loaded",
		[STEP_CREATE] = "created",
		[STEP_ATTACH] = "loaded and attached",
	};
	enum trial_step step;
	int err = item->trial(item, facts, &step);

	if (err)
		finding__explain(finding, item, facts, step, err);
	else
		finding__ok(finding, "%s%s%s", item->target ? item->target : "",
			    item->target ? ": " : "", done_words[step]);
}

const struct check_item check_mechanism_items[] = {
	{ .name = "BPF program",
	  .look = look_by_trial,
	  .trial = try_load,
	  .required = true,
	  .config = "CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS" },
	{ .name = "reading kernel memory",
	  .reads_kernel = true,
	  .look = look_by_trial,
	  .trial = try_reader,
	  .since = RELEASE(5, 5),
	  .confidential = true,
	  .config = "CONFIG_BPF_EVENTS" },
	{ .name = "ring buffer",
	  .look = look_by_trial,
	  .trial = try_ring_buffer,
	  .required = true,
	  .since = RELEASE(5, 8),
	  .config = "CONFIG_BPF_SYSCALL" },
	{ .name = "task storage",
	  .look = look_by_trial,
	  .trial = try_task_storage,
	  .since = RELEASE(5, 11),
	  .config = "CONFIG_BPF_LSM",
	  .instead = "None needed: the tools use a hash table instead." },
	{ .name = "tp_btf",
	  .look = look_by_trial,
	  .trial = try_tracing,
	  .mechanism = ATTACH_TP_BTF,
	  .attach_type = BPF_TRACE_RAW_TP,
	  .since = RELEASE(5, 5),
	  .target = "sched_process_exec",
	  .config = "CONFIG_BPF_EVENTS" },
	{ .name = "tp",
	  .look = look_by_trial,
	  .trial = try_tracepoint,
	  .mechanism = ATTACH_TP,
	  .target = "sched/sched_process_exec",
	  .confidential = true,
	  .config = "CONFIG_EVENT_TRACING and CONFIG_BPF_EVENTS" },
	{ .name = "fentry",
	  .look = look_by_trial,
	  .trial = try_tracing,
	  .mechanism = ATTACH_FENTRY,
	  .attach_type = BPF_TRACE_FENTRY,
	  .since = RELEASE(5, 5),
	  .target = HARMLESS_FUNCTION,
	  .config = "CONFIG_BPF_JIT and CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS" },
	{ .name = "kprobe",
	  .look = look_by_trial,
	  .trial = try_kprobe,
	  .mechanism = ATTACH_KPROBE,
	  .target = HARMLESS_FUNCTION,
	  .confidential = true,
	  .config = "CONFIG_KPROBES and CONFIG_KPROBE_EVENTS" },
	{ .name = "kretprobe",
	  .look = look_by_trial,
	  .trial = try_kprobe,
	  .at_return = true,
	  .target = HARMLESS_FUNCTION,
	  .confidential = true,
	  .config = "CONFIG_KPROBES and CONFIG_KPROBE_EVENTS" },
	{ .name = "kprobe.multi",
	  .look = look_by_trial,
	  .trial = try_kprobe_multi,
	  .mechanism = ATTACH_KPROBE_MULTI,
	  .attach_type = BPF_TRACE_KPROBE_MULTI,
	  .target = HARMLESS_FUNCTION,
	  .since = RELEASE(5, 18),
	  .config = "CONFIG_FPROBE" },
	{ .name = "kprobe.session",
	  .look = look_by_trial,
	  .trial = try_kprobe_multi,
	  .mechanism = ATTACH_KPROBE_SESSION,
	  .attach_type = KPROBE_SESSION,
	  .target = HARMLESS_FUNCTION,
	  .since = RELEASE(6, 10),
	  .config = "CONFIG_FPROBE" },
	{ .name = "uprobe",
	  .look = look_by_trial,
	  .trial = try_uprobe,
	  .mechanism = ATTACH_UPROBE,
	  .target = "a function of this program",
	  .wants_admin = true,
	  .config = "CONFIG_UPROBES and CONFIG_UPROBE_EVENTS" },
	{ .name = "task iterator",
	  .look = look_by_trial,
	  .trial = try_tracing,
	  .attach_type = BPF_TRACE_ITER,
	  .since = RELEASE(5, 8),
	  .target = "task",
	  .config = "CONFIG_BPF_SYSCALL" },
	{},
};
