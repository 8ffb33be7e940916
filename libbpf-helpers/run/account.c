// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/account.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "run/log.h"
#include "run/number.h"
#include "run/probe_info.h"

/* Raised when a released field changes its meaning; adding one does not count. */
#define SCHEMA_VERSION 1

static const char *const cause_names[ACCOUNT_NR_CAUSES] = {
	[ACCOUNT_RING_FULL] = "ring_full",	   [ACCOUNT_MAP_FULL] = "map_full",
	[ACCOUNT_NO_START] = "no_start",	   [ACCOUNT_NO_STORAGE] = "no_storage",
	[ACCOUNT_OUTPUT_CLOSED] = "output_closed", [ACCOUNT_NO_END] = "no_end",
};

static const char *const detail_names[ACCOUNT_NR_DETAILS] = {
	[ACCOUNT_DETAIL_ARGS] = "args",
	[ACCOUNT_DETAIL_TREE] = "tree",
	[ACCOUNT_DETAIL_SLOW] = "slow",
	[ACCOUNT_DETAIL_RESULT] = "result",
	[ACCOUNT_DETAIL_ERRNO] = "errno",
	[ACCOUNT_DETAIL_STACK] = "stack",
	[ACCOUNT_DETAIL_DISTRIBUTION] = "distribution",
	[ACCOUNT_DETAIL_PATH] = "path",
};

static const char *const verdict_names[] = {
	[VERDICT_EXACT] = "exact",
	[VERDICT_LOWER_BOUND] = "lower_bound",
	[VERDICT_UNKNOWN] = "unknown",
};

void account__init(struct account *account, const char *const *kinds, uint32_t asked)
{
	*account = (struct account){ .kinds = kinds, .asked = asked, .command_status = -1 };
	while (account->nr_kinds < ACCOUNT_KINDS_MAX && kinds[account->nr_kinds])
		account->nr_kinds++;
}

static bool account__is_asked(const struct account *account, uint32_t kind)
{
	return account->asked & (1U << kind);
}

int account__read(struct account *account, const struct bpf_map *counters)
{
	int nr_cpus = libbpf_num_possible_cpus();
	struct account_counters *values;

	if (nr_cpus < 0)
		return log_error(nr_cpus, NULL, "cannot count the possible CPUs");
	values = calloc(nr_cpus, sizeof(*values));
	if (!values)
		return log_error(ENOMEM, NULL, "cannot read the account");

	account->begun_before = 0;
	for (uint32_t index = 0; index < ACCOUNT_NR_COUNTERS; index++) {
		struct account_counters *sum = &account->terms[index].kernel;
		int err = bpf_map__lookup_elem(counters, &index, sizeof(index), values,
					       nr_cpus * sizeof(*values), 0);

		if (err) {
			free(values);
			return log_error(err, NULL, "cannot read the account from the kernel");
		}
		*sum = (struct account_counters){};
		for (int cpu = 0; cpu < nr_cpus; cpu++) {
			sum->seen += values[cpu].seen;
			sum->filtered += values[cpu].filtered;
			sum->begun_before += values[cpu].begun_before;
			sum->stood_in += values[cpu].stood_in;
			sum->left_to_stand_in += values[cpu].left_to_stand_in;
			for (int i = 0; i < ACCOUNT_NR_CAUSES; i++)
				sum->lost[i] += values[cpu].lost[i];
			for (int i = 0; i < ACCOUNT_NR_DETAILS; i++)
				sum->detail_lost[i] += values[cpu].detail_lost[i];
		}
		account->begun_before += sum->begun_before;
	}
	free(values);
	return 0;
}

/* Adds the terms of one kind. */
static void account_sum__add(struct account_sum *sum, const struct account_terms *terms)
{
	sum->seen += terms->kernel.seen;
	sum->filtered += terms->kernel.filtered + terms->filtered;
	sum->recorded += terms->recorded;
	sum->in_flight += terms->in_flight;
	for (int i = 0; i < ACCOUNT_NR_CAUSES; i++)
		sum->lost[i] += terms->kernel.lost[i];
	sum->lost[ACCOUNT_OUTPUT_CLOSED] += terms->output_closed;
	sum->lost[ACCOUNT_NO_END] += terms->no_end;
	for (int i = 0; i < ACCOUNT_NR_DETAILS; i++)
		sum->detail_lost[i] += terms->kernel.detail_lost[i] + terms->detail_lost[i];
}

static uint64_t account_sum__lost(const struct account_sum *sum)
{
	uint64_t lost = 0;

	for (int i = 0; i < ACCOUNT_NR_CAUSES; i++)
		lost += sum->lost[i];
	return lost;
}

struct account_sum account__total(const struct account *account)
{
	struct account_sum sum = {};

	for (uint32_t kind = 0; kind < account->nr_kinds; kind++)
		if (account__is_asked(account, kind))
			account_sum__add(&sum, &account->terms[kind]);
	return sum;
}

bool account__balances(const struct account *account)
{
	for (uint32_t kind = 0; kind < account->nr_kinds; kind++) {
		struct account_sum sum = {};

		if (!account__is_asked(account, kind))
			continue;
		account_sum__add(&sum, &account->terms[kind]);
		if (sum.seen !=
		    sum.filtered + sum.recorded + account_sum__lost(&sum) + sum.in_flight)
			return false;
	}
	return true;
}

/*
 * As probe_info__read(); missed: without what a stand-in has done instead, and with what was left
 * to one that was skipped. Of a stand-in none: whatever it is skipped for, its program has done or
 * has missed.
 */
static void account__read_probe(const struct account *account, const struct attachment *attachment,
				size_t index, struct probe_info *info)
{
	const struct attach_program *program = attachment->probes[index].program;

	probe_info__read(&attachment->probes[index], info);
	if (program->stands_in_for)
		info->missed = 0;
	for (size_t i = index + 1; i < attachment->nr_probes; i++) {
		const struct attach_program *behind = attachment->probes[i].program;
		const struct account_counters *counters = &account->terms[behind->counters].kernel;
		uint64_t events = info->missed + counters->left_to_stand_in;

		if (!behind->stands_in_for || strcmp(behind->stands_in_for, program->program))
			continue;
		/* It may have done one more, of before the program's first run. */
		info->missed = events > counters->stood_in ? events - counters->stood_in : 0;
	}
}

enum account_verdict account__verdict(const struct account *account,
				      const struct attachment *attachment)
{
	struct account_sum sum = account__total(account);
	enum account_verdict verdict = VERDICT_EXACT;
	uint64_t not_whole = account_sum__lost(&sum);

	for (int i = 0; i < ACCOUNT_NR_DETAILS; i++)
		not_whole += sum.detail_lost[i];
	if (not_whole || !account__balances(account))
		return VERDICT_LOWER_BOUND;
	for (size_t i = 0; i < attachment->nr_probes; i++) {
		struct probe_info info;

		account__read_probe(account, attachment, i, &info);
		if (info.missed_known && info.missed)
			return VERDICT_LOWER_BOUND;
		if (!info.missed_known && info.can_miss)
			verdict = VERDICT_UNKNOWN;
	}
	return verdict;
}

static const struct field probe_fields[] = {
	FIELD_REQUIRED("target", VALUE_BYTES, "What a program is attached to."),
	FIELD_REQUIRED("mechanism", VALUE_BYTES, "How, as --attach names it."),
	FIELD_OPTIONAL("runs", VALUE_UNSIGNED, "Runs of the program (--stats)."),
	FIELD_OPTIONAL("run_ns", VALUE_UNSIGNED, "Nanoseconds spent in all its runs (--stats)."),
};

static const struct record_type probe_type = {
	.name = "probe",
	.meaning = "One attached program.",
	.fields = probe_fields,
	.nr_fields = 4,
};

#define NR_FIELDS_OF_A_SUM 6

static const struct field kind_fields[] = {
	FIELD_REQUIRED("kind", VALUE_BYTES, "The kind of event; the key of its object."),
	FIELD_REQUIRED("seen", VALUE_UNSIGNED, "Events seen, before any filter."),
	FIELD_REQUIRED("filtered", VALUE_UNSIGNED, "Events outside what was asked."),
	FIELD_REQUIRED("recorded", VALUE_UNSIGNED, "Events in the report."),
	FIELD_REQUIRED("in_flight", VALUE_UNSIGNED, "Events begun and not ended."),
	FIELD_REQUIRED("lost", VALUE_COUNTS, "Events lost, by cause."),
	FIELD_REQUIRED("detail_lost", VALUE_COUNTS, "Details of recorded events not kept."),
};

static const struct record_type kind_type = {
	.name = "kind",
	.meaning = "The sum of one kind of event.",
	.fields = kind_fields,
	.nr_fields = 1 + NR_FIELDS_OF_A_SUM,
};

/* The fields of the whole are counters of OpenMetrics, too. */
#define COUNTER(field_name, metric_name, text)                                                     \
	{                                                                                          \
		.name = field_name, .kind = VALUE_UNSIGNED, .required = true, .meaning = text,     \
		.metric = metric_name                                                              \
	}
#define COUNTERS(field_name, metric_name, label_name, text)                                        \
	{                                                                                          \
		.name = field_name, .kind = VALUE_COUNTS, .required = true, .meaning = text,       \
		.metric = metric_name, .label = label_name                                         \
	}

static const struct field account_fields[] = {
	COUNTER("seen", "events_seen", "Events seen, before any filter."),
	COUNTER("filtered", "events_filtered", "Events outside what was asked."),
	COUNTER("recorded", "events_recorded", "Events in the report."),
	{ .name = "in_flight",
	  .kind = VALUE_UNSIGNED,
	  .required = true,
	  .meaning = "Events begun and not ended.",
	  .metric = "events_in_flight",
	  .gauge = true },
	COUNTERS("lost", "events_lost", "cause", "Events lost, by cause."),
	COUNTERS("detail_lost", "details_lost", "detail", "Details of recorded events not kept."),
	COUNTER("begun_before", "events_begun_before", "Events begun before the run; in no sum."),
	COUNTERS("missed", "runs_missed", "program",
		 "Runs of each program that the kernel skipped, if it tells; else null in JSON."),
	FIELD_REQUIRED("verdict", VALUE_BYTES, "exact, lower_bound or unknown."),
	{ .name = "kinds",
	  .kind = VALUE_RECORDS,
	  .required = true,
	  .meaning = "The sum of each kind of event.",
	  .of = &kind_type,
	  .named = true },
	FIELD_REQUIRED("duration_ns", VALUE_UNSIGNED, "Length of the run."),
	FIELD_OPTIONAL("command_status", VALUE_UNSIGNED, "Exit status of the command after --."),
	{ .name = "probes",
	  .kind = VALUE_RECORDS,
	  .required = true,
	  .meaning = "What was attached.",
	  .of = &probe_type },
};

const struct record_type account_record_type = {
	.name = "account",
	.meaning = "The last line: what became of every event.",
	.fields = account_fields,
	.nr_fields = NR_FIELDS_OF_A_SUM + 7,
};

static const struct field start_fields[] = {
	FIELD_REQUIRED("tool", VALUE_BYTES, "Name of the tool."),
	FIELD_REQUIRED("version", VALUE_BYTES, "Its version."),
	FIELD_REQUIRED("schema", VALUE_UNSIGNED, "Version of this schema."),
	FIELD_REQUIRED("kernel", VALUE_BYTES, "Release of the running kernel."),
	FIELD_REQUIRED("time_ns", VALUE_UNSIGNED, "Wall clock of the start, since the epoch."),
	{ .name = "probes",
	  .kind = VALUE_RECORDS,
	  .required = true,
	  .meaning = "What is attached.",
	  .of = &probe_type },
};

const struct record_type start_record_type = {
	.name = "start",
	.meaning = "The first line: what is traced, and how.",
	.fields = start_fields,
	.nr_fields = 6,
};

/* The probes as records; values holds nr_probes rows of 4. */
static struct value account__probes(const struct attachment *attachment, bool stats,
				    struct record *records, struct value (*values)[4])
{
	for (size_t i = 0; i < attachment->nr_probes; i++) {
		const struct attached_probe *probe = &attachment->probes[i];
		struct probe_info info;

		probe_info__read(probe, &info);
		values[i][0] = value__text(probe->program->target);
		values[i][1] = value__text(attach_mechanism_names[probe->mechanism]);
		values[i][2] = stats ? value__unsigned(info.runs) : (struct value){};
		values[i][3] = stats ? value__unsigned(info.run_ns) : (struct value){};
		records[i] = (struct record){ &probe_type, values[i] };
	}
	return value__records(records, attachment->nr_probes);
}

int account__report_start(const char *tool, uint64_t wall_ns, const struct attachment *attachment,
			  struct sink *sink)
{
	struct value probe_values[ATTACH_PROBES_MAX][4];
	struct record probes[ATTACH_PROBES_MAX];
	struct utsname kernel;
	struct value values[6];

	uname(&kernel);
	values[0] = value__text(tool);
	values[1] = value__text(VANTAGE_VERSION);
	values[2] = value__unsigned(SCHEMA_VERSION);
	values[3] = value__text(kernel.release);
	values[4] = value__unsigned(wall_ns);
	values[5] = account__probes(attachment, false, probes, probe_values);
	return sink__write(sink, &(struct record){ &start_record_type, values });
}

/* What a sum's values borrow. */
struct sum_counts {
	struct named_count lost[ACCOUNT_NR_CAUSES];
	struct named_count details[ACCOUNT_NR_DETAILS];
};

static void account_sum__values(const struct account_sum *sum, struct sum_counts *counts,
				struct value *values)
{
	for (int i = 0; i < ACCOUNT_NR_CAUSES; i++)
		counts->lost[i] = (struct named_count){ cause_names[i], sum->lost[i], true };
	for (int i = 0; i < ACCOUNT_NR_DETAILS; i++)
		counts->details[i] = (struct named_count){ detail_names[i], sum->detail_lost[i],
							   true };
	values[0] = value__unsigned(sum->seen);
	values[1] = value__unsigned(sum->filtered);
	values[2] = value__unsigned(sum->recorded);
	values[3] = value__unsigned(sum->in_flight);
	values[4] = value__counts(counts->lost, ACCOUNT_NR_CAUSES);
	values[5] = value__counts(counts->details, ACCOUNT_NR_DETAILS);
}

static int account__write(const struct account *account, const struct attachment *attachment,
			  enum account_verdict verdict, struct sink *sink, bool stats, bool running)
{
	struct value kind_values[ACCOUNT_KINDS_MAX][1 + NR_FIELDS_OF_A_SUM];
	struct value probe_values[ATTACH_PROBES_MAX][4];
	struct named_count missed[ATTACH_PROBES_MAX];
	struct sum_counts counts, kind_counts[ACCOUNT_KINDS_MAX];
	struct value values[NR_FIELDS_OF_A_SUM + 7], *value = &values[NR_FIELDS_OF_A_SUM];
	struct account_sum total = account__total(account);
	struct record kinds[ACCOUNT_KINDS_MAX], probes[ATTACH_PROBES_MAX];
	uint32_t nr_asked = 0, nr_missed = 0;

	for (uint32_t kind = 0; kind < account->nr_kinds; kind++) {
		struct account_sum sum = {};

		if (!account__is_asked(account, kind))
			continue;
		account_sum__add(&sum, &account->terms[kind]);
		kind_values[kind][0] = value__text(account->kinds[kind]);
		account_sum__values(&sum, &kind_counts[kind], &kind_values[kind][1]);
		kinds[nr_asked++] = (struct record){ &kind_type, kind_values[kind] };
	}
	for (size_t i = 0; i < attachment->nr_probes; i++) {
		struct probe_info info;

		if (attachment->probes[i].program->stands_in_for)
			continue;
		account__read_probe(account, attachment, i, &info);
		missed[nr_missed++] = (struct named_count){ attachment->probes[i].program->program,
							    info.missed, info.missed_known };
	}
	account_sum__values(&total, &counts, values);
	if (running)
		values[3] = (struct value){};
	*value++ = value__unsigned(account->begun_before);
	*value++ = value__counts(missed, nr_missed);
	*value++ = value__text(verdict_names[verdict]);
	*value++ = value__records(kinds, nr_asked);
	*value++ = value__unsigned(account->duration_ns);
	*value++ = account->command_status < 0 ? (struct value){} :
						 value__unsigned(account->command_status);
	*value++ = account__probes(attachment, stats, probes, probe_values);
	return sink__write(sink, &(struct record){ &account_record_type, values });
}

/* "exec 12 seen = 2 filtered + 9 recorded + 1 lost (ring_full 1)" */
static void account__print_kind(FILE *out, const char *name, const struct account_terms *terms)
{
	struct account_sum sum = {};
	const char *before = " (";

	account_sum__add(&sum, terms);
	fprintf(out, "%s %lu seen = %lu filtered + %lu recorded + %lu lost", name, sum.seen,
		sum.filtered, sum.recorded, account_sum__lost(&sum));
	for (int i = 0; i < ACCOUNT_NR_CAUSES; i++) {
		if (!sum.lost[i])
			continue;
		fprintf(out, "%s%s %lu", before, cause_names[i], sum.lost[i]);
		before = ", ";
	}
	fprintf(out, "%s + %lu in flight", account_sum__lost(&sum) ? ")" : "", sum.in_flight);
	for (int i = 0; i < ACCOUNT_NR_DETAILS; i++)
		if (sum.detail_lost[i])
			fprintf(out, ", %s not whole in %lu", detail_names[i], sum.detail_lost[i]);
}

static void account__print(const struct account *account, const struct attachment *attachment,
			   enum account_verdict verdict)
{
	char *line = NULL, duration[32];
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out) {
		log_error(errno, NULL, "cannot print the account");
		return;
	}
	/* Whole milliseconds are enough for a person. */
	number__format_time(account->duration_ns / 1000000 * 1000000, duration);
	for (uint32_t kind = 0; kind < account->nr_kinds; kind++) {
		if (!account__is_asked(account, kind))
			continue;
		account__print_kind(out, account->kinds[kind], &account->terms[kind]);
		fputs("; ", out);
	}
	for (size_t i = 0; i < attachment->nr_probes; i++) {
		struct probe_info info;

		account__read_probe(account, attachment, i, &info);
		if (info.missed)
			fprintf(out, "%s missed %lu runs; ", attachment->probes[i].program->program,
				info.missed);
	}
	if (account->begun_before)
		fprintf(out, "%lu had begun before; ", account->begun_before);
	fprintf(out, "in %s: %s", duration, verdict_names[verdict]);
	fclose(out);
	log_info("%s", line);
	free(line);
}

int account__report(const struct account *account, const struct attachment *attachment,
		    struct sink *sink, bool stats)
{
	enum account_verdict verdict = account__verdict(account, attachment);
	int err = account__write(account, attachment, verdict, sink, stats, false);

	if (!account__balances(account))
		log_warning("Please report this: a sum that does not hold is a fault of the tool.",
			    "the terms of the account do not add up");
	account__print(account, attachment, verdict);
	return err;
}

int account__update(const struct account *account, const struct attachment *attachment,
		    struct sink *sink, bool running)
{
	return account__write(account, attachment, account__verdict(account, attachment), sink,
			      false, running);
}
