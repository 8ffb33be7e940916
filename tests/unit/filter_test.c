// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/magic.h>

#include "run/filter.h"
#include "run/log.h"
#include "test.h"

static char said[512]; /* the last message: level, message, cause, hint */

static void hear(const struct log_message *message)
{
	snprintf(said, sizeof(said), "%s|%s|%s|%s",
		 message->level == LOG_ERROR ? "error" : "warning", message->message,
		 message->cause ? message->cause : "", message->hint ? message->hint : "");
}

static void check_said(const char *name, const char *part)
{
	test__check(strstr(said, part), name, "expected \"%s\" in \"%s\"", part, said);
}

static void check_lists(void)
{
	struct number_list numbers = {};
	struct word_list words = {};
	bool same = true;

	for (uint64_t i = 0; i < 1000; i++)
		same = same && !number_list__add(&numbers, i * i) &&
		       !word_list__add(&words, i % 2 ? "odd" : "even");
	for (uint64_t i = 0; i < 1000; i++)
		same = same && numbers.items[i] == i * i && (words.items[i][0] == 'o') == i % 2;
	test__check(same && numbers.nr == 1000 && words.nr == 1000, "lists keep what was added",
		    "saw %zu numbers and %zu words", numbers.nr, words.nr);
	number_list__free(&numbers);
	word_list__free(&words);
	test__check(!numbers.items && !numbers.nr && !words.items && !words.nr,
		    "a freed list is empty", "it is not");
}

static void check_user(const char *word, int err, uint32_t uid)
{
	uint32_t found = 12345;
	char name[64];
	int seen = user__find(word, &found);

	snprintf(name, sizeof(name), "user \"%s\"", word);
	test__check(seen == err && found == (err ? 12345 : uid), name,
		    "expected %d and %u, saw %d and %u", err, uid, seen, found);
}

static void check_users(void)
{
	check_user("root", 0, 0);
	check_user("0", 0, 0);
	check_user("1000", 0, 1000);
	check_user("4294967294", 0, 4294967294);
	check_user("4294967295", -ERANGE, 0);
	check_user("99999999999999999999", -ERANGE, 0);
	check_user("nosuchuser", -ENOENT, 0);
	check_user("roo", -ENOENT, 0);
	check_user("root:x", -ENOENT, 0);
	check_user("ROOT", -ENOENT, 0);
	check_user("-1", -ENOENT, 0);
	check_user("0x0", -ENOENT, 0);
}

/* Resolves a filter with one number. */
static int resolve(enum filter_key_kind kind, uint64_t number)
{
	struct task_filter filter = {};
	int err = number_list__add(&filter.wanted[kind], number);

	said[0] = '\0';
	if (!err)
		err = task_filter__resolve(&filter);
	task_filter__free(&filter);
	return err;
}

/* The id of a process that has ended and been waited for. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

struct thread {
	pthread_barrier_t barrier;
	pid_t tid;
};

static void *be_a_thread(void *arg)
{
	struct thread *thread = arg;

	thread->tid = gettid();
	pthread_barrier_wait(&thread->barrier);
	pthread_barrier_wait(&thread->barrier);
	return NULL;
}

static void check_thread(void)
{
	struct thread thread;
	pthread_t id;
	char text[128];

	pthread_barrier_init(&thread.barrier, NULL, 2);
	if (pthread_create(&id, NULL, be_a_thread, &thread)) {
		test__check(false, "a second thread", "it could not be started");
		return;
	}
	pthread_barrier_wait(&thread.barrier);
	test__equal("a thread is found as tid",
		    (uint64_t)-resolve(FILTER_TID, (uint64_t)thread.tid), 0);
	test__equal("a thread is no pid", (uint64_t)-resolve(FILTER_PID, (uint64_t)thread.tid),
		    ESRCH);
	snprintf(text, sizeof(text), "filter by pid %d|it is a thread of process %d (%.15s)",
		 thread.tid, getpid(), program_invocation_short_name);
	check_said("which is said, with its process", text);
	snprintf(text, sizeof(text), "Give %d", getpid());
	check_said("and what to give instead", text);
	test__equal("nor is it a ppid", (uint64_t)-resolve(FILTER_PPID, (uint64_t)thread.tid),
		    ESRCH);
	pthread_barrier_wait(&thread.barrier);
	pthread_join(id, NULL);
	pthread_barrier_destroy(&thread.barrier);
}

static void check_tasks(void)
{
	static const enum filter_key_kind kinds[] = { FILTER_PID, FILTER_TID, FILTER_PPID };
	pid_t dead = dead_pid();
	char text[32];

	snprintf(text, sizeof(text), "%d", dead);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		test__equal("a living process is found",
			    (uint64_t)-resolve(kinds[i], (uint64_t)getpid()), 0);
		test__same("and nothing is said", said, "");
		test__equal("a dead one is not", (uint64_t)-resolve(kinds[i], (uint64_t)dead),
			    ESRCH);
		check_said("and its id is said", text);
		test__equal("an id above all is not", (uint64_t)-resolve(kinds[i], 4194304), ESRCH);
		check_said("and this id is said too", "4194304");
	}
	test__equal("a uid needs no process", (uint64_t)-resolve(FILTER_UID, 4000000), 0);
}

static void check_vanished(void)
{
	struct task_filter filter = {};
	pid_t dead = dead_pid();
	char text[64];

	said[0] = '\0';
	number_list__add(&filter.wanted[FILTER_PID], (uint64_t)getpid());
	number_list__add(&filter.wanted[FILTER_TID], (uint64_t)getpid());
	number_list__add(&filter.wanted[FILTER_UID], (uint64_t)dead);
	task_filter__report_vanished(&filter);
	test__same("no living task is reported as ended", said, "");
	number_list__add(&filter.wanted[FILTER_PID], (uint64_t)dead);
	number_list__add(&filter.wanted[FILTER_TID], (uint64_t)dead);
	task_filter__report_vanished(&filter);
	snprintf(text, sizeof(text), "warning|ended before the run did: pid %d, tid %d||", dead,
		 dead);
	test__same("ended tasks are reported", said, text);
	task_filter__free(&filter);
}

static void check_describe(void)
{
	struct task_filter filter = {};
	char text[128];

	task_filter__describe(&filter, text, sizeof(text));
	test__same("an empty filter has no limits", text, "");
	task_filter__add_comm(&filter, "nginx*");
	task_filter__add_comm(&filter, "[a-c]\\*");
	number_list__add(&filter.wanted[FILTER_PID], 12);
	number_list__add(&filter.wanted[FILTER_PID], 13);
	number_list__add(&filter.wanted[FILTER_TID], 14);
	number_list__add(&filter.wanted[FILTER_PPID], 1);
	number_list__add(&filter.wanted[FILTER_UID], 0);
	word_list__add(&filter.cgroups, "/user.slice");
	task_filter__describe(&filter, text, sizeof(text));
	test__same("every limit is described", text,
		   "pid 12, pid 13, tid 14, ppid 1, uid 0, cgroup /user.slice, comm nginx*, "
		   "comm [a-c]\\*");
	test__equal("globs are in the automaton", glob__matches(&filter.globs, "b*", 15), 1);
	test__check(filter.has_globs, "and it is known", "has_globs is false");
	for (size_t size = 4; size < strlen(text) + 1; size++) {
		char part[128];

		memset(part, '#', sizeof(part));
		task_filter__describe(&filter, part, size);
		if (strlen(part) != size - 1 || strncmp(part, text, size - 4) ||
		    strcmp(part + size - 4, "...") || part[size] != '#')
			test__check(false, "a cut description ends with ...", "saw \"%s\" of %zu",
				    part, size);
	}
	task_filter__free(&filter);
	task_filter__describe(&filter, text, sizeof(text));
	test__same("a freed filter is empty", text, "");
}

/* Resolves a filter with one cgroup; *id is what it was resolved to. */
static int resolve_cgroup(const char *word, uint64_t *id)
{
	struct task_filter filter = {};
	int err = word_list__add(&filter.cgroups, word);

	said[0] = '\0';
	*id = 0;
	if (!err)
		err = task_filter__resolve(&filter);
	if (!err && filter.wanted[FILTER_CGROUP].nr == 1)
		*id = filter.wanted[FILTER_CGROUP].items[0];
	task_filter__free(&filter);
	return err;
}

/* The first mount point of a file system in /proc/self/mounts, or NULL. */
static const char *mount_of(const char *type)
{
	static char point[256], seen[64];
	FILE *file = fopen("/proc/self/mounts", "r");
	bool found = false;

	while (file && !found && fscanf(file, "%*s %255s %63s%*[^\n]", point, seen) == 2)
		found = !strcmp(seen, type);
	if (file)
		fclose(file);
	return found ? point : NULL;
}

static void check_no_cgroup(void)
{
	uint64_t id;

	test__equal("a group that is not there", (uint64_t)-resolve_cgroup("/nonexistent", &id),
		    ENOENT);
	check_said("is said with its word", "'/nonexistent'");
	test__equal("a path outside of cgroup2", (uint64_t)-resolve_cgroup("/proc", &id), EXDEV);
	check_said("is said with its word and why", "'/proc'|it is no directory of the cgroup2");
	test__equal("an id that no group has",
		    (uint64_t)-resolve_cgroup("18446744073709551615", &id), ENOENT);
	check_said("is said with the id", "18446744073709551615|no group of cgroup2 has this id");
	test__equal("0 is no id", (uint64_t)-resolve_cgroup("0", &id), ERANGE);
	check_said("and is said", "cgroup 0|");
}

static void check_v1(void)
{
	const char *point = mount_of("cgroup");
	uint64_t id;

	/* A machine without cgroup v1 has no such path. */
	if (!point)
		return;
	test__equal("a group of cgroup v1 is refused", (uint64_t)-resolve_cgroup(point, &id),
		    EXDEV);
	check_said("and the version is said", "it is a group of cgroup v1");
}

static void check_group(const char *point, const char *name)
{
	char path[512], word[128];
	uint64_t id, expected;
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", point, name);
	if (stat(path, &st)) {
		test__check(false, "a group of its own", "%s", strerror(errno));
		return;
	}
	expected = st.st_ino;
	resolve_cgroup(path, &id);
	test__equal("a group by its whole path", id, expected);
	resolve_cgroup(name, &id);
	test__equal("a group by its path below the mount", id, expected);
	snprintf(word, sizeof(word), "/%s", name);
	resolve_cgroup(word, &id);
	test__equal("a group by its path from the root of cgroup2", id, expected);
	snprintf(word, sizeof(word), "%" PRIu64, expected);
	resolve_cgroup(word, &id);
	test__equal("a group by its id", id, expected);
	snprintf(path, sizeof(path), "%s/cgroup.procs", name);
	test__equal("a file is no group", (uint64_t)-resolve_cgroup(path, &id), ENOTDIR);
}

static void check_cgroups(void)
{
	const char *point = mount_of("cgroup2");
	char outer[300], inner[320], name[80];
	struct stat st;
	uint64_t id;

	if (!point) {
		test__equal("without cgroup2 no group is found",
			    (uint64_t)-resolve_cgroup("/x", &id), ENOENT);
		check_said("and that is said", "'/x'|no cgroup2 hierarchy is mounted");
		return;
	}
	check_no_cgroup();
	test__equal("the root by its path", (uint64_t)-resolve_cgroup("/", &id), 0);
	test__check(!stat(point, &st) && id == st.st_ino, "gives its id", "saw %" PRIu64, id);
	snprintf(name, sizeof(name), "%" PRIu64, id);
	test__equal("the root by its id", (uint64_t)-resolve_cgroup(name, &id), 0);

	snprintf(outer, sizeof(outer), "%s/vantage-test-%d", point, getpid());
	snprintf(inner, sizeof(inner), "%s/a b", outer);
	snprintf(name, sizeof(name), "vantage-test-%d/a b", getpid());
	/* Who may not make a group looks for the root by the empty name. */
	if (mkdir(outer, 0755) || mkdir(inner, 0755))
		name[0] = '\0';
	check_group(point, name);
	rmdir(inner);
	rmdir(outer);
}

int main(void)
{
	log__init("filter_test");
	log__set_writer(hear);
	check_lists();
	check_users();
	check_tasks();
	check_thread();
	check_vanished();
	check_describe();
	check_v1();
	check_cgroups();
	return test__done();
}
