// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is written to: files by the paths that their processes see, pipes, sockets and devices told
 * apart; devices; types of file systems; with bounded memory. By each way that works here. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sys/eventfd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

#define TIMES 5
#define SIZE 9

static void need(bool holds)
{
	if (!holds)
		_exit(20);
}

static void write_to(int fd)
{
	need(fd >= 0);
	for (int i = 0; i < TIMES; i++)
		need(write(fd, "123456789", SIZE) == SIZE);
}

static void write_to_path(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);

	write_to(fd);
	close(fd);
}

static void do_regular(const struct writer *writer)
{
	(void)writer;
	write_to_path(scratch__path("a file"));
}

/* Another file, then the first by its new name, and one that is gone. */
static void do_names(const struct writer *writer)
{
	int fd;

	(void)writer;
	write_to_path(scratch__path("old"));
	need(!rename(scratch__path("old"), scratch__path("new")));
	write_to_path(scratch__path("new"));
	fd = open(scratch__path("gone"), O_WRONLY | O_CREAT, 0600);
	need(!unlink(scratch__path("gone")));
	write_to(fd);
}

static void do_pipe(const struct writer *writer)
{
	int ends[2];

	(void)writer;
	need(!pipe(ends));
	write_to(ends[1]);
}

static void do_fifo(const struct writer *writer)
{
	int fd;

	(void)writer;
	need(!mkfifo(scratch__path("fifo"), 0600));
	fd = open(scratch__path("fifo"), O_RDWR);
	write_to(fd);
}

static void do_socket(const struct writer *writer)
{
	int ends[2];

	(void)writer;
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	write_to(ends[1]);
}

static void do_device(const struct writer *writer)
{
	(void)writer;
	write_to_path("/dev/null");
}

static void do_memfd(const struct writer *writer)
{
	(void)writer;
	write_to(memfd_create("area", 0));
}

static void do_eventfd(const struct writer *writer)
{
	const uint64_t one = 1;
	int fd = eventfd(0, 0);

	(void)writer;
	need(fd >= 0);
	for (int i = 0; i < TIMES; i++)
		need(write(fd, &one, sizeof(one)) == sizeof(one));
}

/* Behind two mounts and in a root of its own. */
static void do_chroot(const struct writer *writer)
{
	const char *root = scratch__path("root");
	char inner[512];

	(void)writer;
	need(scratch__private_mounts());
	need(!mkdir(root, 0700) && !mount("none", root, "tmpfs", 0, NULL));
	snprintf(inner, sizeof(inner), "%s/var", root);
	need(!mkdir(inner, 0700) && !mount("none", inner, "tmpfs", 0, NULL));
	snprintf(inner, sizeof(inner), "%s/var/log", root);
	need(!mkdir(inner, 0700) && !chroot(root));
	write_to_path("/var/log/app");
}

/* Deeper than what is kept of a path. */
static void do_deep(const struct writer *writer)
{
	(void)writer;
	need(scratch__private_mounts());
	need(!mkdir(scratch__path("deep"), 0700) &&
	     !mount("none", scratch__path("deep"), "tmpfs", 0, NULL) &&
	     !chdir(scratch__path("deep")));
	for (int i = 0; i < 120; i++)
		need(!mkdir("d", 0700) && !chdir("d"));
	write_to_path("bottom");
}

static const struct kind {
	const char *name;
	void (*work)(const struct writer *writer);
	const char *type;
	const char *ends; /* how its path ends */
	size_t bytes;
	bool in_scratch; /* the whole path is known */
} kinds[] = {
	{ "regular", do_regular, "regular", "a file", SIZE, true },
	{ "names", do_names, "regular", "old", SIZE, true },
	{ "names", NULL, "regular", "new", SIZE, true },
	{ "names", NULL, "regular", "gone (deleted)", SIZE, true },
	{ "pipe", do_pipe, "pipe", "pipe:[]", SIZE, false },
	{ "fifo", do_fifo, "pipe", "fifo", SIZE, true },
	{ "socket", do_socket, "socket", "socket:[]", SIZE, false },
	{ "device", do_device, "char", "/dev/null", SIZE, false },
	{ "memfd", do_memfd, "regular", "/memfd:area (deleted)", SIZE, false },
	{ "eventfd", do_eventfd, "other", "anon_inode:[eventfd]", 8, false },
	{ "chroot", do_chroot, "regular", "/var/log/app", SIZE, false },
	{ "deep", do_deep, "regular", "/bottom", SIZE, false },
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static char names[NR_KINDS][16];

/* Without the numbers of pipes and sockets. */
static void drop_number(char *path)
{
	char *open = strstr(path, ":["), *close = strchr(path, ']');

	if (open && close && open[2] >= '0' && open[2] <= '9')
		memmove(open + 2, close, strlen(close) + 1);
}

static bool is_path(const struct kind *kind, const struct json_value *key)
{
	const char *file = json__string(json__get(key, "file"));
	char seen[8192], wanted[512];

	if (!file)
		return false;
	snprintf(seen, sizeof(seen), "%s", file);
	drop_number(seen);
	if (!strcmp(kind->name, "deep"))
		return !strncmp(seen, ".../d/", 6) && strlen(seen) > 50 &&
		       !strcmp(seen + strlen(seen) - 7, kind->ends);
	if (!kind->in_scratch)
		return !strcmp(seen, kind->ends);
	snprintf(wanted, sizeof(wanted), "%s/%s", scratch__path(""), kind->ends);
	/* The folder's own path may end in a slash. */
	return strlen(seen) >= strlen(kind->ends) &&
	       !strcmp(seen + strlen(seen) - strlen(kind->ends), kind->ends) &&
	       !strncmp(seen, wanted, strlen(scratch__path("")) - 1);
}

static void check_kind(const struct records *records, const char *way, size_t index)
{
	const struct kind *kind = &kinds[index];
	const struct json_value *record, *key, *other = NULL;
	uint64_t calls = 0, bytes = 0;
	bool typed = false;
	char check[96];
	size_t at = 0;

	while ((record = records__next(records, "count", 0, &at))) {
		key = json__get(record, "key");
		if (!json__is(json__get(key, "comm"), names[index]))
			continue;
		if (!is_path(kind, key)) {
			other = key;
			continue;
		}
		calls += (uint64_t)record__number(record, "calls");
		bytes += (uint64_t)record__number(record, "bytes");
		typed = json__is(json__get(key, "file_type"), kind->type);
	}
	snprintf(check, sizeof(check), "%s: %s: calls of %s", way, kind->name, kind->ends);
	test__check(calls == TIMES, check, "%" PRIu64 "; also %s", calls,
		    other ? json__string(json__get(other, "file")) : "nothing");
	snprintf(check, sizeof(check), "%s: %s: its bytes, and its type", way, kind->name);
	test__check(bytes == TIMES * kind->bytes && typed, check, "%" PRIu64 " bytes, %s", bytes,
		    typed ? "right" : "another type");
}

static void write_all(void)
{
	for (size_t i = 0; i < NR_KINDS; i++) {
		const struct writer writer = { names[i], TIMES, SIZE, -1, kinds[i].work };

		if (kinds[i].work)
			writer__run(&writer);
	}
}

static void remove_files(void)
{
	static const char *const files[] = { "a file", "new", "fifo" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(scratch__path(files[i]));
	rmdir(scratch__path("root"));
	rmdir(scratch__path("deep"));
}

static void check_way(const char *way)
{
	struct records records;
	struct tool_run run;

	if (!tool_run__start(&run, NULL, ARGS("-j", "--attach", way, "--by", "comm,file"))) {
		tool_run__free(&run);
		return;
	}
	write_all();
	tool_run__stop(&run);
	records__load(&records, &run);
	check_account(records__account(&records), way);
	if (!strcmp(way, "auto"))
		check_exact(records__account(&records), "files");
	for (size_t i = 0; i < NR_KINDS; i++)
		check_kind(&records, way, i);
	records__free(&records);
	tool_run__free(&run);
	remove_files();
}

/* The row of a key's member, of a writer. */
static const struct json_value *find_row(const struct records *records, const char *comm,
					 const char *member, const char *value)
{
	const struct json_value *record, *key;
	size_t at = 0;

	while ((record = records__next(records, "count", 0, &at))) {
		key = json__get(record, "key");
		if (json__is(json__get(key, "comm"), comm) &&
		    json__is(json__get(key, member), value))
			return record;
	}
	return NULL;
}

static void check_devices(void)
{
	struct records records;
	const struct json_value *row;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "--by", "comm,device,fs"));
	write_all();
	tool_run__stop(&run);
	records__load(&records, &run);
	check_exact(records__account(&records), "devices");
	row = find_row(&records, names[7], "device", "1:3");
	test__check(row && record__number(row, "calls") == TIMES &&
			    json__is(json__get(json__get(row, "key"), "file_type"), "char"),
		    "devices: a device file by its own number", "stdout: %s", run.out);
	row = find_row(&records, names[4], "fs", "pipefs");
	test__check(row && record__number(row, "calls") == TIMES, "devices: pipes by their type",
		    "stdout: %s", run.out);
	row = find_row(&records, names[6], "fs", "sockfs");
	test__check(row && record__number(row, "calls") == TIMES, "devices: and sockets",
		    "stdout: %s", run.out);
	row = find_row(&records, names[10], "fs", "tmpfs");
	test__check(row && record__number(row, "bytes") == TIMES * SIZE,
		    "devices: and what is in memory", "stdout: %s", run.out);
	test__equal("devices: a file has no path here", strstr(run.out, "\"file\":") != NULL, 0);
	records__free(&records);
	tool_run__free(&run);
	remove_files();
}

/* More files than there is room for are counted as lost, and no more of them are kept. */
static void do_many(const struct writer *writer)
{
	char path[32];

	(void)writer;
	need(scratch__private_mounts() && !mkdir(scratch__path("many"), 0700) &&
	     !mount("none", scratch__path("many"), "tmpfs", 0, NULL) &&
	     !chdir(scratch__path("many")));
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof(path), "%d", i);
		write_to_path(path);
	}
}

static void check_bounds(void)
{
	const struct writer writer = { writer__name("many"), 500, SIZE, -1, do_many };
	struct records records;
	struct tool_run run;
	int64_t lost;

	tool_run__trace(&run, NULL,
			ARGS("-j", "--by", "file", "--max-keys", "20", "--comm", writer.name));
	writer__run(&writer);
	tool_run__stop(&run);
	records__load(&records, &run);
	check_account(records__account(&records), "bounds");
	lost = record__number(json__get(records__account(&records), "lost"), "map_full");
	test__equal("bounds: as many files as there is room for", counted__of(&records, NULL).rows,
		    20);
	test__check(lost == 80 * TIMES, "bounds: what is written to others is counted as lost",
		    "%" PRId64, lost);
	records__free(&records);
	tool_run__free(&run);
	rmdir(scratch__path("many"));
}

/* One file in intervals, seen through two mount namespaces, is one row. */
static void do_other_namespace(const struct writer *writer)
{
	(void)writer;
	need(scratch__private_mounts());
	write_to_path(scratch__path("shared"));
}

static void do_same_namespace(const struct writer *writer)
{
	(void)writer;
	write_to_path(scratch__path("shared"));
}

static void check_namespaces(void)
{
	const struct writer here = { writer__name("here"), TIMES, SIZE, -1, do_same_namespace };
	const struct writer there = { here.name, TIMES, SIZE, -1, do_other_namespace };
	struct counted counted;
	struct records records;
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("-j", "--by", "file", "--comm", here.name));
	writer__run(&here);
	writer__run(&there);
	tool_run__stop(&run);
	records__load(&records, &run);
	counted = counted__of(&records, NULL);
	test__check(counted.rows == 1 && counted.calls == 2 * TIMES,
		    "namespaces: the same file and path is one row",
		    "%lu rows, %" PRIu64 " calls: %s", counted.rows, counted.calls, run.out);
	records__free(&records);
	tool_run__free(&run);
	unlink(scratch__path("shared"));
}

static void check_text(void)
{
	const struct writer writer = { names[0], TIMES, SIZE, -1, do_regular };
	struct tool_run run;

	tool_run__trace(&run, NULL, ARGS("--by", "file", "--comm", writer.name));
	writer__run(&writer);
	tool_run__stop(&run);
	test__check(strstr(run.out, " TYPE    FILE\n") && strstr(run.out, " regular /") &&
			    strstr(run.out, "/a file\n"),
		    "text: the type and the path stand last", "stdout: %s", run.out);
	tool_run__free(&run);
	remove_files();
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "auto", "fentry", "kprobe", "tp_btf" };

	role__play(argc, argv);
	/* The writers share the folder. */
	scratch__path("");
	for (size_t i = 0; i < NR_KINDS; i++)
		snprintf(names[i], sizeof(names[i]), "%s.%d", kinds[i].name, getpid() % 100000);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		check_way(ways[i]);
	check_devices();
	check_bounds();
	check_namespaces();
	check_text();
	return test__done();
}
