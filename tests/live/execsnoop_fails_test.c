// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Failed calls of exec: path, arguments and errno by name; what cannot be read is marked. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

/* What a child calls; its exit status is the errno, as the caller got it. */
struct call {
	const char *name;
	void (*act)(void);
	const char *error;
	const char *filename; /* NULL: not looked at */
	const char *const *argv; /* NULL: not looked at */
	pid_t pid;
};

static const char *const some_args[] = { "first word", "second", "", NULL };
static const char *program, *plain_file, *text_file;
static char below_file[512], pid_text[16];

static char *const *as_argv(const char *const *words)
{
	return (char *const *)(const void *)words;
}

/* The kernel side cannot read a page that this process has not touched since it was forked. */
static const char *const *touched(const char *const *argv)
{
	static volatile char sink;

	for (const char *const *word = argv; *word; word++)
		for (size_t at = 0; at <= strlen(*word); at++)
			sink = (*word)[at];
	(void)sink;
	return argv;
}

static void try(const char *path, const char *const *argv)
{
	syscall(SYS_execve, path, argv, environ);
	_exit(errno);
}

static void act_missing(void)
{
	try("/nonexistent/program", touched(some_args));
}

static void act_not_executable(void)
{
	try(plain_file, touched(some_args));
}

static void act_no_program(void)
{
	try(text_file, touched(some_args));
}

static void act_below_file(void)
{
	try(below_file, touched(some_args));
}

static void act_execveat(void)
{
	syscall(SYS_execveat, AT_FDCWD, "/nonexistent/at", touched(some_args), environ, 0);
	_exit(errno);
}

static void act_search(void)
{
	setenv("PATH", "/nonexistent/1:/nonexistent/2:/nonexistent/3", 1);
	execvp("no-such-program", as_argv(some_args));
	_exit(errno);
}

static void act_no_args(void)
{
	try("/nonexistent/program", NULL);
}

/* The second pointer leads nowhere. */
static void act_bad_word(void)
{
	const char *argv[] = { "zero", (const char *)8, "two", NULL };

	try(program, argv);
}

static void act_bad_path(void)
{
	try((const char *)8, touched(some_args));
}

static void act_bad_argv(void)
{
	try(program, (const char *const *)8);
}

/* As for execsnoop_ways_test: the 32-bit system call, all it points to below 4 GB. */
static void act_int80(void)
{
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	uint32_t *pointers = (uint32_t *)(void *)page;
	char *text = page + 4096;
	size_t used = 0;
	long result;

	if (page == MAP_FAILED)
		_exit(ENOMEM);
	for (size_t i = 0; some_args[i]; i++) {
		pointers[i] = (uint32_t)(uintptr_t)(text + used);
		used += strlen(strcpy(text + used, some_args[i])) + 1;
	}
	strcpy(text + used, "/nonexistent/int80");
	asm volatile("int $0x80"
		     : "=a"(result)
		     : "a"(11L), "b"((long)(uintptr_t)(text + used)), "c"((long)(uintptr_t)page),
		       "d"(0L)
		     : "memory", "r8", "r9", "r10", "r11");
	_exit(result < 0 ? (int)-result : 0);
}

static struct call calls[] = {
	{ "a path that is not there", act_missing, "ENOENT", "/nonexistent/program", some_args, 0 },
	{ "a file without the right to execute", act_not_executable, "EACCES", NULL, some_args, 0 },
	{ "a file that is no program", act_no_program, "ENOEXEC", NULL, some_args, 0 },
	{ "a path below a file", act_below_file, "ENOTDIR", NULL, some_args, 0 },
	{ "execveat", act_execveat, "ENOENT", "/nonexistent/at", some_args, 0 },
	{ "no arguments at all", act_no_args, "ENOENT", "/nonexistent/program", NO_ARGS, 0 },
	{ "a path that cannot be read", act_bad_path, "EFAULT", NULL, some_args, 0 },
	{ "a list that cannot be read", act_bad_argv, "EFAULT", NULL, NULL, 0 },
	{ "a word that cannot be read", act_bad_word, "EFAULT", NULL, NULL, 0 },
};
#define NR_CALLS (sizeof(calls) / sizeof(*calls))

static pid_t fork_and(void (*act)(void), int *status)
{
	pid_t pid = fork();

	if (pid < 0)
		test__fatal("workload", "fork: %s", strerror(errno));
	if (!pid) {
		act();
		_exit(0);
	}
	*status = workload__wait(pid, NULL);
	return pid;
}

static void check_call(const struct records *records, const struct call *call)
{
	const struct json_value *record;
	char check[128];

	snprintf(check, sizeof(check), "fails: %s has its one record", call->name);
	record = records__only(records, "exec", call->pid, check);
	if (!record)
		return;
	snprintf(check, sizeof(check), "fails: %s: errno by name", call->name);
	test__same(check, json__string(json__get(record, "error")), call->error);
	snprintf(check, sizeof(check), "fails: %s: ret is negative", call->name);
	test__check(record__number(record, "ret") < 0, check, "it is not");
	if (call->filename) {
		snprintf(check, sizeof(check), "fails: %s: filename", call->name);
		test__same(check, json__string(json__get(record, "filename")), call->filename);
	}
	if (call->argv) {
		snprintf(check, sizeof(check), "fails: %s: arguments", call->name);
		check_args(record, call->argv, check);
	}
}

/* The rest is read, the one in the middle is null and named. */
static void check_unreadable(const struct records *records)
{
	const struct json_value *word = NULL, *list = NULL, *args, *indices;
	uint64_t index = 0;

	for (size_t i = 0; i < NR_CALLS; i++) {
		size_t at = 0;

		if (calls[i].act == act_bad_word)
			word = records__next(records, "exec", calls[i].pid, &at);
		if (calls[i].act == act_bad_argv)
			list = records__next(records, "exec", calls[i].pid, &at);
		if (calls[i].act == act_bad_path)
			test__check(!json__get(records__next(records, "exec", calls[i].pid, &at),
					       "filename"),
				    "fails: a path that cannot be read is absent", "it is there");
	}
	args = json__get(word, "args");
	indices = json__get(word, "args_unreadable");
	test__check(args && args->array.nr == 3 && args->array.items[1].kind == JSON_NULL &&
			    json__is(&args->array.items[0], "zero") &&
			    json__is(&args->array.items[2], "two"),
		    "fails: the word that cannot be read is null, the others are read",
		    "they are not");
	test__check(indices && indices->array.nr == 1 &&
			    json__u64(&indices->array.items[0], &index) && index == 1,
		    "fails: args_unreadable names it", "it does not");
	args = json__get(list, "args");
	test__check(args && !args->array.nr && !json__get(list, "args_cut"),
		    "fails: of a list that cannot be read, it is not known what is missing",
		    "it says otherwise");
}

static void check_calls(void)
{
	const struct json_value *account;
	struct records records;
	struct tool_run run;
	int status;

	tool_run__trace(&run, NULL, ARGS("-j", "-x", "--ppid", pid_text));
	for (size_t i = 0; i < NR_CALLS; i++)
		calls[i].pid = fork_and(calls[i].act, &status);
	tool_run__stop(&run);
	records__load(&records, &run);
	for (size_t i = 0; i < NR_CALLS; i++)
		check_call(&records, &calls[i]);
	check_unreadable(&records);
	account = records__account(&records);
	test__equal("fails: the account has one event for each",
		    (uint64_t)account__term(account, "failed", "recorded"), NR_CALLS);
	test__check(account__term(account, "failed", "detail_lost") == 3,
		    "fails: what could not be read is lost detail", "it is %" PRId64,
		    account__term(account, "failed", "detail_lost"));
	check_account(account, "fails");
	records__free(&records);
	tool_run__free(&run);
}

static void check_int80(void)
{
	static const char name[] = "fails: int 0x80 has its one record";
	struct records records;
	struct tool_run run;
	const struct json_value *record;
	int status;
	pid_t pid;

	tool_run__trace(&run, NULL, ARGS("-j", "-x", "--ppid", pid_text));
	pid = fork_and(act_int80, &status);
	tool_run__stop(&run);
	if (WIFSIGNALED(status) || WEXITSTATUS(status) == ENOSYS) {
		test__skip(name, "this kernel has no 32-bit system calls");
	} else {
		records__load(&records, &run);
		record = records__only(&records, "exec", pid, name);
		if (record) {
			test__same("fails: int 0x80: filename",
				   json__string(json__get(record, "filename")),
				   "/nonexistent/int80");
			check_args(record, some_args, "fails: int 0x80: arguments");
		}
		records__free(&records);
	}
	tool_run__free(&run);
}

/* A search through PATH is one event for each place. */
static void check_search(void)
{
	struct records records;
	struct tool_run run;
	size_t index = 0;
	char path[64];
	int status;
	pid_t pid;

	tool_run__trace(&run, NULL, ARGS("-j", "-x", "--ppid", pid_text));
	pid = fork_and(act_search, &status);
	tool_run__stop(&run);
	records__load(&records, &run);
	for (int i = 1; i <= 3; i++) {
		const struct json_value *record = records__next(&records, "exec", pid, &index);

		snprintf(path, sizeof(path), "/nonexistent/%d/no-such-program", i);
		test__same("fails: a search through PATH shows each place",
			   json__string(json__get(record, "filename")), path);
	}
	test__check(!records__next(&records, "exec", pid, &index), "fails: and no other",
		    "there is one");
	records__free(&records);
	tool_run__free(&run);
}

static void act_many(void)
{
	touched(some_args);
	for (unsigned long i = test__scaled(2000); i; i--)
		syscall(SYS_execve, "/nonexistent/program", some_args, environ);
	_exit(0);
}

/* With successes beside them; without -x there is none of it. */
static void check_count(void)
{
	const struct json_value *account;
	struct records records;
	struct tool_run run;
	int status;

	tool_run__trace(&run, NULL, ARGS("-j", "-x", "-e", "--ppid", pid_text));
	workload__repeat(program, 3);
	fork_and(act_many, &status);
	tool_run__stop(&run);
	records__load(&records, &run);
	account = records__account(&records);
	test__equal("fails: each of many calls is recorded",
		    (uint64_t)account__term(account, "failed", "recorded"), test__scaled(2000));
	test__equal("fails: successes are shown with them",
		    records__count(&records, "exec", file_name(program)), 3);
	check_exact(account, "fails");
	records__free(&records);
	tool_run__free(&run);

	tool_run__trace(&run, NULL, ARGS("-j", "--ppid", pid_text));
	workload__repeat(program, 3);
	fork_and(act_missing, &status);
	tool_run__stop(&run);
	records__load(&records, &run);
	account = records__account(&records);
	test__equal("fails: without -x only successes are shown",
		    records__count(&records, "exec", NULL), 3);
	test__equal("fails: without -x they are no events",
		    (uint64_t)account__term(account, "failed", "seen"), (uint64_t)-1);
	records__free(&records);
	tool_run__free(&run);
}

static const char *const *long_args;

static void act_long(void)
{
	try("/nonexistent/program", long_args);
}

/* As many words as the kernel side reads: fewer where there is no bpf_loop(), before 5.17. */
static size_t most_words(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname kernel;

	uname(&kernel);
	sscanf(kernel.release, "%u.%u", &major, &minor);
	return major > 5 || (major == 5 && minor >= 17) ? 2047 : 63;
}

/* nr words of this size each. */
static void check_long(size_t nr, size_t size)
{
	bool whole = nr <= most_words();
	const char **argv = calloc(nr + 1, sizeof(*argv));
	char *word = calloc(1, size + 1), check[128];
	const struct json_value *record, *args;
	struct records records;
	struct tool_run run;
	int status;
	pid_t pid;

	if (!argv || !word)
		test__fatal("memory", "out of memory");
	memset(word, 'w', size);
	for (size_t i = 0; i < nr; i++)
		argv[i] = word;
	long_args = argv;
	tool_run__trace(&run, NULL, ARGS("-j", "-x", "--ppid", pid_text));
	pid = fork_and(act_long, &status);
	tool_run__stop(&run);
	records__load(&records, &run);
	snprintf(check, sizeof(check), "fails: %zu words of %zu bytes", nr, size);
	record = records__only(&records, "exec", pid, check);
	if (record && whole) {
		check_args(record, argv, check);
		check_exact(records__account(&records), check);
	} else if (record) {
		args = json__get(record, "args");
		test__check(args && args->array.nr >= most_words() &&
				    !json__get(record, "args_cut") &&
				    account__term(records__account(&records), "failed",
						  "detail_lost") == 1,
			    check, "the beginning, without args_cut, and a lost detail");
	}
	records__free(&records);
	tool_run__free(&run);
	free(argv);
	free(word);
}

static void check_text(void)
{
	struct tool_run run;
	int status;

	tool_run__trace(&run, NULL, ARGS("-x", "--ppid", pid_text));
	fork_and(act_missing, &status);
	fork_and(act_bad_word, &status);
	tool_run__stop(&run);
	test__check(strstr(run.out, " -ENOENT 'first word' second ''\n"),
		    "fails: text has the errno by name", "saw: %s", run.out);
	test__check(strstr(run.out, " -EFAULT zero <unreadable> two\n"),
		    "fails: text marks a word that could not be read", "saw: %s", run.out);
	tool_run__free(&run);
	tool_run__trace(&run, NULL, ARGS("-xe", "--ppid", pid_text));
	fork_and(act_missing, &status);
	tool_run__stop(&run);
	test__check(strstr(run.out, " ENOENT "), "fails: with -e the errno is in STATUS", "saw: %s",
		    run.out);
	tool_run__free(&run);
}

/* The task that calls is asked for: by name, and not. */
static void check_filter(void)
{
	struct records records;
	struct tool_run run;
	int status;

	tool_run__trace(&run, NULL, ARGS("-j", "-x", "--comm", "no-such-comm"));
	fork_and(act_missing, &status);
	tool_run__stop(&run);
	records__load(&records, &run);
	test__equal("fails: outside the filter none is recorded",
		    (uint64_t)account__term(records__account(&records), "failed", "recorded"), 0);
	test__check(account__term(records__account(&records), "failed", "filtered") >= 1,
		    "fails: outside the filter they are filtered", "they are not");
	check_exact(records__account(&records), "fails, filtered");
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	static const char nonsense[] = "\x01no program\n";

	role__play(argc, argv);
	snprintf(pid_text, sizeof(pid_text), "%d", getpid());
	program = workload__own_program("fails");
	plain_file = scratch__write("plain", nonsense, sizeof(nonsense) - 1, 0644);
	text_file = scratch__write("text", nonsense, sizeof(nonsense) - 1, 0755);
	snprintf(below_file, sizeof(below_file), "%s/below", plain_file);
	check_calls();
	check_int80();
	check_search();
	check_count();
	check_long(31, 6);
	check_long(32, 6);
	check_long(63, 6);
	check_long(2047, 60);
	check_long(3, 131071);
	check_long(3000, 6);
	check_text();
	check_filter();
	return test__done();
}
