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

static struct scene scenes[SCENES_MAX], *odd_scene;
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
	static const size_t sizes[] = { 8191, 8192, 8193, 16383, 32767, 65535, 65536, 131000 };

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

/* A long one is let through before the next: together they are more than the ring holds, and then
 * it would be right to cut one. */
static void play_scene(struct scene *scene, const struct tool_run *run)
{
	size_t before = tool_run__output_size(run), size = 0;

	for (size_t i = 0; scene->argv[i]; i++)
		size += strlen(scene->argv[i]);
	scene->pid = execute(scene->program, scene->role, scene->argv, &scene->status);
	if (size > 100000)
		tool_run__wait_for_output(run, before + size);
}

static void play_scenes(const char *program, const char *odd_program, const struct tool_run *run)
{
	add_scenes(program);
	odd_scene = add_scene(odd_program, "args: of a program with an odd name");
	generate_args(odd_scene, 1, 5);
	for (size_t i = 0; i < nr_scenes; i++)
		play_scene(&scenes[i], run);
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

/*
 * One word of every size up to a little more than a page, where a record's size classes and page
 * borders are. (An emulated machine tries some of them.)
 */
#define SWEEP_MAX 4100

static pid_t sweep[SWEEP_MAX + 1];

static void play_sweep(const char *program)
{
	size_t step = SWEEP_MAX / test__scaled(SWEEP_MAX);
	char word[SWEEP_MAX + 1];

	for (size_t size = 1; size <= SWEEP_MAX; size += step ? step : 1) {
		int status;

		memset(word, 'a', size);
		word[size - 1] = 'z';
		word[size] = '\0';
		sweep[size] = execute(program, "true", ARGS(word), &status);
	}
}

static void check_sweep(const struct records *records, const char *program)
{
	size_t index = 0, size = 1, nr_wrong = 0, first_wrong = 0;
	const struct json_value *record;

	while ((record = records__next(records, "exec", 0, &index))) {
		const struct json_value *args = json__get(record, "args");
		const char *word;

		if (!json__is(json__get(record, "comm"), file_name(program)))
			continue;
		while (size < SWEEP_MAX && !sweep[size])
			size++;
		word = args && args->kind == JSON_ARRAY && args->array.nr == 1 ?
			       json__string(&args->array.items[0]) :
			       NULL;
		if (record__number(record, "pid") != sweep[size] || !word || strlen(word) != size ||
		    word[size - 1] != 'z' || record__number(record, "args_cut")) {
			nr_wrong++;
			first_wrong = first_wrong ? first_wrong : size;
		}
		size++;
	}
	while (size <= SWEEP_MAX && !sweep[size])
		size++;
	test__check(!nr_wrong && size == SWEEP_MAX + 1,
		    "args: a word of any size up to 4,100 bytes is whole",
		    "%zu are not, the first of %zu bytes; the last seen of %zu", nr_wrong,
		    first_wrong, size - 1);
}

static void check_bytes(const struct json_value *record, const char *member, const char *expected)
{
	size_t size = 0;
	char *bytes = string__bytes(json__get(record, member), &size), check[64];

	snprintf(check, sizeof(check), "%s: any bytes", member);
	test__same_bytes(check, bytes ? bytes : "", size, expected, strlen(expected));
	free(bytes);
}

/* Newlines of the output against the events of the account: with start and account, no more. */
static void check_lines(const struct tool_run *run, const struct records *records)
{
	int64_t recorded = account__term(records__account(records), NULL, "recorded");
	uint64_t nr = 0;

	for (size_t i = 0; i < run->out_size; i++)
		nr += run->out[i] == '\n';
	test__equal("exec: one record is one line, whatever it holds", nr, (uint64_t)recorded + 2);
}

int main(int argc, char **argv)
{
	static const char odd_name[] = "a\n\x1b[m\"\\\xff;b";
	const char *program, *odd_program, *sweep_program;
	const struct json_value *record;
	struct records records;
	struct tool_run run;
	size_t index = 0;

	role__play(argc, argv);
	program = workload__own_program("args");
	odd_program = workload__program(odd_name);
	sweep_program = workload__small_program("sweep");
	tool_run__trace(&run, NULL,
			ARGS("-j", "--comm", file_name(program), "--comm", "a*;b", "--comm",
			     file_name(sweep_program)));
	play_sweep(sweep_program);
	play_scenes(program, odd_program, &run);
	tool_run__stop(&run);
	records__load(&records, &run);
	for (size_t i = 0; i < nr_scenes; i++)
		check_scene(&scenes[i], &records);
	check_sweep(&records, sweep_program);
	check_lines(&run, &records);
	record = records__next(&records, "exec", odd_scene->pid, &index);
	check_bytes(record, "comm", odd_name);
	check_bytes(record, "filename", odd_program);
	check_exact(records__account(&records), "args");
	records__free(&records);
	tool_run__free(&run);
	return test__done();
}
