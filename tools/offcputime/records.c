// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "records.h"

#include <inttypes.h>
#include <string.h>

#include "output/escape.h"
#include "output/folded.h"
#include "run/account.h"
#include "run/interval.h"
#include "run/number.h"
#include "settings.h"

#define NS_PER_US 1000

/* Of both kinds of rows; the time's own field stands between them. */
#define WHO                                                                                        \
	FIELD_OPTIONAL("pid", VALUE_UNSIGNED,                                                      \
		       "Process id; absent with --by, and of all that found no room together."),   \
		FIELD_OPTIONAL("tid", VALUE_UNSIGNED, "Thread id."),                               \
		FIELD_OPTIONAL("comm", VALUE_BYTES, "Command name of the thread.")
#define PARTS                                                                                      \
	FIELD_OPTIONAL("blocked_ns", VALUE_UNSIGNED, "Of the time, asleep (--split)."),            \
		FIELD_OPTIONAL("runnable_ns", VALUE_UNSIGNED,                                      \
			       "Of the time, awake and waiting for a CPU (--split)."),             \
		FIELD_OPTIONAL("preempted_ns", VALUE_UNSIGNED,                                     \
			       "Of the time, in stays of a thread that could have run on "         \
			       "(--split).")
#define STACKS                                                                                     \
	{ .name = "kernel_stack",                                                                  \
	  .kind = VALUE_RECORDS,                                                                   \
	  .meaning = "Where the thread was in the kernel, the innermost frame first.",             \
	  .of = &frame_record_type },                                                              \
		FIELD_OPTIONAL("no_kernel_stack", VALUE_BYTES,                                     \
			       "Why there is none: not_kept (no room), not_seen (the moment had "  \
			       "passed), or none (the kernel gave none)."),                        \
		{ .name = "user_stack",                                                            \
		  .kind = VALUE_RECORDS,                                                           \
		  .meaning = "Where it was in its program, the innermost frame first.",            \
		  .of = &frame_record_type },                                                      \
		FIELD_OPTIONAL("no_user_stack", VALUE_BYTES,                                       \
			       "The same of the user_stack; kernel threads have none."),           \
		{ .name = "text",                                                                  \
		  .kind = VALUE_BYTES,                                                             \
		  .text_only = true,                                                               \
		  .meaning = "All of it." },                                                       \
	{                                                                                          \
		.name = "line", .kind = VALUE_BYTES, .text_only = true, .meaning = "It, folded."   \
	}

static const struct field stack_fields[RECORD_NR_VALUES] = {
	WHO,
	FIELD_REQUIRED("total_ns", VALUE_UNSIGNED, "Time off the CPU."),
	FIELD_REQUIRED("count", VALUE_UNSIGNED, "How many stays."),
	FIELD_REQUIRED("max_ns", VALUE_UNSIGNED, "The longest of them."),
	FIELD_REQUIRED("begun_before", VALUE_UNSIGNED,
		       "How many of them had begun before the run, from whose start they count."),
	PARTS,
	STACKS,
};

static const struct record_type stack_record_type = {
	.name = "stack",
	.meaning = "The stays of one thread at one place.",
	.fields = stack_fields,
	.nr_fields = sizeof(stack_fields) / sizeof(stack_fields[0]),
	.block = &stack_fields[RECORD_NR_VALUES - 2],
	.folded = &stack_fields[RECORD_NR_VALUES - 1],
};

static const struct field in_flight_fields[RECORD_NR_VALUES] = {
	WHO,
	FIELD_REQUIRED("age_ns", VALUE_UNSIGNED, "How long it has lasted."),
	FIELD_REQUIRED("state", VALUE_BYTES, "In which state it began, as a letter of ps."),
	FIELD_REQUIRED("begun_before", VALUE_BOOL,
		       "It had begun before the run, from whose start it counts."),
	PARTS,
	STACKS,
};

static const struct record_type in_flight_record_type = {
	.name = "in_flight",
	.meaning = "A stay that had not ended when the run did.",
	.fields = in_flight_fields,
	.nr_fields = RECORD_NR_VALUES - 1,
	.block = &in_flight_fields[RECORD_NR_VALUES - 3],
	.folded = &in_flight_fields[RECORD_NR_VALUES - 2],
};

static const struct field reason_fields[] = {
	FIELD_REQUIRED("reason", VALUE_BYTES, "What was waited for."),
	FIELD_REQUIRED("idle", VALUE_BOOL, "The thread had nothing to do."),
	FIELD_REQUIRED("total_ns", VALUE_UNSIGNED, "Time off the CPU for it, ended or not."),
	{ .name = "text", .kind = VALUE_BYTES, .text_only = true, .meaning = "All of it." },
};

static const struct record_type reason_record_type = {
	.name = "reason",
	.meaning = "Time by what was waited for (--reasons).",
	.fields = reason_fields,
	.nr_fields = sizeof(reason_fields) / sizeof(reason_fields[0]),
	.block = &reason_fields[sizeof(reason_fields) / sizeof(reason_fields[0]) - 1],
};

static const struct field total_fields[] = {
	FIELD_REQUIRED("total_ns", VALUE_UNSIGNED, "Time off the CPU in stays that ended."),
	FIELD_REQUIRED("count", VALUE_UNSIGNED, "How many those were."),
	FIELD_REQUIRED("in_flight_ns", VALUE_UNSIGNED, "Time in stays that had not ended."),
	FIELD_REQUIRED("in_flight", VALUE_UNSIGNED, "How many those were."),
	FIELD_REQUIRED("not_kept_ns", VALUE_UNSIGNED, "Time of both whose stack was not kept."),
	FIELD_REQUIRED("not_seen_ns", VALUE_UNSIGNED, "Time of both whose stack was not seen."),
	FIELD_REQUIRED("idle_ns", VALUE_UNSIGNED,
		       "Time of both in idle waits that are left out (--hide-idle)."),
	{ .name = "text", .kind = VALUE_BYTES, .text_only = true, .meaning = "All of it." },
};

static const struct record_type total_record_type = {
	.name = "total",
	.meaning = "All rows of the report together, also those that --top leaves out.",
	.fields = total_fields,
	.nr_fields = sizeof(total_fields) / sizeof(total_fields[0]),
	.block = &total_fields[sizeof(total_fields) / sizeof(total_fields[0]) - 1],
};

const struct record_type *const offcputime_row_types[] = { &stack_record_type,
							   &in_flight_record_type, NULL };
const struct record_type *const offcputime_types[] = {
	&start_record_type,	&interval_record_type, &reason_record_type,  &stack_record_type,
	&in_flight_record_type, &total_record_type,    &account_record_type, NULL,
};
const char *const offcputime_columns[] = { NULL };

static void append_bytes(struct buffer *out, const char *data, size_t size)
{
	char *room = buffer__reserve(out, 4 * size);

	if (room)
		out->size += escape__text(room, data, size);
}

static uint64_t stay_row__blocked_ns(const struct stay_row *row)
{
	return row->total_ns - row->runnable_ns - row->preempted_ns;
}

/* Why there is no stack by this name; NULL: there is one. */
static const char *no_stack(uint64_t name)
{
	static const char *const names[] = {
		[STACK_NONE] = "none",
		[STACK_NOT_KEPT] = "not_kept",
		[STACK_NOT_SEEN] = "not_seen",
	};

	return name <= STACK_NOT_SEEN ? names[name] : NULL;
}

/* "1000123 us  12 times, longest 500.123ms" */
static void stay_row__print_time(const struct stay_row *row, const struct row_look *look,
				 struct buffer *out)
{
	char blocked[32], runnable[32], preempted[32], longest[32];

	buffer__printf(out, "        %" PRIu64 " us", row->total_ns / NS_PER_US);
	if (row->in_flight)
		buffer__printf(out, "  not ended (%c)", offcputime_state_letters[row->state]);
	else
		buffer__printf(out, "  %" PRIu64 " times, longest %s", row->count,
			       number__round_time(row->max_ns, longest));
	if (row->begun_before)
		buffer__append_string(out, ", begun before the run");
	if (look->split)
		buffer__printf(out, "\n          blocked %s, runnable %s, preempted %s",
			       number__round_time(stay_row__blocked_ns(row), blocked),
			       number__round_time(row->runnable_ns, runnable),
			       number__round_time(row->preempted_ns, preempted));
	buffer__append(out, "\n\n", 2);
}

/* Whether a row is kept by that. */
static bool has(const struct stay_row *row, const struct row_look *look, enum stay_by by)
{
	return !row->is_rest && (row->in_flight || look->by & 1U << by);
}

static void print_stacks(const struct stay_row *row, const struct row_stacks *stacks,
			 const struct row_look *look, struct buffer *out)
{
	static const char *const no_kernel[] = {
		[STACK_NONE] = "    [no kernel stack]\n",
		[STACK_NOT_KEPT] = "    [stack not kept]\n",
		[STACK_NOT_SEEN] = "    [stack not seen]\n",
	};
	/* Kernel threads have none, and that is nothing to tell. */
	static const char *const no_user[] = {
		[STACK_NONE] = "",
		[STACK_NOT_KEPT] = "    [user stack not kept]\n",
		[STACK_NOT_SEEN] = "    [user stack not seen: off the CPU since before the run]\n",
	};

	if (!row->is_rest && !has(row, look, STAY_BY_STACK))
		return;
	if (look->kernel_stacks) {
		frames__print(&stacks->kernel, out, look->offsets);
		if (row->key.kernel_stack <= STACK_NOT_SEEN)
			buffer__append_string(out, no_kernel[row->key.kernel_stack]);
	}
	if (!look->user_stacks || row->is_rest)
		return;
	if (look->delimited && look->kernel_stacks)
		buffer__append_string(out, "    --\n");
	frames__print(&stacks->user, out, look->offsets);
	if (row->key.user_stack <= STACK_NOT_SEEN)
		buffer__append_string(out, no_user[row->key.user_stack]);
}

/* "comm (tid)", as far as rows are kept by these; a process stands with its id where no thread does. */
static void print_who(const struct stay_row *row, const struct row_look *look, struct buffer *out)
{
	const struct offcputime_key *key = &row->key;

	if (row->is_rest)
		buffer__append_string(out, "all that found no room");
	else if (has(row, look, STAY_BY_COMM))
		append_bytes(out, key->comm, strnlen(key->comm, sizeof(key->comm)));
	else
		buffer__append_string(out, "all");
	if (has(row, look, STAY_BY_TID))
		buffer__printf(out, " (%" PRIu32 ")", key->tid);
	else if (has(row, look, STAY_BY_PID))
		buffer__printf(out, " (process %" PRIu32 ")", key->pid);
	buffer__append_char(out, '\n');
}

static void stay_row__print(const struct stay_row *row, const struct row_stacks *stacks,
			    const struct row_look *look, struct buffer *out)
{
	out->size = 0;
	print_stacks(row, stacks, look, out);
	buffer__append_string(out, "    -                ");
	print_who(row, look, out);
	stay_row__print_time(row, look, out);
}

static void fold_frames(uint64_t name, const struct frames *frames, struct buffer *line)
{
	static const char *const missing[] = {
		[STACK_NOT_KEPT] = "[stack not kept]",
		[STACK_NOT_SEEN] = "[stack not seen]",
	};

	frames__fold(frames, line);
	if (name <= STACK_NOT_SEEN && missing[name])
		folded__append_frame(line, missing[name], strlen(missing[name]));
}

/* "comm;main;read;vfs_read;pipe_read 1000123", in microseconds. */
static void stay_row__fold(const struct stay_row *row, const struct row_stacks *stacks,
			   const struct row_look *look, struct buffer *line)
{
	static const char rest[] = "[all that found no room]", all[] = "[all]";

	line->size = 0;
	if (row->is_rest)
		folded__append_frame(line, rest, sizeof(rest) - 1);
	else if (has(row, look, STAY_BY_COMM))
		folded__append_frame(line, row->key.comm,
				     strnlen(row->key.comm, sizeof(row->key.comm)));
	else
		folded__append_frame(line, all, sizeof(all) - 1);
	if (look->user_stacks)
		fold_frames(row->key.user_stack, &stacks->user, line);
	if (look->delimited && look->user_stacks && look->kernel_stacks)
		folded__append_frame(line, "-", 1);
	if (look->kernel_stacks)
		fold_frames(row->key.kernel_stack, &stacks->kernel, line);
	folded__end(line, row->total_ns / NS_PER_US);
}

static struct value *add_who(const struct stay_row *row, const struct row_look *look,
			     struct value *value)
{
	const struct offcputime_key *key = &row->key;
	const struct value none = {};

	*value++ = has(row, look, STAY_BY_PID) ? value__unsigned(key->pid) : none;
	*value++ = has(row, look, STAY_BY_TID) ? value__unsigned(key->tid) : none;
	*value++ = has(row, look, STAY_BY_COMM) ?
			   value__bytes(key->comm, strnlen(key->comm, sizeof(key->comm))) :
			   none;
	return value;
}

/* The frames, or why there are none. */
static struct value *add_stack(uint64_t name, struct frames *frames, bool taken,
			       struct value *value)
{
	const char *none = no_stack(name);

	*value++ = none || !taken ? (struct value){} : frames__value(frames);
	*value++ = none && taken ? value__text(none) : (struct value){};
	return value;
}

struct record stay_row__record(const struct stay_row *row, struct row_stacks *stacks,
			       const struct row_look *look, struct record_values *values)
{
	struct value *value = add_who(row, look, values->values);

	*value++ = value__unsigned(row->total_ns);
	if (row->in_flight) {
		values->state[0] = offcputime_state_letters[row->state];
		*value++ = value__bytes(values->state, 1);
		*value++ = value__bool(row->begun_before);
	} else {
		*value++ = value__unsigned(row->count);
		*value++ = value__unsigned(row->max_ns);
		*value++ = value__unsigned(row->begun_before);
	}
	*value++ = look->split ? value__unsigned(stay_row__blocked_ns(row)) : (struct value){};
	*value++ = look->split ? value__unsigned(row->runnable_ns) : (struct value){};
	*value++ = look->split ? value__unsigned(row->preempted_ns) : (struct value){};
	value = add_stack(row->key.kernel_stack, &stacks->kernel,
			  look->kernel_stacks && (row->is_rest || has(row, look, STAY_BY_STACK)),
			  value);
	value = add_stack(row->key.user_stack, &stacks->user,
			  look->user_stacks && has(row, look, STAY_BY_STACK), value);
	if (look->folded)
		stay_row__fold(row, stacks, look, &values->text);
	else
		stay_row__print(row, stacks, look, &values->text);
	/* Each face shows one of the two. */
	*value++ = value__bytes(values->text.data, values->text.size);
	*value++ = value__bytes(values->text.data, values->text.size);
	return (struct record){ row->in_flight ? &in_flight_record_type : &stack_record_type,
				values->values };
}

void totals__add(struct totals *totals, const struct stay_row *row)
{
	if (row->in_flight) {
		totals->open_ns += row->total_ns;
		totals->nr_open++;
	} else {
		totals->total_ns += row->total_ns;
		totals->count += row->count;
	}
	if (row->key.kernel_stack == STACK_NOT_KEPT || row->key.user_stack == STACK_NOT_KEPT) {
		totals->not_kept_ns += row->total_ns;
		totals->nr_not_kept += row->count;
	} else if (row->key.kernel_stack == STACK_NOT_SEEN) {
		totals->not_seen_ns += row->total_ns;
		totals->nr_not_seen += row->count;
	}
}

struct record reason__record(const struct reason_time *time, uint64_t whole_ns, bool last,
			     struct record_values *values)
{
	struct value *value = values->values;
	char text[32];

	values->text.size = 0;
	buffer__printf(&values->text, "%12s %5.1f %%  %s%s\n%s", number__round_time(time->ns, text),
		       whole_ns ? 100.0 * (double)time->ns / (double)whole_ns : 0.0,
		       reason_names[time->reason], time->idle ? ", idle" : "", last ? "\n" : "");
	*value++ = value__text(reason_names[time->reason]);
	*value++ = value__bool(time->idle);
	*value++ = value__unsigned(time->ns);
	*value++ = value__bytes(values->text.data, values->text.size);
	return (struct record){ &reason_record_type, values->values };
}

struct record totals__record(const struct totals *totals, struct record_values *values)
{
	uint64_t without_ns = totals->not_kept_ns + totals->not_seen_ns;
	char total[32], open[32], without[32], idle[32];
	struct value *value = values->values;

	values->text.size = 0;
	buffer__printf(&values->text, "%s off the CPU in %" PRIu64 " stays",
		       number__round_time(totals->total_ns, total), totals->count);
	if (totals->nr_open)
		buffer__printf(&values->text, ", and %s in %" PRIu64 " that had not ended",
			       number__round_time(totals->open_ns, open), totals->nr_open);
	if (without_ns)
		buffer__printf(&values->text, "; %s without a stack",
			       number__round_time(without_ns, without));
	if (totals->idle_ns)
		buffer__printf(&values->text, "; %s of it in idle waits, which are left out",
			       number__round_time(totals->idle_ns, idle));
	buffer__append_char(&values->text, '\n');
	*value++ = value__unsigned(totals->total_ns);
	*value++ = value__unsigned(totals->count);
	*value++ = value__unsigned(totals->open_ns);
	*value++ = value__unsigned(totals->nr_open);
	*value++ = value__unsigned(totals->not_kept_ns);
	*value++ = value__unsigned(totals->not_seen_ns);
	*value++ = value__unsigned(totals->idle_ns);
	*value++ = value__bytes(values->text.data, values->text.size);
	return (struct record){ &total_record_type, values->values };
}
