// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Arguments come out byte for byte, whatever they hold and however long they are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/odd_args.h"
#include "support/records.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

/* The longest single argument the kernel takes: MAX_ARG_STRLEN with its NUL is 131,072. */
#define WORD_MAX 131071

static void allow_long_args(void *ctx)
{
	struct rlimit limit;

	(void)ctx;
	getrlimit(RLIMIT_STACK, &limit);
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_STACK, &limit))
		_exit(126);
}

/* Whether the kernel took the arguments and the workload was told as many as expected. */
static pid_t execute(const char *program, const char *role, const char *const *argv, int *status)
{
	const struct workload workload = {
		.program = program,
		.role = role,
		.argv = argv,
		.prepare = allow_long_args,
	};
	pid_t pid = workload__start(&workload);

	*status = workload__wait(pid, NULL);
	return pid;
}

static void check_odd_args(const char *program)
{
	pid_t *pids = calloc(nr_odd_args, sizeof(*pids));
	struct records records;
	struct tool_run run;
	char check[128];
	int status;

	if (!pids)
		test__fatal("memory", "out of memory");
	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	for (size_t i = 0; i < nr_odd_args; i++)
		pids[i] = execute(program, "true", odd_args[i].argv, &status);
	tool_run__stop(&run);
	records__load(&records, &run);
	for (size_t i = 0; i < nr_odd_args; i++) {
		const struct json_value *record;

		snprintf(check, sizeof(check), "args: %s", odd_args[i].name);
		record = records__only(&records, "exec", pids[i], check);
		if (record)
			check_args(record, odd_args[i].argv, check);
	}
	test__equal("args: one exec is one line", records.nr, nr_odd_args + 2);
	check_exact(records__account(&records), "args");
	free(pids);
	records__free(&records);
	tool_run__free(&run);
}

/* execve() with a NULL argument array: since Linux 5.18 the program gets one empty argument,
 * before it got none. What the program itself saw decides. */
static void check_no_args(const char *program)
{
	static const char *const none[] = { NULL };
	static const char *const one_empty[] = { "", NULL };
	struct records records;
	struct tool_run run;
	const struct json_value *record;
	int status;
	pid_t pid;

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	pid = execute(program, "argc", none, &status);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__only(&records, "exec", pid, "args: none at all");
	if (record)
		check_args(record, WEXITSTATUS(status) ? one_empty : none, "args: none at all");
	records__free(&records);
	tool_run__free(&run);
}

static char *make_word(size_t size, unsigned int seed)
{
	char *word = malloc(size + 1);

	if (!word)
		test__fatal("memory", "out of memory");
	for (size_t i = 0; i < size; i++)
		word[i] = (char)(1 + (i * 7 + seed) % 255);
	word[size] = '\0';
	return word;
}

/* One exec with nr arguments of the given size, of all byte values that an argument can hold. */
static void check_big_args(const char *program, size_t nr, size_t size, const char *check)
{
	const char **argv = calloc(nr + 1, sizeof(*argv));
	struct records records;
	struct tool_run run;
	const struct json_value *record;
	int status;
	pid_t pid;

	if (!argv)
		test__fatal("memory", "out of memory");
	for (size_t i = 0; i < nr; i++)
		argv[i] = make_word(size, (unsigned int)i);
	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	pid = execute(program, "true", argv, &status);
	tool_run__stop(&run);
	if (status) {
		test__check(false, check, "the kernel refused them: wait status 0x%x", status);
	} else {
		records__load(&records, &run);
		record = records__only(&records, "exec", pid, check);
		if (record)
			check_args(record, argv, check);
		test__check(records.nr == 3, "args: a big exec is one line", "saw %zu lines",
			    records.nr);
		check_exact(records__account(&records), check);
		records__free(&records);
	}
	tool_run__free(&run);
	for (size_t i = 0; i < nr; i++)
		free((char *)(uintptr_t)argv[i]);
	free(argv);
}

/* Sizes around pages and size classes of records: the places where an off-by-one would be. */
static void check_edges(const char *program)
{
	static const size_t sizes[] = { 255,  256,  257,   511,	  1023,	 2047,	4000,	4064,
					4088, 4090, 4091,  4092,  4093,	 4094,	4095,	4096,
					4097, 8191, 16383, 32767, 65535, 65536, 131000, WORD_MAX };
	const size_t nr = sizeof(sizes) / sizeof(*sizes);
	pid_t pids[sizeof(sizes) / sizeof(*sizes)];
	char *words[sizeof(sizes) / sizeof(*sizes)];
	struct records records;
	struct tool_run run;
	size_t nr_right = 0;

	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program)));
	for (size_t i = 0; i < nr; i++) {
		int status;

		words[i] = make_word(sizes[i], (unsigned int)i);
		pids[i] = execute(program, "true", ARGS(words[i]), &status);
	}
	tool_run__stop(&run);
	records__load(&records, &run);
	for (size_t i = 0; i < nr; i++) {
		size_t index = 0, size = 0;
		const struct json_value *record = records__next(&records, "exec", pids[i], &index);
		char *seen = array__words(json__get(record, "args"), &size);

		nr_right += seen && size == sizes[i] + 1 && !memcmp(seen, words[i], size);
		free(seen);
		free(words[i]);
	}
	test__equal("args: words of 255 bytes to 128 KB are whole", nr_right, nr);
	records__free(&records);
	tool_run__free(&run);
}

static void check_odd_comm(void)
{
	static const char comm[] = "a\n\x1b[m\"\\\xff;b";
	const char *program = workload__program(comm);
	struct records records;
	struct tool_run run;
	const struct json_value *record;
	size_t size = 0;
	char *bytes;
	pid_t pid;
	int status;

	tool_run__trace(&run, NULL, ARGS("-j"));
	pid = execute(program, "true", ARGS("one"), &status);
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__only(&records, "exec", pid, "comm: any bytes");
	bytes = string__bytes(json__get(record, "comm"), &size);
	test__same_bytes("comm: any bytes", bytes ? bytes : "", size, comm, sizeof(comm) - 1);
	free(bytes);
	bytes = string__bytes(json__get(record, "filename"), &size);
	test__same_bytes("filename: any bytes", bytes ? bytes : "", size, program, strlen(program));
	free(bytes);
	records__free(&records);
	tool_run__free(&run);
}

int main(int argc, char **argv)
{
	const char *program;

	role__play(argc, argv);
	program = workload__own_program("args");
	check_odd_args(program);
	check_no_args(program);
	check_edges(program);
	check_odd_comm();
	check_big_args(program, 1, WORD_MAX, "exec: one word of 128 KB is delivered whole");
	check_big_args(program, 45, WORD_MAX, "exec: 5.9 MB of arguments are delivered whole");
	check_big_args(program, 300000, 6, "exec: 300,000 arguments are delivered whole");
	return test__done();
}
