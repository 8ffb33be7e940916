// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Arguments come out byte for byte, whatever they hold and however long they are. */
#include <stdarg.h>
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

/* Executes program and gives its wait status; the stack limit is the most, so that long argument
 * lists are taken. */
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

/* One exec and what its record must have. */
struct scene {
	char name[96];
	const char *program;
	const char *role;
	const char **argv; /* of its own memory when it is generated */
	size_t nr_generated;
	pid_t pid;
	int status;
};

#define SCENES_MAX 64

static struct scene scenes[SCENES_MAX];
static size_t nr_scenes;

__attribute__((format(printf, 2, 3))) static struct scene *add_scene(const char *program,
								     const char *format, ...)
{
	struct scene *scene = &scenes[nr_scenes++];
	va_list args;

	if (nr_scenes > SCENES_MAX)
		test__fatal("args", "more than %d scenes", SCENES_MAX);
	scene->program = program;
	scene->role = "true";
	va_start(args, format);
	vsnprintf(scene->name, sizeof(scene->name), format, args);
	va_end(args);
	return scene;
}

/* nr words of the given size, of all byte values that an argument can hold. */
static void generate_args(struct scene *scene, size_t nr, size_t size)
{
	char *words = malloc(nr * (size + 1));

	scene->argv = calloc(nr + 1, sizeof(*scene->argv));
	if (!words || !scene->argv)
		test__fatal("memory", "out of memory");
	for (size_t i = 0; i < nr; i++) {
		char *word = words + i * (size + 1);

		for (size_t j = 0; j < size; j++)
			word[j] = (char)(1 + (j * 7 + i + size) % 255);
		word[size] = '\0';
		scene->argv[i] = word;
	}
	scene->nr_generated = nr;
}

static void add_scenes(const char *program)
{
	/* Around pages and size classes of records: where an off-by-one would be. */
	static const size_t sizes[] = { 255,  256,  257,   511,	  1023,	 2047,	4000,  4064, 4088,
					4090, 4091, 4092,  4093,  4094,	 4095,	4096,  4097, 8191,
					8192, 8193, 16383, 32767, 65535, 65536, 131000 };

	for (size_t i = 0; i < nr_odd_args; i++)
		add_scene(program, "args: %s", odd_args[i].name)->argv =
			(const char **)(uintptr_t)odd_args[i].argv;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		generate_args(add_scene(program, "args: a word of %zu bytes", sizes[i]), 1,
			      sizes[i]);
	generate_args(add_scene(program, "exec: one word of 128 KB is delivered whole"), 1,
		      WORD_MAX);
	generate_args(add_scene(program, "exec: 5.9 MB of arguments are delivered whole"), 45,
		      WORD_MAX);
	generate_args(add_scene(program, "exec: 300,000 arguments are delivered whole"), 300000, 6);
}

/*
 * execve() with a NULL argument array: since Linux 5.18 the program gets one empty argument,
 * before it got none. It ends with the number that it saw.
 */
static void add_scene_without_args(const char *program)
{
	static const char *none[] = { NULL, NULL };
	struct scene *scene = add_scene(program, "args: none at all");

	scene->argv = none;
	scene->role = "argc";
	scene->pid = execute(program, scene->role, none, &scene->status);
	if (WEXITSTATUS(scene->status) == 1)
		none[0] = "";
	scene->status = 0;
}

static void play_scenes(const char *program, const char *odd_program)
{
	add_scenes(program);
	generate_args(add_scene(odd_program, "args: of a program with an odd name"), 1, 5);
	for (size_t i = 0; i < nr_scenes; i++)
		scenes[i].pid = execute(scenes[i].program, scenes[i].role, scenes[i].argv,
					&scenes[i].status);
	add_scene_without_args(program);
}

static void check_scene(const struct scene *scene, const struct records *records)
{
	const struct json_value *record = NULL;

	if (scene->status)
		test__check(false, scene->name, "the kernel refused it: wait status 0x%x",
			    scene->status);
	else
		record = records__only(records, "exec", scene->pid, scene->name);
	if (record)
		check_args(record, scene->argv, scene->name);
	if (scene->nr_generated) {
		free((char *)(uintptr_t)scene->argv[0]);
		free(scene->argv);
	}
}

static void check_bytes(const struct json_value *record, const char *member, const char *expected)
{
	size_t size = 0;
	char *bytes = string__bytes(json__get(record, member), &size), check[64];

	snprintf(check, sizeof(check), "%s: any bytes", member);
	test__same_bytes(check, bytes ? bytes : "", size, expected, strlen(expected));
	free(bytes);
}

int main(int argc, char **argv)
{
	static const char odd_name[] = "a\n\x1b[m\"\\\xff;b";
	const char *program, *odd_program;
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	size_t nr_lines = 0, index = 0;

	role__play(argc, argv);
	program = workload__own_program("args");
	odd_program = workload__program(odd_name);
	tool_run__trace(&run, NULL, ARGS("-j", "--comm", file_name(program), "--comm", "a*;b"));
	play_scenes(program, odd_program);
	tool_run__stop(&run);
	records__load(&records, &run);
	for (size_t i = 0; i < nr_scenes; i++) {
		nr_lines += records__next(&records, "exec", scenes[i].pid, &index) != NULL;
		index = 0;
		check_scene(&scenes[i], &records);
	}
	for (size_t i = 0; i < run.out_size; i++)
		index += run.out[i] == '\n';
	/* Beside the execs: start and account. */
	test__equal("exec: one record is one line, whatever it holds", index, nr_lines + 2);
	index = 0;
	while ((record = records__next(&records, "exec", 0, &index)))
		if (!json__is(json__get(record, "comm"), file_name(program)))
			break;
	check_bytes(record, "comm", odd_name);
	check_bytes(record, "filename", odd_program);
	check_exact(records__account(&records), "args");
	records__free(&records);
	tool_run__free(&run);
	return test__done();
}
