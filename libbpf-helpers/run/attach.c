// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/attach.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/capability.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "run/check_item.h"
#include "run/log.h"
#include "run/privileges.h"
#include "run/probe_info.h"
#include "run/refusal.h"

#define BTF_PATH "/sys/kernel/btf/vmlinux"

const char *const attach_mechanism_names[] = {
	[ATTACH_AUTO] = "auto",
	[ATTACH_TP_BTF] = "tp_btf",
	[ATTACH_TP] = "tp",
	[ATTACH_FENTRY] = "fentry",
	[ATTACH_KPROBE] = "kprobe",
	[ATTACH_KPROBE_MULTI] = "kprobe.multi",
	[ATTACH_KPROBE_SESSION] = "kprobe.session",
	[ATTACH_UPROBE] = "uprobe",
	NULL,
};

/* Says the likeliest cause of a refused load in words; the errno's own text often misleads. */
static int attach__report_load(int err, const char *mechanism)
{
	struct btf *btf = btf__load_vmlinux_btf();
	char missing[64], cause[128];

	if (!btf)
		return log_error_because(
			err, "the kernel shows no BTF (" BTF_PATH ")",
			"Use a kernel built with CONFIG_DEBUG_INFO_BTF; --check shows what is there.",
			"cannot load the %s programs", mechanism);
	btf__free(btf);
	privileges__missing_for_bpf(missing, sizeof(missing));
	if ((err == -EPERM || err == -EACCES) && *missing) {
		snprintf(cause, sizeof(cause), "this process lacks %s", missing);
		return log_error_because(err, cause, "Run it as root or with these capabilities.",
					 "cannot load the %s programs", mechanism);
	}
	if (err == -EPERM && !privileges__has(CAP_SYS_RESOURCE) && memlock__is_counted())
		return log_error_because(
			err,
			"this kernel counts maps and programs against the limit of locked memory, "
			"which is too low",
			"Raise it (ulimit -l unlimited), or run with CAP_SYS_RESOURCE.",
			"cannot load the %s programs", mechanism);
	if ((err == -EINVAL || err == -EPERM) && lockdown__is_confidential())
		return log_error_because(
			err,
			"kernel lockdown is in the mode confidentiality, which forbids programs "
			"to read kernel memory",
			"Boot with lockdown=integrity or without it.",
			"cannot load the %s programs", mechanism);
	if (err == -E2BIG)
		return log_error_because(err, "a map or program is larger than the kernel allows",
					 "Lower --ring-size.", "cannot load the %s programs",
					 mechanism);
	return log_error(err, "--check tells what this kernel allows, -v what it answered.",
			 "cannot load the %s programs", mechanism);
}

/* Names the function of a trampoline's program, which is looked up in the kernel's types. */
static int attach__set_function(struct bpf_program *prog, const struct attach_program *program)
{
	int err;

	if (!program->function || bpf_program__type(prog) != BPF_PROG_TYPE_TRACING)
		return 0;
	err = bpf_program__set_attach_target(prog, 0, program->function);
	if (err == -ESRCH)
		return log_error_because(err,
					 "the kernel's types (BTF) have no function of that name",
					 NULL, "cannot attach to %s", program->function);
	return err ? log_error(err, NULL, "cannot attach to %s", program->function) : 0;
}

static int attach__select(const struct attach_program *programs, size_t nr,
			  const struct attach_object *object, const struct bpf_object *obj)
{
	for (size_t i = 0; i < nr; i++) {
		bool wanted = object->wants(object->ctx, &programs[i]);
		struct bpf_program *prog;
		int err;

		prog = bpf_object__find_program_by_name(obj, programs[i].program);
		if (!prog)
			return log_error(ENOENT, NULL, "cannot find program '%s' in the tool",
					 programs[i].program);
		err = bpf_program__set_autoload(prog, wanted);
		if (err)
			return log_error(err, NULL, "cannot choose program '%s'",
					 programs[i].program);
		err = wanted ? attach__set_function(prog, &programs[i]) : 0;
		if (err)
			return err;
	}
	return 0;
}

/* Instructions that read the arguments and return; a stand-in that has work takes hundreds. */
#define IDLE_PROGRAM_MAX 16

bool attach__is_idle(const struct bpf_prog_info *info)
{
	return info->xlated_prog_len &&
	       info->xlated_prog_len <= IDLE_PROGRAM_MAX * sizeof(struct bpf_insn);
}

static bool program__is_idle(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	return !bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size) &&
	       attach__is_idle(&info);
}

static struct bpf_link *attach__program(struct bpf_program *prog,
					const struct attach_program *program)
{
	const char *section = bpf_program__section_name(prog);

	/* In all processes: the programs filter by task themselves. */
	if (program->binary)
		return bpf_program__attach_uprobe(prog, !strcmp(section, "uretprobe"), -1,
						  program->binary, program->offset);
	if (!program->function || bpf_program__type(prog) != BPF_PROG_TYPE_KPROBE)
		return bpf_program__attach(prog);
	return bpf_program__attach_kprobe(prog, !strcmp(section, "kretprobe"), program->function);
}

static int attach__programs(const struct attach_program *programs, size_t nr,
			    const struct attach_object *object, const struct bpf_object *obj,
			    struct attachment *attachment)
{
	for (size_t i = 0; i < nr; i++) {
		const struct attach_program *program = &programs[i];
		struct attached_probe *probe = &attachment->probes[attachment->nr_probes];

		if (!object->wants(object->ctx, program))
			continue;
		if (attachment->nr_probes == ATTACH_PROBES_MAX)
			return log_error(E2BIG, NULL, "cannot attach more than %d programs",
					 ATTACH_PROBES_MAX);
		probe->program = program;
		probe->mechanism = program->mechanism != ATTACH_AUTO ? program->mechanism :
								       attachment->mechanism;
		probe->prog = bpf_object__find_program_by_name(obj, program->program);
		if (program->stands_in_for && program__is_idle(probe->prog))
			continue;
		probe->link = attach__program(probe->prog, program);
		if (!probe->link)
			return log_error(errno, "--check tells what this kernel allows.",
					 "cannot attach to %s by %s", program->target,
					 attach_mechanism_names[probe->mechanism]);
		attachment->nr_probes++;
	}
	return 0;
}

static int attach__try(const struct attach_way *way, const struct attach_object *object,
		       struct attachment *attachment)
{
	struct bpf_object_skeleton *skeleton;
	int err;

	err = attach__check_refusal(way->mechanism);
	if (err)
		return err;
	err = object->open(object->ctx, &skeleton);
	if (err)
		return err;
	err = attach__select(object->extra, object->nr_extra, object, *skeleton->obj);
	if (!err)
		err = attach__select(way->programs, way->nr_programs, object, *skeleton->obj);
	if (err)
		return err;
	err = bpf_object__load_skeleton(skeleton);
	if (err)
		return attach__report_load(err, attach_mechanism_names[way->mechanism]);
	err = object->loaded(object->ctx);
	if (err)
		return err;
	attachment->mechanism = way->mechanism;
	attachment->way = way;
	err = attach__programs(object->extra, object->nr_extra, object, *skeleton->obj, attachment);
	if (err)
		return err;
	return attach__programs(way->programs, way->nr_programs, object, *skeleton->obj,
				attachment);
}

/*
 * The kernel answers an update of a map of maps only when every program that could
 * still see the old inner map has ended (kernel/bpf/syscall.c, maybe_wait_bpf_programs),
 * on any number of CPUs and also where membarrier() refuses.
 */
static int attach__prepare_wait(struct attachment *attachment)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);

	attachment->inner_map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "wait_inner", sizeof(__u32),
						  sizeof(__u32), 1, NULL);
	if (attachment->inner_map_fd < 0)
		return log_error(attachment->inner_map_fd, NULL, "cannot create a map");
	options.inner_map_fd = attachment->inner_map_fd;
	attachment->outer_map_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "wait_outer",
						  sizeof(__u32), sizeof(__u32), 1, &options);
	if (attachment->outer_map_fd < 0)
		return log_error(attachment->outer_map_fd, NULL, "cannot create a map of maps");
	return 0;
}

const struct bpf_object_open_opts *attach__open_opts(void)
{
	static const struct bpf_object_open_opts kernel_only = {
		.sz = sizeof(kernel_only),
		.btf_custom_path = BTF_PATH,
	};

	return privileges__has(CAP_SYS_ADMIN) ? NULL : &kernel_only;
}

/* Closes what one try has attached. */
static void attachment__undo(struct attachment *attachment)
{
	for (size_t i = 0; i < attachment->nr_probes; i++)
		bpf_link__destroy(attachment->probes[i].link);
	attachment->nr_probes = 0;
}

/* Why no way works: of each one, in the order they were tried. */
static void attachment__report_failures(const struct attachment *attachment)
{
	for (size_t i = 0; i < attachment->nr_failures; i++)
		log_held__say(attachment->failures[i].reasons, LOG_ERROR);
}

static void attachment__note_failures(const struct attachment *attachment)
{
	for (size_t i = 0; i < attachment->nr_failures; i++) {
		log_debug("%s does not work here:",
			  attach_mechanism_names[attachment->failures[i].mechanism]);
		log_held__say(attachment->failures[i].reasons, LOG_DEBUG);
	}
}

int attach__first(const struct attach_way *ways, size_t nr_ways, enum attach_mechanism only,
		  const struct attach_object *object, struct attachment *attachment)
{
	int err = -ENOENT;
	bool tried = false;

	*attachment = (struct attachment){ .outer_map_fd = -1, .inner_map_fd = -1 };
	for (size_t i = 0; i < nr_ways; i++) {
		if (only != ATTACH_AUTO && ways[i].mechanism != only)
			continue;
		if (attachment->nr_failures == ATTACH_WAYS_MAX)
			return log_error(E2BIG, NULL, "cannot try more than %d ways to attach",
					 ATTACH_WAYS_MAX);
		tried = true;
		log__hold();
		err = attach__try(&ways[i], object, attachment);
		attachment->failures[attachment->nr_failures] = (struct attach_failure){
			ways[i].mechanism, log__take()
		};
		if (!err) {
			attachment__note_failures(attachment);
			return attach__prepare_wait(attachment);
		}
		attachment->nr_failures++;
		attachment__undo(attachment);
		object->close(object->ctx);
	}
	attachment__report_failures(attachment);
	if (!tried)
		return log_error_because(EINVAL, "it has no way to trace by this mechanism",
					 "Use --attach auto; --explain names the mechanisms.",
					 "cannot attach by %s", attach_mechanism_names[only]);
	return err;
}

int attach__wait(const struct attachment *attachment)
{
	__u32 key = 0, fd = attachment->inner_map_fd;
	int err = bpf_map_update_elem(attachment->outer_map_fd, &key, &fd, BPF_ANY);

	return err ? log_error(err, NULL, "cannot wait for running programs to end") : 0;
}

int attach__detach(struct attachment *attachment)
{
	/* Stand-ins first: alone, they would take every event for one that was skipped. */
	for (int stand_ins = 1; stand_ins >= 0; stand_ins--) {
		for (size_t i = 0; i < attachment->nr_probes; i++) {
			struct attached_probe *probe = &attachment->probes[i];

			if (!!probe->program->stands_in_for != stand_ins)
				continue;
			probe_info__note_link(probe);
			bpf_link__destroy(probe->link);
			probe->link = NULL;
		}
	}
	return attach__wait(attachment);
}

void attachment__close(struct attachment *attachment)
{
	attachment__undo(attachment);
	for (size_t i = 0; i < attachment->nr_failures; i++)
		log_held__free(attachment->failures[i].reasons);
	if (attachment->outer_map_fd > 0)
		close(attachment->outer_map_fd);
	if (attachment->inner_map_fd > 0)
		close(attachment->inner_map_fd);
	*attachment = (struct attachment){ .outer_map_fd = -1, .inner_map_fd = -1 };
}
