// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is asked wrongly is refused; filters, order and the text face; any end has its report. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "support/cgroup.h"
#include "support/records.h"
#include "support/refusal.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

static const struct refusal refusals[] = {
	{ "an interval in letters", { "abc" }, 2, "abc" },
	{ "an interval of nothing", { "0" }, 2, "0" },
	{ "a count of nothing", { "1", "0" }, 2, "0" },
	{ "a third operand", { "1", "2", "3" }, 2, "3" },
	{ "a key that is none", { "--by", "pid,color" }, 2, "color" },
	{ "an order that is none", { "--sort", "color" }, 2, "color" },
	{ "a top of nothing", { "--top", "0" }, 2, "0" },
	{ "a top as metrics", { "--format=openmetrics", "--top", "3" }, 2, "--top" },
	{ "an order as metrics", { "--format=openmetrics", "--sort=bytes" }, 2, "--sort" },
	{ "room for no key", { "--max-keys", "0" }, 2, "0" },
	{ "a pid that is not there", { "-p", "4000000" }, 1, "4000000" },
	{ "a mechanism that is none of its own", { "--attach", "uprobe" }, 1, "uprobe" },
	{ "a duration below nothing", { "-d", "-1" }, 2, "-1" },
};

static void check_filters(void)
{
	const struct writer wanted = { writer__name("wanted"), 40, 9, -1, NULL };
	const struct writer other = { writer__name("unwanted"), 70, 9, -1, NULL };
	const struct json_value *account;
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", wanted.name));
	writer__run(&wanted);
	writer__run(&other);
	tool_run__stop(&run);
	records__load(&records, &run);
	account = records__account(&records);
	check_exact(account, "filters");
	test__equal("filters: what is wanted is in its row",
		    counted__of(&records, wanted.name).calls, 40);
	test__equal("filters: nothing else is", counted__total(&records).calls, 40);
	test__check(account__term(account, NULL, "filtered") >= 70, "filters: it is filtered",
		    "%" PRId64, account__term(account, NULL, "filtered"));
	records__free(&records);
	tool_run__free(&run);
}

/* The place of a line that begins with this word, or NULL. */
static const char *find_line(const char *text, const char *word)
{
	size_t size = strlen(word);

	while (text && (strncmp(text, word, size) || text[size] != ' ')) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text;
}

static void check_order(void)
{
	const struct writer many = { writer__name("many"), 3000, 1, -1, NULL };
	const struct writer large = { writer__name("large"), 1000, 4096, -1, NULL };
	const char *first, *second, *total;
	struct tool_run run;

	for (int by_bytes = 0; by_bytes < 2; by_bytes++) {
		tool_run__trace(&run, NULL, ARGS("--sort", by_bytes ? "bytes" : "calls"));
		writer__run(&many);
		writer__run(&large);
		tool_run__stop(&run);
		first = find_line(run.out, by_bytes ? many.name : large.name);
		second = find_line(run.out, by_bytes ? large.name : many.name);
		total = find_line(run.out, "total");
		test__check(first && second && total && first < second && second < total,
			    by_bytes ? "order: by bytes, the total last" :
				       "order: by calls, the total last",
			    "stdout: %s", run.out);
		test__check(!strncmp(run.out, "COMM ", 5), "order: the heading is first",
			    "stdout: %s", run.out);
		tool_run__free(&run);
	}
}

static void check_top(void)
{
	const struct writer least = { writer__name("least"), 10, 1, -1, NULL };
	const struct writer most = { writer__name("most"), 200000, 1, -1, NULL };
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "--top", "1"));
	writer__run(&least);
	writer__run(&most);
	tool_run__stop(&run);
	records__load(&records, &run);
	check_exact(records__account(&records), "top");
	test__equal("top: one row", counted__of(&records, NULL).rows, 1);
	test__equal("top: the one with the most", counted__of(&records, most.name).calls, 200000);
	test__check(counted__total(&records).calls >= 200010, "top: the total is of all",
		    "%" PRIu64, counted__total(&records).calls);
	records__free(&records);
	tool_run__free(&run);
}

/* Whatever ends a run, it has its report. */
static void check_ends(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct tool_run run;
	char check[64];

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		tool_run__trace(&run, NULL, NO_ARGS);
		test__sleep_ms(100);
		tool_run__signal(&run, signals[i]);
		snprintf(check, sizeof(check), "signal %d: the report, and status 0", signals[i]);
		test__check(tool_run__wait(&run) == 0 && find_line(run.out, "total") &&
				    strstr(run.err, " seen = "),
			    check, "stdout: %s, stderr: %s", run.out, run.err);
		tool_run__free(&run);
	}
	test__check(tool_run__once(&run, NULL, ARGS("-d", "0.2")) == 0 &&
			    find_line(run.out, "total"),
		    "duration: the report", "stdout: %s", run.out);
	tool_run__free(&run);
	test__check(tool_run__once(&run, NULL, ARGS("-j", "0.1", "2")) == 0, "count: it ends",
		    "stderr: %s", run.err);
	tool_run__free(&run);
}

/* A way that does not work here is no error when another does, and why is told on demand. */
static void check_reasons(void)
{
	struct tool_run run;
	bool other_way;

	test__equal("reasons: it runs", (uint64_t)tool_run__once(&run, NULL, ARGS("-d", "0.1")), 0);
	test__check(!strstr(run.err, "error: "), "reasons: no error is said", "stderr: %s",
		    run.err);
	other_way = strstr(run.err, "not possible here: ") != NULL;
	tool_run__free(&run);
	test__equal("reasons: explained", (uint64_t)tool_run__once(&run, NULL, ARGS("--explain")),
		    0);
	test__check(!other_way == !strstr(run.out, "Not by "),
		    "reasons: each way that failed has its reason", "stdout: %s", run.out);
	tool_run__free(&run);
	tool_run__once(&run, NULL, ARGS("-v", "-d", "0.1"));
	test__check(!other_way == !strstr(run.err, " does not work here:"),
		    "reasons: so with --verbose", "stderr: %s", run.err);
	tool_run__free(&run);
}

static const char *group;

static void write_in_group(const struct writer *writer)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd < 0 || cgroup__enter(group))
		_exit(6);
	for (unsigned long i = 0; i < writer->calls; i++)
		if (write(fd, "", 1) != 1)
			_exit(7);
}

/* A group that is gone when the report is made still has its name. */
static void check_group(void)
{
	static const char name[] = "groups: calls of a group that is gone, by its path";
	const struct writer writer = { writer__name("grouped"), 25, 1, -1, write_in_group };
	const char *mount = cgroup__mount();
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	int64_t calls = 0;
	char path[600];
	size_t at = 0;

	if (!mount) {
		test__skip(name, "no cgroup2 hierarchy is mounted");
		return;
	}
	snprintf(path, sizeof(path), "%s/vantage-writers.%d", mount, getpid());
	group = path;
	if (cgroup__make(path)) {
		test__skip(name, "no group can be made below '%s': %s", mount, strerror(errno));
		return;
	}
	tool_run__trace(&run, NULL, ARGS("-j", "--by", "cgroup"));
	writer__run(&writer);
	cgroup__remove(path);
	tool_run__stop(&run);
	records__load(&records, &run);
	while ((record = records__next(&records, "count", 0, &at)))
		if (json__is(json__get(json__get(record, "key"), "cgroup"), path + strlen(mount)))
			calls += record__number(record, "calls");
	/* At its return, the write that moves the process into the group is of the group, too. */
	test__check(calls == 25 || calls == 26, name, "%" PRId64 " calls", calls);
	records__free(&records);
	tool_run__free(&run);
}

/* Many small writes are told in a sentence; few, or large ones, are not. */
static void check_sentence(void)
{
	const struct writer small = { writer__name("small"), 20000, 1, -1, NULL };
	const struct writer large = { writer__name("large"), 20000, 512, -1, NULL };
	char sentence[96];
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("--uid", "root"));
	writer__run(&small);
	writer__run(&large);
	tool_run__stop(&run);
	snprintf(sentence, sizeof(sentence), "%s: 20000 writes of 1.0 bytes", small.name);
	test__check(strstr(run.err, sentence) && strstr(run.err, "they would be 5\n"),
		    "sentence: of small writes", "stderr: %s", run.err);
	snprintf(sentence, sizeof(sentence), "%s: 20000 writes", large.name);
	test__check(!strstr(run.err, sentence), "sentence: not of large ones", "stderr: %s",
		    run.err);
	tool_run__free(&run);
}

#define CLEAR "\033[H\033[J"

static void set_size(int master, unsigned short lines, unsigned short columns)
{
	const struct winsize size = { .ws_row = lines, .ws_col = columns };

	if (ioctl(master, TIOCSWINSZ, &size))
		test__fatal("terminal", "cannot set its size: %s", strerror(errno));
}

/* Reads a terminal until "frames" more were drawn. Returns the bytes in text. */
static size_t read_frames(int master, char *text, size_t size, int frames)
{
	struct pollfd poll_fd = { .fd = master, .events = POLLIN };
	size_t have = 0;

	text[0] = '\0';
	while (frames >= 0 && have < size - 1 &&
	       poll(&poll_fd, 1, (int)test__patience_ms(3000)) > 0) {
		ssize_t got = read(master, text + have, size - 1 - have);
		const char *at = text;
		int seen = 0;

		if (got <= 0)
			break;
		have += (size_t)got;
		text[have] = '\0';
		while ((at = strstr(at, CLEAR))) {
			at += strlen(CLEAR);
			seen++;
		}
		if (seen > frames)
			break;
	}
	return have;
}

/* Whether every whole frame fits a terminal of this size, and there are some. */
static bool frames_fit(const char *text, size_t lines, size_t columns)
{
	const char *frame = strstr(text, CLEAR), *next;
	size_t nr = 0;

	for (; frame && (next = strstr(frame + 1, CLEAR)); frame = next, nr++) {
		size_t nr_lines = 0, width = 0;

		for (const char *at = frame + strlen(CLEAR); at < next; at++) {
			/* Of a character, its first byte counts. */
			if (*at == '\n')
				nr_lines++, width = 0;
			else if (*at != '\r' && (*at & 0xc0) != 0x80 && ++width > columns)
				return false;
		}
		if (nr_lines >= lines)
			return false;
	}
	return nr > 0;
}

/* On a terminal of 80 by 24 and on one that is made smaller, with more rows than fit. */
static void check_live(void)
{
	static char text[1 << 18];
	int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), terminal;
	struct tool_setup setup = { 0 };
	struct tool_run run;
	pid_t pids[32];

	test__equal("live: refused where there is no terminal",
		    (uint64_t)tool_run__once(&run, NULL, ARGS("--live")), 2);
	tool_run__free(&run);
	if (master < 0 || grantpt(master) || unlockpt(master)) {
		test__skip("live: it fits the terminal", "there are no terminals here");
		return;
	}
	terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	set_size(master, 24, 80);
	setup.stdout_fd = terminal;
	tool_run__trace(&run, &setup, ARGS("--live", "-P", "0.2"));
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++) {
		const struct writer writer = { writer__name("live"), test__scaled(300000), 1, -1,
					       NULL };

		pids[i] = writer__start(&writer);
	}
	read_frames(master, text, sizeof(text), 3);
	test__check(frames_fit(text, 24, 80), "live: it fits a terminal of 80 by 24", "%s", text);
	set_size(master, 10, 50);
	/* Frames that are drawn already, or just now, have the size of before. */
	for (int i = 0; i < 10; i++) {
		read_frames(master, text, sizeof(text), 3);
		if (frames_fit(text, 10, 50))
			break;
	}
	test__check(frames_fit(text, 10, 50), "live: and one that was made smaller", "%s", text);
	tool_run__signal(&run, SIGINT);
	read_frames(master, text, sizeof(text), 1);
	test__equal("live: its status", (uint64_t)tool_run__wait(&run), 0);
	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]); i++)
		writer__wait(pids[i]);
	tool_run__free(&run);
	close(terminal);
	close(master);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	refusal__check(refusals, sizeof(refusals) / sizeof(refusals[0]));
	check_filters();
	check_order();
	check_top();
	check_ends();
	check_reasons();
	check_group();
	check_sentence();
	check_live();
	return test__done();
}
