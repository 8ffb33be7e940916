// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "long_args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "spawn.h"
#include "records.h"
#include "test.h"
#include "tool.h"
#include "workload.h"

/* Arguments of one record, compared with nr words of size bytes of the letter a. */
static bool is_whole(const struct json_value *record, size_t nr, size_t size)
{
	const struct json_value *args = json__get(record, "args");
	size_t nr_right = 0;

	if (!args || args->kind != JSON_ARRAY || args->array.nr != nr ||
	    record__number(record, "args_cut"))
		return false;
	for (size_t i = 0; i < nr; i++) {
		const char *word = json__string(&args->array.items[i]);

		nr_right += word && strlen(word) == size && strspn(word, "a") == size;
	}
	return nr_right == nr;
}

static void measure(size_t nr, size_t size)
{
	const char **argv = calloc(nr + 1, sizeof(*argv));
	const struct json_value *record;
	char *word = malloc(size + 1);
	struct records records;
	struct tool_run run;
	size_t index = 0;
	pid_t pid;

	if (!argv || !word)
		test__fatal("long arguments", "out of memory");
	memset(word, 'a', size);
	word[size] = '\0';
	for (size_t i = 0; i < nr; i++)
		argv[i] = word;
	tool_run__trace(&run, &(struct tool_setup){ .name = "execsnoop" },
			ARGS("-j", "--comm", file_name(spawn__program())));
	pid = workload__start(&(struct workload){
		.program = spawn__program(), .argv = argv, .prepare = allow_long_args });
	if (workload__wait(pid, NULL))
		test__fatal("long arguments", "the kernel refuses them");
	tool_run__stop(&run);
	records__load(&records, &run);
	record = records__next(&records, "exec", pid, &index);
	printf("%zu arguments, %zu bytes: %s\n", nr, nr * (size + 1),
	       record && is_whole(record, nr, size) ? "whole" : "NOT whole");
	records__free(&records);
	tool_run__free(&run);
	free(word);
	free(argv);
}

void long_args__measure(void)
{
	printf("\nOne exec with\n");
	measure(45, 131071);
	measure(300000, 6);
}
