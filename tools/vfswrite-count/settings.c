// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "settings.h"

#include <errno.h>
#include <unistd.h>

#include "funcs.h"
#include "records.h"
#include "rows.h"
#include "run/log.h"
#include "run/option_rows.h"

#define FIELD(member) offsetof(struct vfswrite_options, member)
#define END_OF(member)                                                                             \
	(offsetof(struct vfswrite_key, member) + sizeof(((struct vfswrite_key *)NULL)->member))

/* More keys than this are no report that a person reads; it also bounds the table's own size. */
#define KEYS_MAX (1 << 20)

#define LIVE_INTERVAL_NS 1000000000ULL

static const char *const path_names[] = { "vfs_write", "all", NULL };
static const char *const also_names[] = { "read", NULL };

static const struct option_row rows[] = {
	{ .name = "paths",
	  .group = OPTION_EVENTS,
	  .type = OPTION_CHOICE,
	  .offset = FIELD(paths),
	  .argument = "PATHS",
	  .choices = path_names,
	  .help = "Count vfs_write alone (the default), or all paths of a write by name: "
		  "vectors, splice, copies, asynchronous ones, the kernel's own" },
	{ .name = "also",
	  .group = OPTION_EVENTS,
	  .type = OPTION_CHOICES,
	  .offset = FIELD(also),
	  .argument = "WHAT",
	  .choices = also_names,
	  .help = "Also count this: read (calls of vfs_read)" },
	OPTION_ROW_FLAG("per-process", 'P', OPTION_REPORT, FIELD(per_process),
			"A row for each process"),
	OPTION_ROW_FLAG("per-thread", 'L', OPTION_REPORT, FIELD(per_thread),
			"A row for each thread"),
	{ .name = "by",
	  .group = OPTION_REPORT,
	  .type = OPTION_CHOICES,
	  .offset = FIELD(by),
	  .argument = "KEY[,KEY]",
	  .choices = vfswrite_by_names,
	  .help = "A row for each value of these together: comm (the default), pid, tid, uid, "
		  "cgroup, cpu, func, file, device, fs" },
	{ .name = "errors",
	  .letter = 'x',
	  .group = OPTION_REPORT,
	  .type = OPTION_FLAG,
	  .offset = FIELD(errors),
	  .no_metrics = true,
	  .help = "Show by which errors calls failed, in a last column of the text (other "
		  "formats always have them)" },
	{ .name = "sizes",
	  .letter = 'b',
	  .group = OPTION_REPORT,
	  .type = OPTION_FLAG,
	  .offset = FIELD(sizes),
	  .excludes = "latency",
	  .help = "Also a histogram of how many bytes the calls wrote: one of all, or one for "
		  "each of the keys that are asked for" },
	{ .name = "latency",
	  .letter = 'l',
	  .group = OPTION_REPORT,
	  .type = OPTION_FLAG,
	  .offset = FIELD(latency),
	  .excludes = "live",
	  .help = "Also a histogram of how long the calls took, in the same way" },
	{ .name = "live",
	  .group = OPTION_SHOW,
	  .type = OPTION_FLAG,
	  .offset = FIELD(live),
	  .excludes = "sizes",
	  .no_metrics = true,
	  .help = "Show each interval (default: a second) in place of the one before, on the "
		  "terminal, as many rows as fit, the largest first" },
	OPTION_ROW_TOP(FIELD(top),
		       "Only the N rows that come first by --sort; the total is of all"),
	OPTION_ROW_SORT(FIELD(sort), rows_order_names,
			"What the rows are put in order by: calls (the default), bytes, errors; the "
			"largest is the last one"),
	OPTION_ROW_INTERVAL(0, FIELD(interval)),
	OPTION_ROW_COUNT(FIELD(count)),
	OPTION_ROW_MAX_KEYS(
		FIELD(max_keys), KEYS_MAX,
		"Room for so many rows (default: as many as fit in 64 MB, at most 65536)"),
};

static const struct option_letter letters[] = {
	{ 'p', "pid" },
	{ 't', "tid" },
	{ 'u', "uid" },
	{ 'c', "cgroup" },
	{ 'd', "duration" },
	{ 'T', "time" },
	{},
};

static const char *const operands[] = { "interval", "count", NULL };

const struct tool_options vfswrite_tool_options = {
	.tool = "vfswrite-count",
	.summary = "Count who writes on this machine: calls, bytes and failures.",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.letters = letters,
	.operands = operands,
	.has_metrics = true,
};

int vfswrite_options__check(struct vfswrite_options *options)
{
	if (!options->live)
		return 0;
	if (options__face(&options->common) != FACE_TEXT || options->common.output ||
	    !isatty(STDOUT_FILENO))
		return log_error_because(EINVAL, "it draws text on a terminal",
					 "Leave it out, or let standard output be a terminal.",
					 "option --live has no sense here");
	if (!options->interval.given)
		options->interval = (struct optional_time){ true, LIVE_INTERVAL_NS };
	return 0;
}

uint32_t vfswrite_options__distribution_by(const struct vfswrite_options *options)
{
	uint32_t by = options->by | (uint32_t)options->per_process << VFSWRITE_BY_PID |
		      (uint32_t)options->per_thread << VFSWRITE_BY_TID;

	/* A thread is shown with its process. */
	if (by & 1U << VFSWRITE_BY_TID)
		by |= 1U << VFSWRITE_BY_PID;
	/* What differs in kind is not added up. */
	if (options->paths || options->also)
		by |= 1U << VFSWRITE_BY_FUNC;
	return by;
}

uint32_t vfswrite_options__by(const struct vfswrite_options *options)
{
	uint32_t by = vfswrite_options__distribution_by(options);

	return by & ~(1U << VFSWRITE_BY_FUNC) || options->by ? by : by | 1U << VFSWRITE_BY_COMM;
}

enum vfswrite_distribution vfswrite_options__distribution(const struct vfswrite_options *options)
{
	return options->sizes	? VFSWRITE_SIZES :
	       options->latency ? VFSWRITE_TIMES :
				  VFSWRITE_NO_DISTRIBUTION;
}

uint32_t vfswrite_options__counted(const struct vfswrite_options *options)
{
	return funcs__counted(options->paths, options->also);
}

struct vfswrite_config vfswrite_options__config(const struct vfswrite_options *options)
{
	struct vfswrite_config config = {
		.by = vfswrite_options__by(options),
		.distribution = vfswrite_options__distribution(options),
		.distribution_by = vfswrite_options__distribution_by(options),
		.key_size = (__u32)vfswrite_options__key_size(options),
		.counted = vfswrite_options__counted(options),
	};

	funcs__fill_syscalls(config.counted, config.syscalls);
	return config;
}

size_t vfswrite_options__key_size(const struct vfswrite_options *options)
{
	uint32_t by = vfswrite_options__by(options);

	if (by & 1U << VFSWRITE_BY_CGROUP)
		return END_OF(cgroup_id);
	if (by & (1U << VFSWRITE_BY_UID | VFSWRITE_BY_PLACE))
		return END_OF(place);
	if (by & (1U << VFSWRITE_BY_CPU | 1U << VFSWRITE_BY_FUNC))
		return END_OF(cpu);
	if (by & 1U << VFSWRITE_BY_PID)
		return END_OF(tid);
	return END_OF(comm);
}
