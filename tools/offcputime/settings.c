// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "run/log.h"
#include "run/number.h"
#include "run/option_rows.h"
#include "stays.h"

#define FIELD(member) offsetof(struct offcputime_options, member)

/* With these, all tables take less than 64 MB. */
#define ROWS_DEFAULT 131072
#define STACKS_DEFAULT 131072
#define ROOM_MAX (1 << 24)

#define STATE_MASK_MAX 0xffff

const char offcputime_state_letters[] = {
	[OFFCPUTIME_RUNNABLE] = 'R', [OFFCPUTIME_SLEEPING] = 'S', [OFFCPUTIME_DISK] = 'D',
	[OFFCPUTIME_KILLABLE] = 'K', [OFFCPUTIME_IDLE] = 'I',	  [OFFCPUTIME_STOPPED] = 'T',
	[OFFCPUTIME_TRACED] = 't',   [OFFCPUTIME_PARKED] = 'P',	  [OFFCPUTIME_OTHER] = '?',
};

const struct option_row offcputime_option_rows[OFFCPUTIME_NR_OPTION_ROWS] = {
	{ .name = "user-threads-only",
	  .letter = 'u',
	  .group = OPTION_EVENTS,
	  .type = OPTION_FLAG,
	  .offset = FIELD(user_threads),
	  .excludes = "kernel-threads-only",
	  .help = "No kernel threads" },
	OPTION_ROW_FLAG("kernel-threads-only", 'k', OPTION_EVENTS, FIELD(kernel_threads),
			"Kernel threads alone"),
	OPTION_ROW_MIN('m', FIELD(min_ns), "stays"),
	OPTION_ROW_MAX('M', FIELD(max_ns), "stays"),
	{ .name = "state",
	  .group = OPTION_EVENTS,
	  .type = OPTION_TEXT,
	  .offset = FIELD(state),
	  .argument = "STATE[,STATE]",
	  .help = "Only stays that began in these states: R, S, D, K, I, T, t, P as of ps (D has "
		  "K, too), or bits as a number (1 is S, 2 is D, 0 is R)" },

	OPTION_ROW_FLAG("user-stacks", 0, OPTION_REPORT, FIELD(user_stacks),
			"Take the stacks in the programs, too; without this, with --pid, --tid, "
			"--comm, --tree or a command alone"),
	{ .name = "user-stacks-only",
	  .letter = 'U',
	  .group = OPTION_REPORT,
	  .type = OPTION_FLAG,
	  .offset = FIELD(user_stacks_only),
	  .excludes = "kernel-stacks-only",
	  .help = "Take the stacks in the programs alone" },
	{ .name = "kernel-stacks-only",
	  .letter = 'K',
	  .group = OPTION_REPORT,
	  .type = OPTION_FLAG,
	  .offset = FIELD(kernel_stacks_only),
	  .excludes = "user-stacks",
	  .help = "Take the stacks in the kernel alone" },
	OPTION_ROW_FLAG("split", 0, OPTION_REPORT, FIELD(split),
			"Tell of each row how long it was blocked, awake without a CPU, preempted"),
	OPTION_ROW_FLAG("reasons", 0, OPTION_REPORT, FIELD(reasons),
			"Before the stacks, tell the time by what was waited for"),
	OPTION_ROW_FLAG("hide-idle", 0, OPTION_REPORT, FIELD(hide_idle),
			"Leave out waits of threads that had nothing to do: event loops without "
			"events, the kernel's own without work"),
	{ .name = "by",
	  .group = OPTION_REPORT,
	  .type = OPTION_CHOICES,
	  .offset = FIELD(by),
	  .argument = "KEY[,KEY]",
	  .choices = stay_by_names,
	  .help = "A row for each value of these together: pid, tid, comm, stack (default: all)" },
	OPTION_ROW_TOP(FIELD(top), "Only the N rows with the most time; the total is of all"),
	OPTION_ROW_INTERVAL('i', FIELD(interval)),

	{ .name = "folded",
	  .letter = 'f',
	  .group = OPTION_SHOW,
	  .type = OPTION_FLAG,
	  .offset = FIELD(common.folded),
	  .excludes = "format",
	  .help = "The same as --format folded: a stack a line, for flame graphs" },
	OPTION_ROW_FLAG("delimited", 'd', OPTION_SHOW, FIELD(delimited),
			"Show a line -- between the frames in the kernel and those in the program"),
	OPTION_ROW_FLAG("no-demangle", 0, OPTION_SHOW, FIELD(raw_names),
			"Show names of C++ and Rust as the files have them"),
	OPTION_ROW_FLAG("offsets", 's', OPTION_SHOW, FIELD(offsets),
			"Show how far into its function each frame is"),

	{ .name = "perf-max-stack-depth",
	  .group = OPTION_MEASURE,
	  .type = OPTION_COUNT,
	  .offset = FIELD(depth),
	  .argument = "N",
	  .min = 1,
	  .max = STACK_FRAMES_MAX,
	  .help = "Keep at most N frames of a stack (default: 127)" },
	{ .name = "stack-storage-size",
	  .group = OPTION_MEASURE,
	  .type = OPTION_COUNT,
	  .offset = FIELD(stack_storage),
	  .argument = "N",
	  .min = 1,
	  .max = ROOM_MAX,
	  .help = "Room for so many different stacks (default: 131072)" },
	OPTION_ROW_MAX_KEYS(FIELD(max_keys), ROOM_MAX,
			    "Room for so many threads with their stacks (default: 131072)"),
};

const struct option_letter offcputime_letters[] = {
	{ 'p', "pid" }, { 't', "tid" }, { 'c', "cgroup" }, {}
};

const char *const offcputime_operands[] = { "duration", NULL };

/* One word of --state. */
static int add_state(struct offcputime_options *options, const char *word)
{
	const char *letter;
	uint64_t bits;

	if (!number__parse(word, 0, STATE_MASK_MAX, &bits)) {
		options->state_mask |= (uint32_t)bits;
		if (!bits)
			options->states |= 1U << OFFCPUTIME_RUNNABLE;
		return 0;
	}
	letter = strlen(word) == 1 ? memchr(offcputime_state_letters, *word, OFFCPUTIME_OTHER) :
				     NULL;
	if (!letter)
		return log_error_because(EINVAL, "it is no letter of ps and no number to 65535",
					 NULL, "bad value for --state: '%s'", word);
	options->states |= 1U << (letter - offcputime_state_letters);
	/* ps shows both as D. */
	if (*letter == 'D')
		options->states |= 1U << OFFCPUTIME_KILLABLE;
	return 0;
}

static int read_states(struct offcputime_options *options)
{
	const char *rest = options->state;
	char word[16];
	int err = 0;

	while (rest && !err) {
		size_t length = strcspn(rest, ",");

		snprintf(word, sizeof(word), "%.*s", (int)length, rest);
		err = add_state(options, length < sizeof(word) ? word : rest);
		rest = rest[length] ? rest + length + 1 : NULL;
	}
	if (!err && options->states && options->state_mask)
		return log_error_because(EINVAL, "a number means bits of the state",
					 "Give letters alone, or numbers alone.",
					 "--state cannot be '%s'", options->state);
	return err;
}

/* The kernel keeps no more frames than it is set to, and cuts in silence. */
static int check_depth(uint64_t depth, const char *path)
{
	FILE *file = fopen(path, "re");
	uint64_t limit;
	int nr;

	if (!file)
		return 0;
	nr = fscanf(file, "%" SCNu64, &limit);
	fclose(file);
	if (nr != 1 || depth <= limit)
		return 0;
	return log_error_because(ERANGE, "the kernel's own limit is lower",
				 "Raise the sysctl kernel.perf_event_max_stack, or ask for less.",
				 "cannot keep %" PRIu64
				 " frames of a stack (the kernel keeps %" PRIu64 ")",
				 depth, limit);
}

int offcputime_options__check(struct offcputime_options *options, const char *stack_limit_path)
{
	int err = read_states(options);

	if (err)
		return err;
	if (options->common.json && options->common.folded)
		return log_error_because(EINVAL, "both say how records are written", NULL,
					 "option --folded cannot be given with --json");
	if (options->user_stacks_only && (options->reasons || options->hide_idle))
		return log_error_because(EINVAL, "both are told by the stacks in the kernel", NULL,
					 "option --user-stacks-only cannot be given with --%s",
					 options->reasons ? "reasons" : "hide-idle");
	if (options->max_ns && options->max_ns < options->min_ns)
		return log_error_because(EINVAL, "no stay is as short and as long", NULL,
					 "--max is less than --min");
	if (options->hide_idle && options->by && !(options->by & 1U << STAY_BY_STACK))
		return log_error_because(EINVAL, "rows without stacks are not told apart so", NULL,
					 "option --hide-idle cannot be given with --by without "
					 "stack");
	return check_depth(options->depth.given ? options->depth.count : 1, stack_limit_path);
}

bool offcputime_options__user_stacks(const struct offcputime_options *options)
{
	const struct task_filter *filter = &options->common.filter;

	if (options->user_stacks || options->user_stacks_only)
		return true;
	return !options->kernel_stacks_only &&
	       (filter->wanted[FILTER_PID].nr || filter->wanted[FILTER_TID].nr ||
		filter->comms.nr || filter->roots.nr || options->common.command);
}

struct offcputime_config offcputime_options__config(const struct offcputime_options *options)
{
	return (struct offcputime_config){
		.min_ns = options->min_ns,
		.max_ns = options->max_ns ? options->max_ns : UINT64_MAX,
		.states = options->states,
		.state_mask = options->state_mask,
		.only_user = options->user_threads,
		.only_kernel = options->kernel_threads,
		.kernel_stacks = !options->user_stacks_only,
		.user_stacks = offcputime_options__user_stacks(options),
	};
}

uint32_t offcputime_options__rows(const struct offcputime_options *options)
{
	return options->max_keys.given ? (uint32_t)options->max_keys.count : ROWS_DEFAULT;
}

uint32_t offcputime_options__stacks(const struct offcputime_options *options)
{
	return options->stack_storage.given ? (uint32_t)options->stack_storage.count :
					      STACKS_DEFAULT;
}

uint32_t offcputime_options__stack_bytes(const struct offcputime_options *options)
{
	uint64_t depth = options->depth.given ? options->depth.count : STACK_FRAMES_DEFAULT;

	return (uint32_t)(depth * sizeof(uint64_t));
}

const char *offcputime_options__limits(const struct offcputime_options *options, char *text,
				       size_t size)
{
	char least[32], most[32];

	snprintf(text, size, "%s%s%s%s%s%s%s%s", options->min_ns ? ", stays of at least " : "",
		 options->min_ns ? number__format_time(options->min_ns, least) : "",
		 options->max_ns ? ", stays of at most " : "",
		 options->max_ns ? number__format_time(options->max_ns, most) : "",
		 options->user_threads ? ", user threads" : "",
		 options->kernel_threads ? ", kernel threads" : "",
		 options->state ? ", state " : "", options->state ? options->state : "");
	return *text ? text + 2 : NULL;
}
