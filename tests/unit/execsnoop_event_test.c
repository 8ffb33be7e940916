// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "execsnoop/event.h"
#include "output/sink.h"
#include "test.h"

static struct exec_event with_args(const char *args, size_t size)
{
	return (struct exec_event){ .args = { args, size } };
}

static void test_parse(void)
{
	static union {
		struct execsnoop_exec exec;
		char room[sizeof(struct execsnoop_exec) + 64];
	} record;
	struct exec_event event;

	memcpy(record.exec.data, "/bin/a", 7);
	memcpy(record.exec.data + 16, "a\0b", 4);
	record.exec.filename_size = 7;
	record.exec.args_offset = 16;
	record.exec.args_size = 4;
	record.exec.args_cut = 5;
	event = exec_event__parse(&record.exec);
	test__same_bytes("parse: filename without its NUL", event.filename.data,
			 event.filename.size, "/bin/a", 6);
	test__same_bytes("parse: arguments", event.args.data, event.args.size, "a\0b", 4);
	test__equal("parse: bytes left out", event.args_cut, 5);
	test__check(!event.unreadable, "parse: all was readable", "it says otherwise");

	record.exec.filename_size = 0;
	record.exec.args_cut = EXECSNOOP_CUT_UNKNOWN;
	event = exec_event__parse(&record.exec);
	test__check(!event.filename.data, "parse: a path that could not be read is not known",
		    "it is \"%.*s\"", (int)event.filename.size, event.filename.data);
	test__equal("parse: what is left out is not known", event.args_cut, WORDS_CUT_UNKNOWN);
}

static void test_cut(void)
{
	struct exec_event event = with_args("one\0\0three\0", 11);

	exec_event__cut_args(&event, 3);
	test__equal("cut: exactly as many arguments as asked for are whole", event.args.size, 11);
	test__equal("cut: and nothing is left out", event.args_cut, 0);
	exec_event__cut_args(&event, 2);
	test__equal("cut: an empty argument counts", event.args.size, 5);
	test__equal("cut: the bytes left out, with their NUL", event.args_cut, 6);
	exec_event__cut_bytes(&event, 2);
	test__equal("cut: by bytes", event.args.size, 2);
	test__equal("cut: adds up", event.args_cut, 9);
	exec_event__cut_bytes(&event, 100);
	test__equal("cut: more bytes than there are", event.args.size, 2);

	event = with_args("abc", 3);
	exec_event__cut_args(&event, 1);
	test__equal("cut: a last argument without NUL", event.args.size, 3);
	event.args_cut = WORDS_CUT_UNKNOWN;
	exec_event__cut_bytes(&event, 1);
	test__equal("cut: from an unknown number it stays unknown", event.args_cut,
		    WORDS_CUT_UNKNOWN);
}

static void check_cwd(const char *name, const char *names, size_t size, enum execsnoop_cwd_end end,
		      const char *expected)
{
	const struct exec_event event = { .cwd = { names, size }, .cwd_end = end };
	char path[CWD_PATH_MAX];
	size_t length = exec_event__cwd(&event, path);

	test__same_bytes(name, path, length, expected, strlen(expected));
}

static void test_cwd(void)
{
	static char long_name[EXECSNOOP_CWD_MAX], long_path[CWD_PATH_MAX];
	size_t prefix = strlen("(unreachable)/");

	check_cwd("cwd: not asked for", "", 0, EXECSNOOP_CWD_UNKNOWN, "");
	check_cwd("cwd: the root", "", 0, EXECSNOOP_CWD_WHOLE, "/");
	check_cwd("cwd: one directory", "tmp\0", 4, EXECSNOOP_CWD_WHOLE, "/tmp");
	check_cwd("cwd: the innermost is last", "c\0bb\0a\0", 7, EXECSNOOP_CWD_WHOLE, "/a/bb/c");
	check_cwd("cwd: its beginning is left out", "c\0bb\0", 5, EXECSNOOP_CWD_CUT, "…/bb/c");
	check_cwd("cwd: a name without its end is left out", "c\0bb\0aaa", 8, EXECSNOOP_CWD_WHOLE,
		  "…/bb/c");
	check_cwd("cwd: nothing but such a name", "aaa", 3, EXECSNOOP_CWD_WHOLE, "…/");
	check_cwd("cwd: outside of its root", "b\0a\0", 4, EXECSNOOP_CWD_UNREACHABLE,
		  "(unreachable)/a/b");
	memset(long_name, 'x', sizeof(long_name) - 1);
	memcpy(long_path, "(unreachable)/", prefix);
	memset(long_path + prefix, 'x', sizeof(long_name) - 1);
	check_cwd("cwd: as long as there is room for", long_name, sizeof(long_name),
		  EXECSNOOP_CWD_UNREACHABLE, long_path);
	for (size_t i = 1; i < sizeof(long_name); i += 2)
		long_name[i] = '\0';
	for (size_t i = 0; i < sizeof(long_name); i += 2)
		memcpy(long_path + prefix - 1 + i, "/x", 3);
	check_cwd("cwd: as many names as there is room for", long_name, sizeof(long_name),
		  EXECSNOOP_CWD_UNREACHABLE, long_path);
}

static void check_line(const char *name, const char *args, size_t size, const char *expected)
{
	struct exec_event event = with_args(args, size);
	char *line = exec_event__line(&event);

	test__same(name, line, expected);
	free(line);
}

static void test_unreadable(void)
{
	uint64_t bits[EXECSNOOP_FAILED_ARGS_MAX / 64] = { 1 << 1 | 1 << 2 | 1 << 5 };
	uint64_t indices[EXECSNOOP_FAILED_ARGS_MAX];
	struct exec_event event = with_args("a\0\0\0b\0", 6);

	event.unreadable = bits;
	test__equal("unreadable: those among the arguments",
		    exec_event__unreadable(&event, indices), 2);
	test__check(indices[0] == 1 && indices[1] == 2, "unreadable: their indices", "others");
	exec_event__cut_args(&event, 2);
	test__equal("unreadable: none of those that were cut",
		    exec_event__unreadable(&event, indices), 1);
}

static void check_name(const char *name, const char *path, const char *expected)
{
	struct text last = path__name((struct text){ path, path ? strlen(path) : 0 });

	test__same_bytes(name, last.data ? last.data : "", last.size, expected, strlen(expected));
}

static void test_copy(void)
{
	char args[] = "a\0b", path[] = "/x";
	struct exec_event event = with_args(args, 4), *copy;

	event.filename = (struct text){ path, 2 };
	copy = exec_event__copy(&event);
	memset(args, 'z', sizeof(args));
	memset(path, 'z', sizeof(path));
	test__same_bytes("copy: arguments", copy->args.data, copy->args.size, "a\0b", 4);
	test__same_bytes("copy: filename", copy->filename.data, copy->filename.size, "/x", 2);
	free(copy);
	event.filename = (struct text){};
	copy = exec_event__copy(&event);
	test__check(!copy->filename.data, "copy: what is not known stays so", "it is known");
	free(copy);
}

static void test_env(void)
{
	static const char env[] = "PATH=/bin\0LONG_NAME=x\0NAME=value\0NAME=second\0BARE\0EMPTY=";
	const char *const names[] = { "NAME", "EMPTY", "BARE", "NONE", "PATH" };
	char room[sizeof(env)];
	struct exec_event event = { .env = { env, sizeof(env) } };

	exec_event__pick_env(&event, names, 5, room);
	test__same_bytes("env: the variables asked for, in this order", event.env.data,
			 event.env.size, "NAME=value\0EMPTY=\0PATH=/bin", 28);
	event.env = (struct text){ "A=1\0", 4 };
	exec_event__pick_env(&event, (const char *const[]){ "A", "A" }, 2, room);
	test__equal("env: no more than there is room for", event.env.size, 4);
	event.env = (struct text){ "A=cut", 5 };
	exec_event__pick_env(&event, (const char *const[]){ "A" }, 1, room);
	test__same_bytes("env: a last one without NUL", event.env.data, event.env.size, "A=cut", 5);
	event.env = (struct text){};
	exec_event__pick_env(&event, names, 5, room);
	test__equal("env: none at all", event.env.size, 0);
}

int main(void)
{
	test_parse();
	test_cut();
	test_cwd();
	check_line("line: blanks between arguments", "a\0b c\0", 6, "a b c");
	check_line("line: empty arguments", "a\0\0b\0", 5, "a  b");
	check_line("line: none", "", 0, "");
	check_line("line: cut inside an argument", "a\0bc", 4, "a bc");
	test_unreadable();
	check_name("name: of a path", "/usr/bin/true", "true");
	check_name("name: without a slash", "true", "true");
	check_name("name: not known", NULL, "");
	test_copy();
	test_env();
	return test__done();
}
