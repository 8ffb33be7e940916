// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Operands of a tool, lists of choices, and percentiles on the command line. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "run/log.h"
#include "run/number.h"
#include "run/options.h"
#include "test.h"

#define WORDS(...) ((char **)(const char *const[]){ "trial", __VA_ARGS__, NULL })

struct trial_options {
	struct common_options common;
	struct optional_time interval;
	struct optional_count count;
	uint32_t by;
	struct number_list percentiles;
};

static const char *const keys[] = { "pid", "cpu", "cause", NULL };

#define ROW(row_name, row_type, field, row_argument, ...)                                          \
	{                                                                                          \
		.name = row_name, .group = OPTION_REPORT, .type = row_type,                        \
		.offset = offsetof(struct trial_options, field), .argument = row_argument,         \
		.help = "Help", __VA_ARGS__                                                        \
	}

static const struct option_row rows[] = {
	ROW("interval", OPTION_DURATION, interval, "TIME", .min = 1000000, .max = INT64_MAX),
	ROW("count", OPTION_COUNT, count, "N", .min = 1, .max = 1000),
	ROW("by", OPTION_CHOICES, by, "KEY", .choices = keys),
	ROW("percentiles", OPTION_PERCENTILES, percentiles, "LIST", .max = 3, .no_metrics = true),
};

static const char *const operands[] = { "interval", "count", NULL };

static const struct tool_options trial = {
	.tool = "trial",
	.summary = "Tries operands.",
	.rows = rows,
	.nr_rows = sizeof(rows) / sizeof(rows[0]),
	.operands = operands,
	.has_metrics = true,
};

static char said[512];

static void hear(const struct log_message *message)
{
	snprintf(said, sizeof(said), "%s|%s", message->message,
		 message->cause ? message->cause : "");
}

static int parse(struct trial_options *options, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	*options = (struct trial_options){};
	said[0] = '\0';
	return options__parse(&trial, options, argc, argv);
}

static void refuse(const char *word, char **argv)
{
	struct trial_options options;
	int err = parse(&options, argv);
	char name[128];

	snprintf(name, sizeof(name), "refused, with the word '%s'", word);
	test__check(err == -EINVAL && strstr(said, word), name, "%d: %s", err, said);
	number_list__free(&options.percentiles);
	common_options__free(&options.common);
}

static void test_operands(void)
{
	struct trial_options o;

	test__equal("no operand", (uint64_t)parse(&o, WORDS("-v")), 0);
	test__check(!o.interval.given && !o.count.given, "nothing is given then", "it is");
	test__equal("an interval", (uint64_t)parse(&o, WORDS("0.5")), 0);
	test__check(o.interval.ns == 500000000 && !o.count.given, "its value", "%" PRIu64,
		    o.interval.ns);
	test__equal("both, among options", (uint64_t)parse(&o, WORDS("2s", "-v", "7", "-j")), 0);
	test__check(o.interval.ns == 2000000000 && o.count.count == 7 && o.common.json,
		    "their values, and the options'", "%" PRIu64 " %" PRIu64, o.interval.ns,
		    o.count.count);
	test__equal("and a command", (uint64_t)parse(&o, WORDS("1", "--", "ls", "2")), 0);
	test__check(o.common.command && !strcmp(o.common.command[0], "ls") && !o.count.given,
		    "whose words are no operands", "they are");
	refuse("abc", WORDS("abc"));
	refuse("0", WORDS("1", "0"));
	refuse("3", WORDS("1", "2", "3"));
	refuse("2", WORDS("--interval", "1", "2"));
}

/* Options about single records are not for metrics. */
static void test_metrics(void)
{
	struct trial_options o;

	test__equal("metrics", (uint64_t)parse(&o, WORDS("--format", "openmetrics", "1")), 0);
	test__equal("are a face", options__face(&o.common), FACE_OPENMETRICS);
	test__equal("a list without metrics", (uint64_t)parse(&o, WORDS("--percentiles", "1")), 0);
	number_list__free(&o.percentiles);
	refuse("--percentiles", WORDS("--format", "openmetrics", "--percentiles", "1"));
}

static void test_choices(void)
{
	struct trial_options o;

	test__equal("choices", (uint64_t)parse(&o, WORDS("--by", "cause,pid")), 0);
	test__equal("are bits", o.by, 1 << 0 | 1 << 2);
	test__equal("choices again", (uint64_t)parse(&o, WORDS("--by", "pid", "--by", "cpu")), 0);
	test__equal("add up", o.by, 1 << 0 | 1 << 1);
	refuse("colour", WORDS("--by", "pid,colour"));
	refuse("pid,", WORDS("--by", "pid,"));
}

static void test_percentiles(void)
{
	struct trial_options o;

	test__equal("percentiles", (uint64_t)parse(&o, WORDS("--percentiles", "0,99.9,100")), 0);
	test__check(o.percentiles.nr == 3 && o.percentiles.items[0] == 0 &&
			    o.percentiles.items[1] == 99900000 &&
			    o.percentiles.items[2] == 100000000,
		    "are millionths", "%zu", o.percentiles.nr);
	number_list__free(&o.percentiles);
	refuse("100.000001", WORDS("--percentiles", "100.000001"));
	refuse("99.", WORDS("--percentiles", "99."));
	refuse("1.2345678", WORDS("--percentiles", "1.2345678"));
	refuse("-1", WORDS("--percentiles", "-1"));
	refuse("3", WORDS("--percentiles", "1,2,3,4"));
}

static void test_round_time(void)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} times[] = {
		{ 0, "0ns" },
		{ 999, "999ns" },
		{ 1000, "1.000us" },
		{ 1000499, "1.000ms" },
		{ 1000500, "1.001ms" },
		{ 4883564, "4.884ms" },
		{ 999999, "999.999us" },
		{ 999999499, "999.999ms" },
		{ 999999500, "1.000s" },
		{ UINT64_MAX, "18446744073.710s" },
	};
	char text[32];

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
		test__same("a rounded time", number__round_time(times[i].ns, text), times[i].text);
}

int main(void)
{
	log__set_writer(hear);
	test_operands();
	test_metrics();
	test_choices();
	test_percentiles();
	test_round_time();
	return test__done();
}
