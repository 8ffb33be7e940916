// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Filters: what is inside is recorded, what is outside is counted as filtered. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/records.h"
#include "support/role.h"
#include "support/scratch.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

#define NOBODY 65534

static const char *inside, *outside; /* two programs with a comm each */

/* A traced run, with the records of it. */
struct scene {
	struct tool_run run;
	struct records records;
};

static void scene__begin(struct scene *scene, const char *const *args)
{
	tool_run__trace(&scene->run, NULL, args);
}

static void scene__end(struct scene *scene)
{
	tool_run__stop(&scene->run);
	records__load(&scene->records, &scene->run);
}

static void scene__free(struct scene *scene)
{
	records__free(&scene->records);
	tool_run__free(&scene->run);
}

static size_t nr_records(const struct scene *scene, const char *type, pid_t pid)
{
	size_t nr = 0, index = 0;

	while (records__next(&scene->records, type, pid, &index))
		nr++;
	return nr;
}

/* The exec and the exit of pid are there, or neither. */
static void check_shown(const struct scene *scene, pid_t pid, bool shown, const char *name)
{
	size_t nr_execs = nr_records(scene, "exec", pid), nr_exits = nr_records(scene, "exit", pid);
	char check[128];

	snprintf(check, sizeof(check), "filter: %s is %s", name, shown ? "recorded" : "left out");
	test__check(nr_execs == shown && nr_exits == shown, check,
		    "expected %d of each, saw %zu exec and %zu exit records", shown, nr_execs,
		    nr_exits);
}

/* Nothing but what was asked for is recorded, and the rest is counted. */
static void check_counted(const struct scene *scene, uint64_t recorded, uint64_t least_filtered,
			  const char *name)
{
	const struct json_value *account = records__account(&scene->records);
	static const char *const kinds[] = { "exec", "exit" };
	char check[128];

	check_exact(account, name);
	for (size_t i = 0; i < 2; i++) {
		snprintf(check, sizeof(check), "%s: %s: recorded is what is inside", name,
			 kinds[i]);
		test__equal(check, (uint64_t)account__term(account, kinds[i], "recorded"),
			    recorded);
		snprintf(check, sizeof(check), "%s: %s: what is outside is filtered", name,
			 kinds[i]);
		test__check(account__term(account, kinds[i], "filtered") >= (int64_t)least_filtered,
			    check, "expected at least %" PRIu64 ", saw %" PRId64, least_filtered,
			    account__term(account, kinds[i], "filtered"));
	}
}

/* A child that waits before it executes, so that its id can be given to the tool. */
static pid_t start_waiting(struct gate *gate)
{
	gate__make(gate);
	return workload__start(&(struct workload){ .program = inside, .gate = gate });
}

static pid_t run_program(const char *program)
{
	pid_t pid;

	if (workload__spawn(program, &pid))
		test__fatal("workload", "%s failed", program);
	return pid;
}

/* How many lines of text hold word. */
static unsigned int lines_with(const char *text, const char *word)
{
	unsigned int nr = 0;

	while (*text) {
		const char *end = strchrnul(text, '\n');

		nr += memmem(text, (size_t)(end - text), word, strlen(word)) != NULL;
		text = *end ? end + 1 : end;
	}
	return nr;
}

/* A pid that has ended by the end of the run is said once more than one that lives. */
static void check_vanished(const char *text, pid_t gone, pid_t kept)
{
	char gone_word[16], kept_word[16];

	snprintf(gone_word, sizeof(gone_word), "%d", gone);
	snprintf(kept_word, sizeof(kept_word), "%d", kept);
	test__check(lines_with(text, gone_word) == lines_with(text, kept_word) + 1,
		    "filter: a pid that vanished is said at the end, one that lives is not",
		    "stderr: %s", text);
}

static void check_ids(const char *option, const char *name)
{
	struct gate first_gate, second_gate, kept_gate;
	pid_t first = start_waiting(&first_gate), second = start_waiting(&second_gate);
	pid_t kept = start_waiting(&kept_gate), other;
	char list[64], last[16], check[128];
	struct scene scene;

	snprintf(list, sizeof(list), "%d,%d", first, second);
	snprintf(last, sizeof(last), "%d", kept);
	scene__begin(&scene, ARGS("-j", "-e", option, list, option, last));
	other = run_program(outside);
	gate__open(&first_gate);
	gate__open(&second_gate);
	workload__wait(first, NULL);
	workload__wait(second, NULL);
	scene__end(&scene);
	gate__open(&kept_gate);
	workload__wait(kept, NULL);
	snprintf(check, sizeof(check), "the first of a list of %s", name);
	check_shown(&scene, first, true, check);
	snprintf(check, sizeof(check), "the second of a list of %s", name);
	check_shown(&scene, second, true, check);
	snprintf(check, sizeof(check), "one that is not in the list of %s", name);
	check_shown(&scene, other, false, check);
	check_counted(&scene, 2, 1, name);
	check_vanished(scene.run.err, first, kept);
	scene__free(&scene);
}

static void check_comm(void)
{
	char glob[32], set[32];
	struct scene scene;
	pid_t in, out, partial;

	/* The exec has the new name: the filter asks about the program, not about its starter. */
	snprintf(glob, sizeof(glob), "ins*%d", getpid());
	scene__begin(&scene, ARGS("-j", "-e", "--comm", glob));
	in = run_program(inside);
	out = run_program(outside);
	scene__end(&scene);
	check_shown(&scene, in, true, "a comm that matches the glob");
	check_shown(&scene, out, false, "a comm that does not match the glob");
	check_counted(&scene, 1, 1, "comm");
	scene__free(&scene);

	snprintf(set, sizeof(set), "[a-o]?[!x]*.%d", getpid());
	scene__begin(&scene, ARGS("-j", "-e", "--comm", set, "--comm", "parti", "--comm",
				  file_name(outside)));
	in = run_program(inside);
	partial = run_program(workload__own_program("partial"));
	out = run_program(outside);
	scene__end(&scene);
	check_shown(&scene, in, true, "a comm that matches sets and ?");
	check_shown(&scene, out, true, "a comm of another --comm");
	check_shown(&scene, partial, false, "a comm of which the glob is a part");
	scene__free(&scene);
}

static pid_t run_as(unsigned int user, const char *program)
{
	const struct workload workload = {
		.program = program,
		.prepare = become_user,
		.ctx = &user,
	};
	pid_t pid = workload__start(&workload);

	if (workload__wait(pid, NULL))
		test__fatal("workload", "cannot run as user %u", user);
	return pid;
}

static bool has_user(const char *line)
{
	char *passwd = file__read("/etc/passwd", NULL);
	bool found = passwd && strstr(passwd, line);

	free(passwd);
	return found;
}

/* By name where the machine has names, and by number. */
static void check_users(void)
{
	static const char by_name[] = "filter: users by name";
	bool has_names = has_user("root:x:0:") && has_user("\nnobody:x:65534:");
	struct scene scene;
	pid_t first, second, out;

	if (!has_names)
		test__skip(by_name, "/etc/passwd has not both root as 0 and nobody as 65534");
	scene__begin(&scene, ARGS("-j", "-e", "-u", has_names ? "nobody" : "65534", "--uid", "1",
				  "--comm", file_name(inside)));
	first = run_as(NOBODY, inside);
	second = run_as(1, inside);
	out = run_as(0, inside);
	scene__end(&scene);
	check_shown(&scene, first, true, "a process of the first user");
	check_shown(&scene, second, true, "a process of the second user");
	check_shown(&scene, out, false, "a process of root");
	check_counted(&scene, 2, 1, "users");
	scene__free(&scene);

	/* Peers take user 0 for "no filter". */
	scene__begin(&scene,
		     ARGS("-j", "-e", "-u", has_names ? "root" : "0", "--comm", file_name(inside)));
	first = run_as(0, inside);
	out = run_as(NOBODY, inside);
	scene__end(&scene);
	check_shown(&scene, first, true, "a process of root when root is asked for");
	check_shown(&scene, out, false, "a process of nobody when root is asked for");
	check_counted(&scene, 1, 1, "root");
	scene__free(&scene);
}

static void check_parent(void)
{
	char role[1024], parent_word[16];
	struct gate gate;
	const struct workload workload = {
		.program = outside,
		.role = role,
		.gate = &gate,
	};
	struct scene scene;
	size_t index = 0;
	const struct json_value *record;
	pid_t parent, other;
	unsigned int nr_wrong = 0;

	snprintf(role, sizeof(role), "spawn 3 %s", inside);
	gate__make(&gate);
	parent = workload__start(&workload);
	snprintf(parent_word, sizeof(parent_word), "%d", parent);
	scene__begin(&scene, ARGS("-j", "-e", "--ppid", parent_word));
	other = run_program(inside);
	gate__open(&gate);
	workload__wait(parent, NULL);
	scene__end(&scene);
	check_shown(&scene, other, false, "a child of another parent");
	check_shown(&scene, parent, false, "the parent itself");
	while ((record = records__next(&scene.records, "exec", 0, &index)))
		nr_wrong += record__number(record, "ppid") != parent;
	test__equal("filter: no exec of another parent", nr_wrong, 0);
	check_counted(&scene, 3, 1, "ppid");
	scene__free(&scene);
}

/* Two kinds of filter: an event must pass both. */
static void check_both(void)
{
	struct scene scene;
	pid_t both, one, other;
	char parent_word[16];

	snprintf(parent_word, sizeof(parent_word), "%d", getpid());
	scene__begin(&scene, ARGS("-j", "-e", "-P", parent_word, "--uid", "65534", "--comm",
				  file_name(inside)));
	both = run_as(NOBODY, inside);
	one = run_as(NOBODY, outside);
	other = run_as(0, inside);
	scene__end(&scene);
	check_shown(&scene, both, true, "one that passes all filters");
	check_shown(&scene, one, false, "one that passes but the comm");
	check_shown(&scene, other, false, "one that passes but the user");
	check_counted(&scene, 1, 2, "filters together");
	scene__free(&scene);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	inside = workload__own_program("inside");
	outside = workload__own_program("outside");
	check_ids("-p", "pids");
	check_ids("--tid", "tids");
	check_comm();
	check_users();
	check_parent();
	check_both();
	return test__done();
}
