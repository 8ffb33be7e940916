// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --format openmetrics: a known writer's calls and bytes, over intervals, beside the account. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/openmetrics.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

static void check_number(const char *name, const char *text, const char *metric, const char *comm,
			 int64_t expected)
{
	char sample[128];

	snprintf(sample, sizeof(sample), "%s{comm=\"%s\"}", metric, comm);
	test__equal(name, (uint64_t)openmetrics__value(text, sample), (uint64_t)expected);
}

/* The histogram of sizes or of times of one writer. */
static void check_histogram(const char *option, const char *metric)
{
	const struct writer writer = { writer__name("hist"), 400, 100, -1, NULL };
	char sample[128], why[200] = "";
	struct tool_run run;

	tool_run__trace(&run, NULL,
			ARGS("--format", "openmetrics", option, "--by", "comm", "--comm",
			     writer.name));
	writer__run(&writer);
	test__equal("histogram: the status is 0", (uint64_t)tool_run__stop(&run), 0);
	test__check(openmetrics__is_valid(run.out, why, sizeof(why)), "histogram: it is valid",
		    "%s in %s", why, run.out);
	snprintf(sample, sizeof(sample), "%s_count{comm=\"%s\"}", metric, writer.name);
	test__equal("histogram: the count", (uint64_t)openmetrics__value(run.out, sample), 400);
	snprintf(sample, sizeof(sample), "%s_bucket{comm=\"%s\",le=\"127.0\"}", metric,
		 writer.name);
	test__equal("histogram: all in the bucket of their size",
		    (uint64_t)openmetrics__value(run.out, sample),
		    strstr(metric, "bytes") ? 400 : UINT64_MAX);
	snprintf(sample, sizeof(sample), "%s_sum{comm=\"%s\"} 40000.0\n", metric, writer.name);
	test__check(!strstr(metric, "bytes") || strstr(run.out, sample), "histogram: the bytes",
		    "%s", run.out);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	const struct writer once = { writer__name("once"), 300, 7, -1, NULL };
	const struct writer twice = { writer__name("twice"), 500, 11, -1, NULL };
	const char *path = scratch__path("writes.prom");
	char *text, why[200] = "";
	struct tool_run run;

	role__play(argc, argv);
	tool_run__trace(&run, NULL, ARGS("--format", "openmetrics", "--output", path, "0.2"));
	writer__run(&once);
	writer__run(&twice);
	test__sleep_ms(500);
	writer__run(&twice);
	test__equal("the status is 0", (uint64_t)tool_run__stop(&run), 0);
	text = file__read(path, NULL);
	if (!text)
		test__fatal("the file is there", "stderr: %s", run.err);
	test__check(openmetrics__is_valid(text, why, sizeof(why)), "the text is valid", "%s in %s",
		    why, text);
	check_number("calls of a writer", text, "vfswrite_count_calls_total", once.name, 300);
	check_number("its bytes", text, "vfswrite_count_bytes_total", once.name, 300 * 7);
	check_number("calls in two intervals", text, "vfswrite_count_calls_total", twice.name,
		     1000);
	check_number("their bytes", text, "vfswrite_count_bytes_total", twice.name, 1000 * 11);
	test__equal("all calls together are what is recorded",
		    (uint64_t)openmetrics__sum(text, "vfswrite_count_calls_total{"),
		    (uint64_t)openmetrics__value(text, "vfswrite_count_events_recorded_total"));
	free(text);
	tool_run__free(&run);
	check_histogram("-b", "vfswrite_count_write_size_bytes");
	check_histogram("-l", "vfswrite_count_call_seconds");
	return test__done();
}
