// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "event.h"

#include <stdlib.h>
#include <string.h>

#include "output/sink.h"

struct exec_event exec_event__parse(const struct execsnoop_exec *exec)
{
	struct exec_event event = {
		.process = exec->process,
		.ret = exec->ret,
		.args = { exec->data + exec->args_offset, exec->args_size },
		.args_cut = exec->args_cut == EXECSNOOP_CUT_UNKNOWN ? WORDS_CUT_UNKNOWN :
								      exec->args_cut,
	};

	if (exec->filename_size)
		event.filename = (struct text){ exec->data, exec->filename_size - 1 };
	if (exec->unreadable_offset)
		event.unreadable = (const uint64_t *)(exec->data + exec->unreadable_offset);
	if (exec->env_size)
		event.env = (struct text){ event.args.data + exec->args_size, exec->env_size };
	if (exec->context_offset) {
		const struct execsnoop_context *context =
			(const struct execsnoop_context *)(exec->data + exec->context_offset);

		event.ancestors = context->ancestors;
		while (event.nr_ancestors < context->nr_ancestors &&
		       event.ancestors[event.nr_ancestors].pid)
			event.nr_ancestors++;
		event.cwd_end = context->cwd_end;
		event.cwd = (struct text){ context->cwd, context->cwd_size };
	}
	return event;
}

/* The variable of this name, with its NUL; data NULL: there is none. The first one counts, as for
 * getenv(3). */
static struct text env__find(struct text env, const char *name)
{
	size_t name_size = strlen(name), size;

	for (size_t at = 0; at < env.size; at += size) {
		const char *variable = env.data + at;

		size = strnlen(variable, env.size - at);
		if (at + size < env.size)
			size++;
		if (size > name_size && variable[name_size] == '=' &&
		    !memcmp(variable, name, name_size))
			return (struct text){ variable, size };
	}
	return (struct text){};
}

void exec_event__pick_env(struct exec_event *event, const char *const *names, size_t nr_names,
			  char *data)
{
	size_t used = 0;

	for (size_t i = 0; i < nr_names; i++) {
		struct text variable = env__find(event->env, names[i]);

		if (!variable.data || used + variable.size > event->env.size)
			continue;
		memcpy(data + used, variable.data, variable.size);
		used += variable.size;
	}
	event->env = (struct text){ data, used };
}

/* Leaves the first size bytes of arguments. */
static void exec_event__cut(struct exec_event *event, size_t size)
{
	if (event->args_cut != WORDS_CUT_UNKNOWN)
		event->args_cut += event->args.size - size;
	event->args.size = size;
}

void exec_event__cut_args(struct exec_event *event, uint64_t most)
{
	size_t size = 0;

	for (uint64_t i = 0; i < most && size < event->args.size; i++) {
		size += strnlen(event->args.data + size, event->args.size - size);
		if (size < event->args.size)
			size++;
	}
	exec_event__cut(event, size);
}

void exec_event__cut_bytes(struct exec_event *event, uint64_t most)
{
	if (most < event->args.size)
		exec_event__cut(event, most);
}

char *exec_event__line(const struct exec_event *event)
{
	size_t size = event->args.size;
	char *line = malloc(size + 1);

	if (!line)
		return NULL;
	memcpy(line, event->args.data, size);
	line[size] = '\0';
	if (size && !line[size - 1])
		size--;
	for (size_t i = 0; i < size; i++)
		if (!line[i])
			line[i] = ' ';
	return line;
}

size_t exec_event__unreadable(const struct exec_event *event,
			      uint64_t indices[EXECSNOOP_FAILED_ARGS_MAX])
{
	size_t nr = 0, at = 0;

	for (size_t i = 0; event->unreadable && at < event->args.size; i++) {
		if (i < EXECSNOOP_FAILED_ARGS_MAX && event->unreadable[i / 64] >> i % 64 & 1)
			indices[nr++] = i;
		at += strnlen(event->args.data + at, event->args.size - at) + 1;
	}
	return nr;
}

size_t exec_event__cwd(const struct exec_event *event, char path[CWD_PATH_MAX])
{
	static const char *const beginnings[] = {
		[EXECSNOOP_CWD_WHOLE] = "",
		[EXECSNOOP_CWD_CUT] = "…",
		[EXECSNOOP_CWD_UNREACHABLE] = "(unreachable)",
	};
	enum execsnoop_cwd_end end = event->cwd_end;
	size_t left = event->cwd.size, used;

	if (end == EXECSNOOP_CWD_UNKNOWN)
		return 0;
	/* A name that has no end is cut. */
	while (left && event->cwd.data[left - 1]) {
		left--;
		end = EXECSNOOP_CWD_CUT;
	}
	used = strlen(beginnings[end]);
	memcpy(path, beginnings[end], used);
	if (!left)
		path[used++] = '/';
	while (left) {
		const char *before = memrchr(event->cwd.data, '\0', left - 1);
		size_t begin = before ? before + 1 - event->cwd.data : 0;

		path[used++] = '/';
		memcpy(path + used, event->cwd.data + begin, left - 1 - begin);
		used += left - 1 - begin;
		left = begin;
	}
	return used;
}

struct text path__name(struct text path)
{
	const char *slash = path.data ? memrchr(path.data, '/', path.size) : NULL;

	if (!slash)
		return path;
	return (struct text){ slash + 1, path.data + path.size - slash - 1 };
}

/* Copies a part behind the others. */
static void text__move(struct text *text, char **to)
{
	if (!text->data)
		return;
	memcpy(*to, text->data, text->size);
	text->data = *to;
	*to += text->size;
}

struct exec_event *exec_event__copy(const struct exec_event *event)
{
	size_t ancestors_size = event->nr_ancestors * sizeof(*event->ancestors);
	struct exec_event *copy = malloc(sizeof(*copy) + ancestors_size + event->filename.size +
					 event->args.size + event->env.size + event->cwd.size);
	char *to = (char *)(copy + 1);

	if (!copy)
		return NULL;
	*copy = *event;
	if (ancestors_size)
		copy->ancestors = memcpy(to, event->ancestors, ancestors_size);
	to += ancestors_size;
	text__move(&copy->filename, &to);
	text__move(&copy->args, &to);
	text__move(&copy->env, &to);
	text__move(&copy->cwd, &to);
	return copy;
}
