// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The OpenMetrics face: bounds, sums over intervals, escapes, and files replaced as a whole. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "openmetrics.h"
#include "output/histogram.h"
#include "sink_output.h"

static const struct metric_names names = { "trial", "wait", "How long it was.", false };

static const struct field account_fields[] = {
	{ .name = "seen", .kind = VALUE_UNSIGNED, .meaning = "Seen.", .metric = "events_seen" },
	{ .name = "more", .kind = VALUE_UNSIGNED, .meaning = "No metric." },
	{ .name = "lost",
	  .kind = VALUE_COUNTS,
	  .meaning = "Lost.",
	  .metric = "events_lost",
	  .label = "cause" },
	{ .name = "open",
	  .kind = VALUE_UNSIGNED,
	  .meaning = "Open.",
	  .metric = "events_open",
	  .gauge = true },
};

static const struct record_type account_type = {
	.name = "account",
	.fields = account_fields,
	.nr_fields = NR_OF(account_fields),
};

static struct sink_config config_for(const char *path)
{
	return (struct sink_config){
		.face = FACE_OPENMETRICS,
		.path = path,
		.metrics = &names,
	};
}

static struct sink *open_sink(const char *path)
{
	const struct sink_config config = config_for(path);
	struct sink *sink;

	if (sink__open(&sink, &config))
		test__fatal("the sink opens", "%s", last_error);
	return sink;
}

static void write_account(struct sink *sink, uint64_t seen, bool is_open)
{
	const struct named_count lost[] = { { "ring_full", 2, true }, { "unknown", 0, false } };
	const struct value values[] = {
		value__unsigned(seen),
		value__unsigned(1),
		value__counts(lost, 2),
		is_open ? value__unsigned(4) : absent,
	};

	sink__write(sink, &(struct record){ &account_type, values });
}

/* A histogram of these unscaled values under this command name; NULL: of the whole. */
static void write_values(struct sink *sink, uint64_t unit, const char *comm, const uint64_t *data,
			 size_t nr)
{
	const struct histogram_style style = { .config = { .unit = unit }, .unit = "units" };
	struct histogram_record *record = histogram_record__new();
	struct value key[HISTOGRAM_KEY_NR_FIELDS] = {};
	struct hist *hist = calloc(1, sizeof(*hist));
	struct record filled;

	if (comm)
		key[HISTOGRAM_KEY_COMM] = value__string(comm);
	for (size_t i = 0; i < nr; i++) {
		hist->slots[hist__slot(&style.config, data[i])]++;
		hist->stats.count++;
		hist->stats.sum += data[i];
	}
	filled = histogram_record__fill(record, hist, &style, key, false);
	sink__write(sink, &filled);
	histogram_record__free(record);
	free(hist);
}

#define VALUES(...)                                                                                \
	(const uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)

static void check_valid(const char *name, const char *text)
{
	char why[200] = "";

	test__check(openmetrics__is_valid(text, why, sizeof(why)), name, "%s in %s", why, text);
}

/* Closes the sink after the state of its end is written; what the file holds, to be freed. */
static char *finish(struct sink *sink, const char *path)
{
	char *text;

	if (sink__publish(sink, true) || sink__close(sink))
		test__fatal("the state is written", "%s", last_error);
	text = file__read(path, NULL);
	if (!text)
		test__fatal("the file is there", "errno %d", errno);
	return text;
}

static void test_bounds(void)
{
	const char *path = scratch__path("bounds");
	struct sink *sink = open_sink(path);
	char *text;

	write_values(sink, 1, NULL, VALUES(0, 1, 2, 3, 4, 1000, UINT64_C(1) << 40, UINT64_MAX));
	text = finish(sink, path);
	check_valid("bounds: the text is valid", text);
	test__equal("bounds: 0 has a bucket",
		    openmetrics__value(text, "trial_wait_seconds_bucket"
					     "{le=\"0.0\"}"),
		    1);
	test__equal("bounds: 1 ns is in its own, the bound included",
		    openmetrics__value(text, "trial_wait_seconds_bucket{le=\"1e-09\"}"), 2);
	test__equal("bounds: 3 ns is the most of the next one",
		    openmetrics__value(text, "trial_wait_seconds_bucket{le=\"3e-09\"}"), 4);
	test__equal("bounds: 4 ns is in the one up to 7",
		    openmetrics__value(text, "trial_wait_seconds_bucket{le=\"7e-09\"}"), 5);
	test__equal("bounds: they go as far as the values do",
		    openmetrics__value(text, "trial_wait_seconds_bucket{le=\"2199.023255551\"}"),
		    7);
	test__equal("bounds: what 64 bits end is in +Inf",
		    openmetrics__value(text, "trial_wait_seconds_bucket{le=\"+Inf\"}"), 8);
	test__equal("bounds: the count", openmetrics__value(text, "trial_wait_seconds_count"), 8);
	free(text);
}

/* Microseconds: a bucket's largest value is a nanosecond below the next one. */
static void test_units(void)
{
	const char *path = scratch__path("units");
	struct sink *sink = open_sink(path);
	char *text;

	write_values(sink, 1000, NULL, VALUES(999, 1000, 1999, 2000, 3999, 10000000));
	text = finish(sink, path);
	check_valid("units: the text is valid", text);
	test__equal("units: below 1 us",
		    openmetrics__value(text, "trial_wait_seconds_bucket{le=\"9.99e-07\"}"), 1);
	test__equal("units: 1 us",
		    openmetrics__value(text, "trial_wait_seconds_bucket{le=\"1.999e-06\"}"), 3);
	test__equal("units: 2 us to 3 us",
		    openmetrics__value(text, "trial_wait_seconds_bucket{le=\"3.999e-06\"}"), 5);
	test__equal("units: 10 ms",
		    openmetrics__value(text, "trial_wait_seconds_bucket{le=\"0.016383999\"}"), 6);
	test__check(strstr(text, "\ntrial_wait_seconds_sum 0.010009997\n"),
		    "units: the sum is exact", "%s", text);
	free(text);
}

static void test_intervals(void)
{
	const char *path = scratch__path("intervals");
	struct sink *sink = open_sink(path);
	struct stat first, second;
	char *text;

	test__check(access(path, F_OK), "intervals: no file before the first one", "there is");
	write_values(sink, 1000, "one", VALUES(5000, 6000));
	write_account(sink, 2, false);
	test__check(sink__is_buffering(sink), "intervals: the state is not written by itself",
		    "it is");
	sink__publish(sink, false);
	test__check(!sink__is_buffering(sink), "intervals: it is when it is published", "not");
	text = file__read(path, NULL);
	check_valid("intervals: the first text is valid", text);
	test__check(!strstr(text, "trial_events_open"), "intervals: what is not known is absent",
		    "%s", text);
	free(text);
	stat(path, &first);
	write_values(sink, 1000, "two", VALUES(1));
	write_values(sink, 1000, "one", VALUES(7000));
	write_account(sink, 4, true);
	text = finish(sink, path);
	stat(path, &second);
	check_valid("intervals: the next text is valid", text);
	test__check(first.st_ino != second.st_ino, "intervals: the file is another one", "it is");
	test__equal("intervals: each key counts from the start",
		    openmetrics__value(text, "trial_wait_seconds_count{comm=\"one\"}"), 3);
	test__equal("intervals: and a new one has its own",
		    openmetrics__value(text, "trial_wait_seconds_count{comm=\"two\"}"), 1);
	test__equal("intervals: counters are the last ones",
		    openmetrics__value(text, "trial_events_seen_total"), 4);
	test__equal("intervals: by cause",
		    openmetrics__value(text, "trial_events_lost_total{cause=\"ring_full\"}"), 2);
	test__equal("intervals: a gauge", openmetrics__value(text, "trial_events_open"), 4);
	test__check(!strstr(text, "unknown") && !strstr(text, "more"),
		    "intervals: nothing that is unknown or no metric", "%s", text);
	free(text);
}

/* Whatever a name holds, it stays the value of its label. */
static void test_escapes(void)
{
	static const struct {
		const char *comm, *sample;
	} odd[] = {
		{ "a\"b", "comm=\"a\\\"b\"" },
		{ "a\\b", "comm=\"a\\\\x5cb\"" },
		{ "\"} 1\ny 2", "comm=\"\\\"} 1\\\\x0ay 2\"" },
		{ "\xff\x80", "comm=\"\\\\xff\\\\x80\"" },
		{ "\033[2J", "comm=\"\\\\x1b[2J\"" },
		{ "b\xc3\xa4r", "comm=\"b\xc3\xa4r\"" },
		{ "x,le=\"1", "comm=\"x,le=\\\"1\"" },
		{ "", "comm=\"\"" },
	};
	const char *path = scratch__path("escapes");
	struct sink *sink = open_sink(path);
	char *text, sample[128];

	for (size_t i = 0; i < NR_OF(odd); i++)
		write_values(sink, 1000, odd[i].comm, VALUES(1));
	text = finish(sink, path);
	check_valid("escapes: the text is valid", text);
	for (size_t i = 0; i < NR_OF(odd); i++) {
		snprintf(sample, sizeof(sample), "trial_wait_seconds_count{%s}", odd[i].sample);
		test__equal("escapes: an odd name has its series", openmetrics__value(text, sample),
			    1);
	}
	test__equal("escapes: and nothing more",
		    openmetrics__count(text, "trial_wait_seconds_count"), NR_OF(odd));
	free(text);
}

static const struct field key_fields[] = {
	{ .name = "comm", .kind = VALUE_BYTES },
	{ .name = "pid", .kind = VALUE_UNSIGNED },
};

static const struct record_type key_type = {
	.name = "key",
	.fields = key_fields,
	.nr_fields = NR_OF(key_fields),
};

static const struct field count_fields[] = {
	{ .name = "key", .kind = VALUE_OBJECT, .of = &key_type },
	{ .name = "calls", .kind = VALUE_UNSIGNED, .meaning = "Calls.", .metric = "calls" },
	{ .name = "errors",
	  .kind = VALUE_COUNTS,
	  .meaning = "Failed calls.",
	  .metric = "errors",
	  .label = "error" },
};

static const struct record_type count_type = {
	.name = "count",
	.fields = count_fields,
	.nr_fields = NR_OF(count_fields),
	.adds_up = true,
};

static void write_count(struct sink *sink, const char *comm, uint64_t calls, uint64_t errors)
{
	const struct named_count counts[] = { { "ENOSPC", errors, true } };
	const struct value key_values[] = { value__string(comm), absent };
	const struct record key = { &key_type, key_values };
	const struct value values[] = {
		value__object(&key),
		value__unsigned(calls),
		value__counts(counts, errors ? 1 : 0),
	};

	sink__write(sink, &(struct record){ &count_type, values });
}

/* Counters by key, of a tool without histograms. */
static void test_counters(void)
{
	static const struct metric_names no_distribution = { .prefix = "trial" };
	const char *path = scratch__path("counters");
	struct sink_config config = config_for(path);
	struct sink *sink;
	char *text;

	config.metrics = &no_distribution;
	if (sink__open(&sink, &config))
		test__fatal("the sink opens", "%s", last_error);
	write_count(sink, "b", 5, 0);
	write_count(sink, "a\"", 1, 2);
	write_count(sink, "b", 7, 3);
	write_account(sink, 9, true);
	write_account(sink, 10, true);
	text = finish(sink, path);
	check_valid("counters: the text is valid", text);
	test__equal("counters: they add up by key",
		    openmetrics__value(text, "trial_calls_total{comm=\"b\"}"), 12);
	test__equal("counters: each key has its own",
		    openmetrics__value(text, "trial_calls_total{comm=\"a\\\"\"}"), 1);
	test__equal("counters: by name, too",
		    openmetrics__value(text, "trial_errors_total{comm=\"b\",error=\"ENOSPC\"}"), 3);
	test__equal("counters: those of an account do not add up",
		    openmetrics__value(text, "trial_events_seen_total"), 10);
	test__check(!strstr(text, "histogram"), "counters: there is no histogram", "%s", text);
	free(text);
}

static void test_files(void)
{
	const char *folder = scratch__folder("files"), *file = scratch__path("files/a.prom"),
		   *link = scratch__path("link");
	struct sink *sink;
	struct stat status;
	struct sink_config missing;
	uid_t owner = 12345;
	char *text;

	if (symlink("files/a.prom", link))
		test__fatal("a symbolic link", "errno %d", errno);
	scratch__write("files/a.prom", "old\n", 4, 0644);
	sink = open_sink(link);
	text = file__read(file, NULL);
	test__same("files: the old one stays for now", text, "old\n");
	free(text);
	test__check(sink__replaces(sink, &owner) && owner == geteuid(),
		    "files: the owner of the folder is known", "%u", owner);
	test__equal("files: it can be replaced", -sink__try_replacing(sink), 0);
	free(finish(sink, file));
	test__check(!lstat(link, &status) && S_ISLNK(status.st_mode),
		    "files: a symbolic link stays one", "it does not");
	test__equal("files: no other file is left", rmdir(folder) ? errno : 0, ENOTEMPTY);
	unlink(file);
	test__equal("files: none at all", rmdir(folder) ? errno : 0, 0);

	missing = config_for(scratch__path("none/a"));
	test__equal("files: a folder that is not there", -sink__open(&sink, &missing), ENOENT);
	sink = open_sink("/dev/null");
	test__check(!sink__replaces(sink, &owner), "files: a device is not replaced",
		    "it would be");
	write_account(sink, 1, true);
	sink__publish(sink, true);
	sink__close(sink);
	test__check(!stat("/dev/null", &status) && S_ISCHR(status.st_mode),
		    "files: and is still one", "it is not");
}

/* The judge itself: each of these has one fault. */
static void test_judge(void)
{
#define TYPED "# HELP a_seconds x\n# TYPE a_seconds histogram\n"
	static const char *const faults[] = {
		"# HELP a_total x\na_total 1\n",
		"# HELP a_total x\n# TYPE a_total counter\na_total 1\n# EOF\n",
		"a_total 1\n# EOF\n",
		"# HELP a_total x\na_total 1\n\n# EOF\n",
		"# HELP a_total x\na_total 1\na_total 2\n# EOF\n",
		"# HELP a_total x\na_total{b=\"\\x\"} 1\n# EOF\n",
		"# HELP a_total x\na_total{b=\"c\" } 1\n# EOF\n",
		"# HELP a_total x\na_total{b=\"\xff\"} 1\n# EOF\n",
		"# HELP a_total x\na_total{b=\"c\",b=\"d\"} 1\n# EOF\n",
		"# HELP a_total x\na_total x\n# EOF\n",
		"# HELP a x\na 1\n# EOF\n",
		"# HELP a x\n# TYPE a gauge\na 1\n# HELP a x\n# EOF\n",
		TYPED "a_seconds_bucket{le=\"1.0\"} 1\na_seconds_count 1\na_seconds_sum 1\n# EOF\n",
		TYPED
		"a_seconds_bucket{le=\"+Inf\"} 1\na_seconds_count 2\na_seconds_sum 1\n# EOF\n",
		TYPED "a_seconds_bucket{le=\"1.0\"} 2\na_seconds_bucket{le=\"+Inf\"} 1\n"
		      "a_seconds_count 1\na_seconds_sum 1\n# EOF\n",
		TYPED "a_seconds_bucket{le=\"+Inf\"} 1\na_seconds_count 1\n# EOF\n",
	};
	char why[200];

	check_valid("judge: a counter is valid",
		    "# HELP a_total x\na_total{b=\"\\\\c\"} 1\n# EOF\n");
	check_valid("judge: a histogram is valid",
		    TYPED "a_seconds_bucket{le=\"1.0\"} 1\na_seconds_bucket{le=\"+Inf\"} 1\n"
			  "a_seconds_count 1\na_seconds_sum 0.5\n# EOF\n");
	for (size_t i = 0; i < NR_OF(faults); i++)
		test__check(!openmetrics__is_valid(faults[i], why, sizeof(why)),
			    "judge: a fault is found", "not in %s", faults[i]);
}

int main(void)
{
	log__set_writer(keep_error);
	test_judge();
	test_bounds();
	test_units();
	test_intervals();
	test_escapes();
	test_counters();
	test_files();
	return test__done();
}
