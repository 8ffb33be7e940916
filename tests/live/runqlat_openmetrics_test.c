// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* --format openmetrics: the text is valid whatever threads are called, it counts all that the
 * account counts, and a file is never seen half written. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>

#include "support/children.h"
#include "support/openmetrics.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"

#define COUNT "runqlat_wait_seconds_count"

/* A process of this name that naps until it is killed. */
static pid_t start_napper(const char *name)
{
	pid_t pid = children__fork();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	for (;;)
		usleep(1000);
}

static void stop_napper(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void check_valid(const char *name, const char *text)
{
	char why[200] = "";

	test__check(openmetrics__is_valid(text, why, sizeof(why)), name, "%s in: %s", why, text);
}

/* Whether the installed promtool, if there is one, has nothing to say. */
static void check_promtool(const char *name, const char *path)
{
	char command[256];

	if (system("command -v promtool >/dev/null 2>&1"))
		return;
	snprintf(command, sizeof(command), "promtool check metrics <'%s'", path);
	test__equal(name, (uint64_t)system(command), 0);
}

/* The text and the account in it are one. */
static void check_sums(const char *name, const char *text)
{
	int64_t recorded = openmetrics__value(text, "runqlat_events_recorded_total");
	int64_t fates = recorded + openmetrics__value(text, "runqlat_events_filtered_total") +
			openmetrics__sum(text, "runqlat_events_lost_total{") +
			openmetrics__value(text, "runqlat_events_in_flight");
	char check[96];

	snprintf(check, sizeof(check), "%s: the histograms have what is recorded", name);
	test__check(recorded > 0 && openmetrics__sum(text, COUNT) == recorded, check,
		    "%" PRId64 " of %" PRId64, openmetrics__sum(text, COUNT), recorded);
	snprintf(check, sizeof(check), "%s: each wait that was seen has one fate", name);
	test__equal(check, (uint64_t)fates,
		    (uint64_t)openmetrics__value(text, "runqlat_events_seen_total"));
}

/* On standard output it comes once, at the end, with and without intervals. */
static void check_stream(void)
{
	static const char *const runs[][6] = {
		{ "--format", "openmetrics", "-d", "0.5" },
		{ "--format", "openmetrics", "-P", "0.1", "3" },
		{ "--format", "openmetrics", "--by=cpu,cause", "-d", "0.3" },
		{ "--format", "openmetrics", "-m", "0.1", "2" },
	};
	pid_t napper = start_napper("napper");

	for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		struct tool_run run;

		test__equal("stream: the status is 0",
			    (uint64_t)tool_run__once(&run, NULL, runs[i]), 0);
		check_valid("stream: the text is valid", run.out);
		check_sums("stream", run.out);
		check_promtool("stream: promtool accepts it",
			       scratch__write("stream", run.out, run.out_size, 0644));
		tool_run__free(&run);
	}
	stop_napper(napper);
}

static void check_names(void)
{
	static const struct {
		const char *name, *series;
	} odd[] = {
		{ "a\"} 1\nb_total", COUNT "{comm=\"a\\\"} 1\\\\x0ab_total\"}" },
		{ "c\\\033[2J\xff", COUNT "{comm=\"c\\\\x5c\\\\x1b[2J\\\\xff\"}" },
		{ "# EOF", COUNT "{comm=\"# EOF\"}" },
	};
	pid_t nappers[3];
	struct tool_run run;
	char ppid[16];

	snprintf(ppid, sizeof(ppid), "%d", getpid());
	for (int i = 0; i < 3; i++)
		nappers[i] = start_napper(odd[i].name);
	test__sleep_ms(50);
	tool_run__once(&run, NULL,
		       ARGS("--format", "openmetrics", "--by", "comm", "--ppid", ppid, "-d",
			    "0.5"));
	check_valid("names: the text is valid", run.out);
	for (int i = 0; i < 3; i++)
		test__check(openmetrics__value(run.out, odd[i].series) > 0,
			    "names: an odd one is the value of its label", "%s in: %s",
			    odd[i].series, run.out);
	check_promtool("names: promtool accepts it",
		       scratch__write("names", run.out, run.out_size, 0644));
	tool_run__free(&run);
	for (int i = 0; i < 3; i++)
		stop_napper(nappers[i]);
}

/* Reads the file all the time: it is always whole, and its counts never fall. */
static void watch_file(const char *name, const char *path, const char *folder)
{
	unsigned long seen = 0, invalid = 0, fallen = 0, files = 0;
	const uint64_t end_ns = test__now_ns() + 30000000000;
	int64_t count = 0;
	ino_t inode = 0;
	char check[96];

	while (files < 5 && test__now_ns() < end_ns) {
		char *text = file__read(path, NULL), why[200];
		struct stat status;

		if (text) {
			int64_t now = openmetrics__value(text, COUNT);

			seen++;
			invalid += !openmetrics__is_valid(text, why, sizeof(why));
			fallen += now < count;
			count = now;
			free(text);
		}
		if (!stat(path, &status) && status.st_ino != inode) {
			inode = status.st_ino;
			files++;
		}
		usleep(500);
	}
	snprintf(check, sizeof(check), "%s: the file is replaced at every interval", name);
	test__check(files == 5, check, "%lu were seen in %s", files, folder);
	snprintf(check, sizeof(check), "%s: it is whole whenever it is read", name);
	test__check(seen && !invalid, check, "%lu of %lu were not", invalid, seen);
	snprintf(check, sizeof(check), "%s: its counts never fall", name);
	test__equal(check, fallen, 0);
}

static void check_file(const char *name, uid_t owner)
{
	const char *folder = scratch__folder(name);
	struct tool_run run;
	char path[256], check[96], *text, *user;

	if (chown(folder, owner, (gid_t)-1))
		test__fatal("files: a folder of another user", "errno %d", errno);
	snprintf(path, sizeof(path), "%s/runqlat.prom", folder);
	tool_run__trace(&run, NULL, ARGS("--format", "openmetrics", "--output", path, "0.1"));
	user = process__status_line(run.pid, "Uid");
	snprintf(check, sizeof(check), "%s: runs as the folder's owner", name);
	test__equal(check, user ? strtoul(user, NULL, 10) : 1, owner);
	free(user);
	user = process__status_line(run.pid, "CapEff");
	snprintf(check, sizeof(check), "%s: without a capability", name);
	/* Before 5.19 reading maps needs CAP_BPF. */
	test__check(user && !(strtoul(user, NULL, 16) & ~(1UL << CAP_BPF)), check, "CapEff: %s",
		    user);
	free(user);
	watch_file(name, path, folder);
	snprintf(check, sizeof(check), "%s: the status is 0", name);
	test__equal(check, (uint64_t)tool_run__stop(&run), 0);
	text = file__read(path, NULL);
	check_valid("files: the last text is valid", text);
	check_sums(name, text);
	free(text);
	unlink(path);
	snprintf(check, sizeof(check), "%s: nothing else is left behind", name);
	test__equal(check, rmdir(folder) ? errno : 0, 0);
	test__equal("files: nothing is on standard output", run.out_size, 0);
	tool_run__free(&run);
}

/* What cannot be written is said before anything is traced, and nothing is left half done. */
static void check_failures(void)
{
	const char *folder = scratch__folder("closed");
	struct tool_run run;
	char path[256];

	if (chown(folder, 1234, (gid_t)-1) || chmod(folder, 0555))
		test__fatal("failures: a folder that its owner cannot write", "errno %d", errno);
	snprintf(path, sizeof(path), "%s/runqlat.prom", folder);
	test__check(
		tool_run__once(&run, NULL,
			       ARGS("--format", "openmetrics", "--output", path, "-d", "1")) == 1 &&
			strstr(run.err, path) && !strstr(run.err, "tracing"),
		"failures: a folder that cannot be written is told at once", "saw: %s", run.err);
	tool_run__free(&run);
	test__check(tool_run__once(&run, NULL,
				   ARGS("--format", "openmetrics", "--output", "/dev/full", "-d",
					"0.3")) == 1 &&
			    strstr(run.err, "/dev/full") && strstr(run.err, "output_closed") &&
			    strstr(run.err, " 0 recorded"),
		    "failures: what a full device does not take is lost, and status 1", "saw: %s",
		    run.err);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	check_stream();
	check_names();
	check_file("files of root", 0);
	check_file("files of another user", 1234);
	check_failures();
	return test__done();
}
