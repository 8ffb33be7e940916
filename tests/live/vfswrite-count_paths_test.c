// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Each way to write is counted at the function, or the system call, where it belongs, and nowhere
 * else; by default what vfs_write does not see is told as a number. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/acct.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/aio_abi.h>
#include <linux/io_uring.h>

#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/writer.h"

#define TIMES 7
#define SIZE 4096

static char data[SIZE];
static const struct iovec vector[2] = { { data, 100 }, { data, 200 } };

static void need(bool holds)
{
	if (!holds)
		_exit(20);
}

static int make_file(void)
{
	int fd = memfd_create("paths", 0);

	need(fd >= 0 && !ftruncate(fd, 16 * SIZE));
	return fd;
}

static void do_write(const struct writer *writer)
{
	int fd = make_file();

	(void)writer;
	for (int i = 0; i < TIMES; i++)
		need(write(fd, data, SIZE) == SIZE);
}

static void do_pwrite(const struct writer *writer)
{
	int fd = make_file();

	(void)writer;
	for (int i = 0; i < TIMES; i++)
		need(pwrite(fd, data, SIZE, 0) == SIZE);
}

/* write(2) to a socket. */
static void do_socket(const struct writer *writer)
{
	int ends[2];

	(void)writer;
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	for (int i = 0; i < TIMES; i++)
		need(write(ends[1], data, 1) == 1);
}

static void do_writev(const struct writer *writer)
{
	int fd = make_file();

	(void)writer;
	for (int i = 0; i < TIMES; i++)
		need(writev(fd, vector, 2) == 300);
}

static void do_pwritev2(const struct writer *writer)
{
	int fd = make_file();

	(void)writer;
	for (int i = 0; i < TIMES; i++)
		need(pwritev2(fd, vector, 2, 0, 0) == 300);
}

static void do_sendfile(const struct writer *writer)
{
	int from = make_file(), to = make_file();
	off_t position;

	(void)writer;
	for (int i = 0; i < TIMES; i++) {
		position = 0;
		need(sendfile(to, from, &position, SIZE) == SIZE);
	}
}

static void do_splice(const struct writer *writer)
{
	const struct iovec page = { data, SIZE };
	int fd = make_file(), ends[2];

	(void)writer;
	need(!pipe(ends));
	for (int i = 0; i < TIMES; i++) {
		need(vmsplice(ends[1], &page, 1, 0) == SIZE);
		need(splice(ends[0], NULL, fd, NULL, SIZE, 0) == SIZE);
	}
}

static void do_copy(const struct writer *writer)
{
	int from = make_file(), to = make_file();
	loff_t source, target;

	(void)writer;
	for (int i = 0; i < TIMES; i++) {
		source = target = 0;
		need(copy_file_range(from, &source, to, &target, SIZE, 0) == SIZE);
	}
}

static void do_aio(const struct writer *writer)
{
	struct iocb call = {
		.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_fildes = (__u32)make_file(),
		.aio_buf = (__u64)(unsigned long)data,
		.aio_nbytes = SIZE,
	};
	struct iocb *list = &call;
	struct io_event event;
	aio_context_t context = 0;

	(void)writer;
	need(!syscall(SYS_io_setup, 8, &context));
	for (int i = 0; i < TIMES; i++)
		need(syscall(SYS_io_submit, context, 1, &list) == 1 &&
		     syscall(SYS_io_getevents, context, 1, 1, &event, NULL) == 1);
}

static void do_io_uring(const struct writer *writer)
{
	struct io_uring_params params = {};
	int fd = make_file(), ring;
	struct io_uring_sqe *entries;
	char *queue;

	(void)writer;
	ring = (int)syscall(SYS_io_uring_setup, 8, &params);
	/* Not allowed on every machine; by system call it is not counted anyway. */
	if (ring < 0)
		_exit(0);
	queue = mmap(NULL, params.sq_off.array + params.sq_entries * sizeof(__u32),
		     PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	entries = mmap(NULL, params.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE,
		       MAP_SHARED, ring, IORING_OFF_SQES);
	need(queue != MAP_FAILED && entries != MAP_FAILED);
	entries[0] = (struct io_uring_sqe){
		.opcode = IORING_OP_WRITE,
		.fd = fd,
		.addr = (__u64)(unsigned long)data,
		.len = SIZE,
	};
	for (__u32 i = 0; i < TIMES; i++) {
		*(__u32 *)(queue + params.sq_off.array + i % params.sq_entries * sizeof(__u32)) = 0;
		__atomic_store_n((__u32 *)(queue + params.sq_off.tail), i + 1, __ATOMIC_RELEASE);
		need(syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) == 1);
	}
}

static void do_send(const struct writer *writer)
{
	int ends[2];

	(void)writer;
	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	for (int i = 0; i < TIMES; i++)
		need(send(ends[1], data, 1, 0) == 1);
}

static void do_mmap(const struct writer *writer)
{
	char *area = mmap(NULL, SIZE, PROT_WRITE, MAP_SHARED, make_file(), 0);

	(void)writer;
	need(area != MAP_FAILED);
	memset(area, 1, SIZE);
}

/* Process accounting: the kernel writes a record in the name of each process that ends. */
static void do_kernel(const struct writer *writer)
{
	char path[] = "/tmp/vfswrite-count-acct.XXXXXX";
	int fd = mkstemp(path);

	(void)writer;
	need(fd >= 0);
	if (!acct(path)) {
		for (int i = 0; i < TIMES; i++) {
			pid_t pid = fork();

			need(pid >= 0);
			if (!pid)
				_exit(0);
			need(waitpid(pid, NULL, 0) == pid);
		}
		acct(NULL);
	}
	unlink(path);
}

static const struct path {
	const char *name;
	void (*work)(const struct writer *writer);
	const char *function; /* where it is counted; NULL: nowhere */
	const char *syscall;
	bool or_more; /* the kernel may come to the function more than once for a call */
	const char *within; /* a function that is reached through it */
	uint64_t bytes; /* of each; 0: not known */
} paths[] = {
	{ "write", do_write, "vfs_write", "write", false, NULL, SIZE },
	{ "pwrite", do_pwrite, "vfs_write", "pwrite64", false, NULL, SIZE },
	{ "socket", do_socket, "vfs_write", "write", false, NULL, 1 },
	{ "writev", do_writev, "vfs_writev", "writev", false, NULL, 300 },
	{ "pwritev2", do_pwritev2, "vfs_writev", "pwritev2", false, NULL, 300 },
	{ "sendfile", do_sendfile, "iter_file_splice_write", "sendfile", false, NULL, SIZE },
	{ "splice", do_splice, "iter_file_splice_write", "splice", false, NULL, SIZE },
	{ "copy", do_copy, "vfs_copy_file_range", "copy_file_range", false,
	  "iter_file_splice_write", SIZE },
	{ "aio", do_aio, "aio_write", NULL, false, NULL, 0 },
	{ "uring", do_io_uring, "io_write", NULL, true, NULL, 0 },
	{ "send", do_send, NULL, NULL, false, NULL, 0 },
	{ "mmap", do_mmap, NULL, NULL, false, NULL, 0 },
	{ "acct", do_kernel, "__kernel_write", NULL, true, NULL, 0 },
};

#define NR_PATHS (sizeof(paths) / sizeof(paths[0]))

/* Names stay valid: one for each path. */
static char names[NR_PATHS][16];

static void write_all_paths(void)
{
	for (size_t i = 0; i < NR_PATHS; i++) {
		const struct writer writer = { names[i], TIMES, SIZE, -1, paths[i].work };

		writer__run(&writer);
	}
}

/* What the rows of one writer hold, by where they were counted. */
struct seen {
	uint64_t calls;
	uint64_t bytes;
	uint64_t elsewhere;
	const char *where;
};

static struct seen look(const struct records *records, size_t index, const char *func)
{
	const struct json_value *record, *key;
	struct seen seen = { 0 };
	size_t at = 0;

	while ((record = records__next(records, "count", 0, &at))) {
		key = json__get(record, "key");
		if (!json__is(json__get(key, "comm"), names[index]))
			continue;
		if (func && json__is(json__get(key, "func"), func)) {
			seen.calls += (uint64_t)record__number(record, "calls");
			seen.bytes += (uint64_t)record__number(record, "bytes");
		} else if (!paths[index].within ||
			   !json__is(json__get(key, "func"), paths[index].within)) {
			seen.elsewhere += (uint64_t)record__number(record, "calls");
			seen.where = json__string(json__get(key, "func"));
		}
	}
	return seen;
}

static void check_path(const struct records *records, const char *way, size_t index,
		       bool by_syscall)
{
	const struct path *path = &paths[index];
	const char *func = by_syscall ? path->syscall : path->function;
	struct seen seen = look(records, index, func);
	char check[96];

	snprintf(check, sizeof(check), "%s, %s: counted by %s", way, path->name,
		 func ? func : "nobody");
	if (path->or_more && func)
		test__check(seen.calls >= TIMES, check, "%" PRIu64 " calls", seen.calls);
	else
		test__equal(check, seen.calls, func ? TIMES : 0);
	if (path->bytes && func) {
		snprintf(check, sizeof(check), "%s, %s: bytes", way, path->name);
		test__equal(check, seen.bytes, TIMES * path->bytes);
	}
	snprintf(check, sizeof(check), "%s, %s: and nowhere else", way, path->name);
	test__check(!seen.elsewhere, check, "%" PRIu64 " calls, also by %s", seen.elsewhere,
		    seen.where);
}

static void check_way(const char *way)
{
	struct records records;
	struct tool_run run;
	bool by_syscall;

	if (!tool_run__start(&run, NULL, ARGS("-j", "--attach", way, "--paths", "all"))) {
		tool_run__free(&run);
		return;
	}
	write_all_paths();
	tool_run__stop(&run);
	records__load(&records, &run);
	check_account(records__account(&records), way);
	by_syscall = strstr(run.err, "in place of") != NULL;
	for (size_t i = 0; i < NR_PATHS; i++)
		check_path(&records, way, i, by_syscall);
	records__free(&records);
	tool_run__free(&run);
}

static void check_default(void)
{
	const struct json_value *other;
	struct records records;
	struct tool_run run;
	uint64_t writev = 0;
	bool by_syscall;
	size_t at = 0;

	tool_run__trace(&run, NULL, ARGS("-j"));
	write_all_paths();
	tool_run__stop(&run);
	records__load(&records, &run);
	check_exact(records__account(&records), "default");
	by_syscall = strstr(run.err, "in place of") != NULL;
	test__equal("default: write", counted__of(&records, names[0]).calls, TIMES);
	test__equal("default: writev is in no row", counted__of(&records, names[3]).calls, 0);
	other = records__next(&records, "other_paths", 0, &at);
	json__u64(json__get(json__get(other, "calls"), by_syscall ? "writev" : "vfs_writev"),
		  &writev);
	/* pwritev2 comes to the same function. */
	test__check(writev >= (by_syscall ? TIMES : 2 * TIMES),
		    "default: it is told that there were others", "%" PRIu64, writev);
	test__check(strstr(run.err, "other ways") != NULL, "default: so for people", "stderr: %s",
		    run.err);
	records__free(&records);
	tool_run__free(&run);
}

static void check_reads(void)
{
	struct records records;
	struct tool_run run;
	struct counted counted;

	tool_run__trace(&run, NULL, ARGS("-j", "--also", "read", "--comm", names[0]));
	write_all_paths();
	tool_run__stop(&run);
	records__load(&records, &run);
	counted = counted__of(&records, names[0]);
	test__equal("reads: those that write have a row of their own", counted.calls, TIMES);
	records__free(&records);
	tool_run__free(&run);
	tool_run__trace(&run, NULL, ARGS("-j", "--also", "read"));
	tool_run__stop(&run);
	test__check(strstr(run.out, "read\"},") != NULL, "reads: they are counted", "stdout: %s",
		    run.out);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	static const char *const ways[] = { "auto", "fentry", "kprobe", "tp_btf" };

	role__play(argc, argv);
	for (size_t i = 0; i < NR_PATHS; i++)
		snprintf(names[i], sizeof(names[i]), "%s.%d", paths[i].name, getpid() % 100000);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		check_way(ways[i]);
	check_default();
	check_reads();
	return test__done();
}
