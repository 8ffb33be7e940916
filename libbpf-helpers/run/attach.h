/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ways to attach, as a table: each way is a set of programs that answers the
 * tool's question by one mechanism. They are tried in order by really loading and
 * attaching, since what a kernel names and what it allows differ; why a way failed
 * is kept and told.
 */
#ifndef VANTAGE_RUN_ATTACH_H
#define VANTAGE_RUN_ATTACH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bpf_link;
struct bpf_object_open_opts;
struct bpf_object_skeleton;
struct bpf_prog_info;
struct bpf_program;
struct log_held;

/* Names of --attach and of "mechanism" in JSON; [0] is auto. NULL-terminated. */
extern const char *const attach_mechanism_names[];

enum attach_mechanism {
	ATTACH_AUTO,
	ATTACH_TP_BTF,
	ATTACH_TP,
	ATTACH_FENTRY,
	ATTACH_KPROBE,
	ATTACH_KPROBE_MULTI,
	ATTACH_KPROBE_SESSION,
	ATTACH_UPROBE,
};

struct attach_program {
	const char *program; /* its name in the BPF object */
	const char *target; /* what it is attached to, as the user knows it */
	enum attach_mechanism mechanism; /* if other than its way's; else ATTACH_AUTO */
	/* Of bpf/stand_in.bpf.h: the program whose skipped runs this one makes up for, which stands
	 * before it in the table, and the index of its counters. Or NULL. */
	const char *stands_in_for;
	uint32_t counters;
	/* The kernel's function it is attached to, of a program whose section (fentry, fexit,
	 * kprobe, kretprobe) names none; or NULL. */
	const char *function;
	/* The same of a program for a place in a user program's file (uprobe, uretprobe). */
	const char *binary;
	uint64_t offset;
};

struct attach_way {
	enum attach_mechanism mechanism;
	const char *traced; /* what it traces, if other than the tool says; or NULL */
	bool reads_kernel; /* always by bpf_probe_read_kernel(), which lockdown can forbid */
	const struct attach_program *programs;
	size_t nr_programs;
};

struct attached_probe {
	const struct attach_program *program;
	enum attach_mechanism mechanism;
	struct bpf_program *prog;
	struct bpf_link *link;
	uint64_t link_missed; /* hits that never came to the program; read at the detach */
	bool link_missed_known;
};

/* A way that was tried before the one that works. */
struct attach_failure {
	enum attach_mechanism mechanism;
	struct log_held *reasons;
};

#define ATTACH_PROBES_MAX 24
#define ATTACH_WAYS_MAX 4

struct attachment {
	enum attach_mechanism mechanism; /* of the way */
	const struct attach_way *way;
	struct attach_failure failures[ATTACH_WAYS_MAX];
	size_t nr_failures;
	struct attached_probe probes[ATTACH_PROBES_MAX];
	size_t nr_probes;
	int outer_map_fd; /* updating a map of maps waits for running programs */
	int inner_map_fd;
};

/* How attach__first() gets an object for one try; ctx is the caller's. */
struct attach_object {
	void *ctx;
	/* Opens and configures a fresh object. 0 or -errno, reported. */
	int (*open)(void *ctx, struct bpf_object_skeleton **skeleton);
	/* Whether a program of the way is wanted in this run. */
	bool (*wants)(void *ctx, const struct attach_program *program);
	/* After load, before attach: fills maps. 0 or -errno, reported. */
	int (*loaded)(void *ctx);
	/* Destroys what open made. */
	void (*close)(void *ctx);
	/* Programs that go with every way, attached before its own. */
	const struct attach_program *extra;
	size_t nr_extra;
};

/*
 * How a tool opens its object. Without CAP_SYS_ADMIN a type that the kernel has not is looked for
 * in the kernel alone: libbpf would ask for the types of modules, too, which needs that capability,
 * and fail. NULL for libbpf's defaults.
 */
const struct bpf_object_open_opts *attach__open_opts(void);

/* Whether the verifier has left nothing of a program but its way out, as choices by CO-RE have
 * ruled out all else on this kernel. Of a stand-in only: others are never so short. */
bool attach__is_idle(const struct bpf_prog_info *info);

/*
 * Loads and attaches by the first of the ways that works; a stand-in that is idle is not attached.
 * only is ATTACH_AUTO or the one mechanism asked for. 0 and *attachment, which keeps why the ways
 * before failed (told with --verbose and --explain); or -errno, reported with the reason of each
 * way. nr_ways: at most ATTACH_WAYS_MAX.
 */
int attach__first(const struct attach_way *ways, size_t nr_ways, enum attach_mechanism only,
		  const struct attach_object *object, struct attachment *attachment);

/* Waits until every program that runs now has ended, on any CPU. Needs no privilege. 0 or -errno,
 * reported. */
int attach__wait(const struct attachment *attachment);

/*
 * Closes all links, then waits until no program of them can still be running on any CPU
 * (closing a link does not wait for that). Needs no privilege. 0 or -errno, reported.
 */
int attach__detach(struct attachment *attachment);

/* Closes what is still open; *attachment may be all zero. */
void attachment__close(struct attachment *attachment);

#endif
