// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/filter.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "output/buffer.h"
#include "run/cgroup.h"
#include "run/log.h"
#include "run/number.h"

static const char *const kind_names[FILTER_NR_KINDS] = {
	[FILTER_PID] = "pid", [FILTER_TID] = "tid",	  [FILTER_PPID] = "ppid",
	[FILTER_UID] = "uid", [FILTER_CGROUP] = "cgroup",
};

/* Makes room for one more item; a list grows when its length is a power of two. 0 or -ENOMEM. */
static int grow(void **items, size_t nr, size_t item_size)
{
	void *grown;

	if (nr & (nr - 1))
		return 0;
	grown = reallocarray(*items, nr ? 2 * nr : 1, item_size);
	if (!grown)
		return -ENOMEM;
	*items = grown;
	return 0;
}

int number_list__add(struct number_list *list, uint64_t number)
{
	void *items = list->items;
	int err = grow(&items, list->nr, sizeof(*list->items));

	if (err)
		return err;
	list->items = items;
	list->items[list->nr++] = number;
	return 0;
}

void number_list__free(struct number_list *list)
{
	free(list->items);
	*list = (struct number_list){};
}

int word_list__add(struct word_list *list, const char *word)
{
	void *items = list->items;
	int err = grow(&items, list->nr, sizeof(*list->items));

	if (err)
		return err;
	list->items = items;
	list->items[list->nr++] = word;
	return 0;
}

void word_list__free(struct word_list *list)
{
	free(list->items);
	*list = (struct word_list){};
}

int task_filter__add_comm(struct task_filter *filter, const char *word)
{
	int err = glob__add(&filter->globs, word);

	if (err)
		return err;
	filter->has_globs = true;
	return word_list__add(&filter->comms, word);
}

/* The process that a thread belongs to, from /proc/TID/status. 0 or -errno. */
static int process_of(uint64_t tid, uint64_t *pid)
{
	char path[48], line[128];
	int err = -EBADMSG;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%llu/status", (unsigned long long)tid);
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (err && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "Tgid:\t", strlen("Tgid:\t")))
			continue;
		line[strcspn(line, "\n")] = '\0';
		err = number__parse(line + strlen("Tgid:\t"), 1, UINT32_MAX, pid);
		break;
	}
	fclose(file);
	return err;
}

/* The command name of a process, or "?" when it has just ended. */
static void read_comm(uint64_t pid, char *comm, size_t size)
{
	char path[48];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%llu/comm", (unsigned long long)pid);
	snprintf(comm, size, "?");
	file = fopen(path, "re");
	if (!file)
		return;
	if (fgets(comm, (int)size, file))
		comm[strcspn(comm, "\n")] = '\0';
	fclose(file);
}

/* include/linux/proc_ns.h: the inode of the initial PID namespace. */
#define INITIAL_PID_NAMESPACE 0xEFFFFFFCUL

/* The kernel side compares ids of the initial PID namespace: those of another one would
 * name other tasks. what: that cannot be done there. */
static int check_pid_namespace(const char *what)
{
	struct stat status;

	if (stat("/proc/self/ns/pid", &status) || status.st_ino == INITIAL_PID_NAMESPACE)
		return 0;
	return log_error_because(EXDEV, "this process is in a PID namespace of its own",
				 "Run it in the initial one (as with --pid=host), or filter by "
				 "command name or cgroup.",
				 "cannot %s", what);
}

static int resolve_task(enum filter_key_kind kind, uint64_t id)
{
	const char *name = kind_names[kind];
	uint64_t process;
	char comm[64], cause[160], hint[96];
	int err;

	err = process_of(id, &process);
	if (err == -ENOENT && access("/proc/self", F_OK))
		return log_error_because(err, "/proc is not mounted", "Mount it.",
					 "cannot filter by %s %llu", name, (unsigned long long)id);
	if (err == -ENOENT || err == -ESRCH)
		return log_error_because(
			ESRCH,
			kind == FILTER_TID ? "there is no such thread" : "there is no such process",
			NULL, "cannot filter by %s %llu", name, (unsigned long long)id);
	if (err)
		return log_error(err, NULL, "cannot read the process of %s %llu", name,
				 (unsigned long long)id);
	if (kind == FILTER_TID || process == id)
		return 0;
	read_comm(process, comm, sizeof(comm));
	snprintf(cause, sizeof(cause), "it is a thread of process %llu (%s)",
		 (unsigned long long)process, comm);
	snprintf(hint, sizeof(hint), "Give %llu for the process%s.", (unsigned long long)process,
		 kind == FILTER_PID ? ", or --tid for the thread alone" : "");
	return log_error_because(ESRCH, cause, hint, "cannot filter by %s %llu", name,
				 (unsigned long long)id);
}

int task_filter__resolve(struct task_filter *filter)
{
	static const enum filter_key_kind tasks[] = { FILTER_PID, FILTER_TID, FILTER_PPID };
	struct number_list *groups = &filter->wanted[FILTER_CGROUP];
	uint64_t id;
	int err;

	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		const struct number_list *wanted = &filter->wanted[tasks[i]];

		err = wanted->nr ? check_pid_namespace("tell which tasks the ids mean") : 0;
		if (err)
			return err;
		for (size_t j = 0; j < wanted->nr; j++) {
			err = resolve_task(tasks[i], wanted->items[j]);
			if (err)
				return err;
		}
	}
	err = filter->roots.nr ? check_pid_namespace("follow a process and its descendants") : 0;
	for (size_t i = 0; !err && i < filter->roots.nr; i++)
		err = resolve_task(FILTER_PID, filter->roots.items[i]);
	if (err)
		return err;
	filter->nr_trees = filter->roots.nr;
	number_list__free(groups);
	for (size_t i = 0; i < filter->cgroups.nr; i++) {
		err = cgroup__find(filter->cgroups.items[i], &id);
		if (err)
			return err;
		err = number_list__add(groups, id);
		if (err)
			return log_error(err, NULL, "cannot keep the list of cgroups");
	}
	return 0;
}

int task_filter__add_root(struct task_filter *filter, uint64_t pid)
{
	int err = check_pid_namespace("follow a process and its descendants");

	if (err)
		return err;
	err = number_list__add(&filter->roots, pid);
	return err ? log_error(err, NULL, "cannot keep a process to follow") : 0;
}

int task_filter__configure(const struct task_filter *filter, struct filter_config *config,
			   struct bpf_map *values, struct bpf_map *tree)
{
	size_t total = 0;
	int err;

	for (int kind = 0; kind < FILTER_NR_KINDS; kind++) {
		config->nr[kind] = (__u32)filter->wanted[kind].nr;
		total += filter->wanted[kind].nr;
	}
	config->has_tree = filter->roots.nr > 0;
	config->has_trees = filter->nr_trees > 0;
	config->has_globs = filter->has_globs;
	config->globs = filter->globs;
	config->has_any = config->has_tree || config->has_globs;
	for (int kind = 0; kind < FILTER_NR_KINDS; kind++)
		config->has_any = config->has_any || config->nr[kind];
	if (filter->wanted[FILTER_PID].nr == 1)
		config->only_pid = filter->wanted[FILTER_PID].items[0];
	err = bpf_map__set_max_entries(values, total ? (__u32)total : 1);
	if (!err)
		err = bpf_map__set_max_entries(tree, config->has_tree ? FILTER_TREE_MAX : 1);
	if (err)
		return log_error(err, NULL, "cannot size the tables of the task filter");
	return 0;
}

int task_filter__fill(const struct task_filter *filter, struct bpf_map *values)
{
	__u8 wanted = 1;
	int err;

	for (__u32 kind = 0; kind < FILTER_NR_KINDS; kind++) {
		for (size_t i = 0; i < filter->wanted[kind].nr; i++) {
			struct filter_key key = {
				.kind = kind,
				.value = filter->wanted[kind].items[i],
			};

			err = bpf_map__update_elem(values, &key, sizeof(key), &wanted,
						   sizeof(wanted), BPF_ANY);
			if (err)
				return log_error(err, NULL,
						 "cannot fill the table of the task filter");
		}
	}
	return 0;
}

int task_filter__follow(const struct task_filter *filter, struct bpf_map *tree)
{
	__u64 fork_ns = FILTER_TREE_ANY_FORK;
	int err;

	for (size_t i = 0; i < filter->roots.nr; i++) {
		__u32 pid = (__u32)filter->roots.items[i];

		err = bpf_map__update_elem(tree, &pid, sizeof(pid), &fork_ns, sizeof(fork_ns),
					   BPF_ANY);
		if (err)
			return log_error(err, NULL, "cannot follow process %u", pid);
	}
	return 0;
}

/* One line of parts joined by ", ". */
struct line {
	char *text;
	size_t size;
	size_t length; /* size - 1 when it is full */
};

static void __attribute__((format(printf, 2, 3)))
line__add(struct line *line, const char *format, ...)
{
	size_t room = line->size - line->length;
	va_list args;
	int length;

	if (line->length && room > 1) {
		length = snprintf(line->text + line->length, room, ", ");
		line->length += (size_t)length < room ? (size_t)length : room - 1;
		room = line->size - line->length;
	}
	va_start(args, format);
	length = vsnprintf(line->text + line->length, room, format, args);
	va_end(args);
	if (length >= 0 && (size_t)length < room) {
		line->length += (size_t)length;
		return;
	}
	line->length = line->size - 1;
	memcpy(line->text + line->length - 3, "...", 4);
}

void task_filter__report_vanished(const struct task_filter *filter)
{
	static const enum filter_key_kind tasks[] = { FILTER_PID, FILTER_TID };
	struct buffer text = {};

	/* kill() and not /proc, which may hide tasks from a process that has given up root. */
	for (size_t i = 0; i < sizeof(tasks) / sizeof(tasks[0]); i++) {
		const struct number_list *wanted = &filter->wanted[tasks[i]];

		for (size_t j = 0; j < wanted->nr; j++)
			if (kill((pid_t)wanted->items[j], 0) && errno == ESRCH)
				buffer__printf(&text, "%s%s %llu", text.size ? ", " : "",
					       kind_names[tasks[i]],
					       (unsigned long long)wanted->items[j]);
	}
	if (text.err)
		log_warning(NULL, "some of the tasks that were named have ended");
	else if (text.size)
		log_warning(NULL, "ended before the run did: %.*s", (int)text.size, text.data);
	buffer__free(&text);
}

void task_filter__describe(const struct task_filter *filter, char *text, size_t size)
{
	struct line line = { .text = text, .size = size };

	text[0] = '\0';
	for (int kind = 0; kind < FILTER_CGROUP; kind++)
		for (size_t i = 0; i < filter->wanted[kind].nr; i++)
			line__add(&line, "%s %llu", kind_names[kind],
				  (unsigned long long)filter->wanted[kind].items[i]);
	for (size_t i = 0; i < filter->cgroups.nr; i++)
		line__add(&line, "cgroup %s", filter->cgroups.items[i]);
	for (size_t i = 0; i < filter->comms.nr; i++)
		line__add(&line, "comm %s", filter->comms.items[i]);
	for (size_t i = 0; i < filter->roots.nr; i++)
		line__add(&line, "process %llu and its descendants",
			  (unsigned long long)filter->roots.items[i]);
}

void task_filter__free(struct task_filter *filter)
{
	for (int kind = 0; kind < FILTER_NR_KINDS; kind++)
		number_list__free(&filter->wanted[kind]);
	number_list__free(&filter->roots);
	word_list__free(&filter->cgroups);
	word_list__free(&filter->comms);
	*filter = (struct task_filter){};
}
