// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Paths out of the names that the kernel side has found, the last one first. */
#include "collect/path.h"

#include <string.h>

#include "support/test.h"

/* A path with its names behind it. */
static union {
	struct path_names path;
	char bytes[sizeof(struct path_names) + PATH_NAMES_BYTES];
} room;

static const struct path_names *path_of(const char *names, size_t size, enum path_end end,
					bool deleted)
{
	room.path = (struct path_names){ .size = (__u32)size, .end = end, .deleted = deleted };
	memcpy(room.path.names, names, size);
	return &room.path;
}

/* names: as a string literal, so that the last NUL is the one of the last name. */
#define CHECK(check, names, end, deleted, expected)                                                \
	do {                                                                                       \
		char text[PATH_TEXT_SIZE];                                                         \
		size_t size = path__join(path_of(names, sizeof(names), end, deleted), text);       \
                                                                                                   \
		test__same(check, text, expected);                                                 \
		test__equal(check ": its size", size, strlen(expected));                           \
	} while (0)

static void test_root(void)
{
	const struct path_names root = { .end = PATH_AT_ROOT };
	char text[PATH_TEXT_SIZE];

	path__join(&root, text);
	test__same("the root", text, "/");
}

static void test_longest(void)
{
	char text[PATH_TEXT_SIZE];
	size_t size;

	/* As many names as there is room for, of one byte each. */
	room.path = (struct path_names){ PATH_NAMES_BYTES - 1, PATH_CUT, 1 };
	memset(room.path.names, 0, PATH_NAMES_BYTES);
	for (size_t i = 0; i < PATH_NAMES_BYTES; i += 2)
		room.path.names[i] = 'x';
	size = path__join(&room.path, text);
	test__equal("the longest: all names", size, 3 + PATH_NAMES_BYTES + strlen(" (deleted)"));
	test__check(!strncmp(text, ".../x/x/x", 9) && !strcmp(text + size - 13, "x/x (deleted)"),
		    "the longest: cut in front, and deleted", "\"%.12s\"", text);
	room.path.size = UINT32_MAX;
	test__check(path__join(&room.path, text) < PATH_TEXT_SIZE, "a size that cannot be is cut",
		    "%s", "longer than its room");
}

int main(void)
{
	CHECK("one name", "etc", PATH_AT_ROOT, false, "/etc");
	CHECK("several names", "hosts\0etc", PATH_AT_ROOT, false, "/etc/hosts");
	CHECK("a name that was removed", "a b\0tmp", PATH_AT_ROOT, true, "/tmp/a b (deleted)");
	CHECK("a tree of its own", "memfd:x", PATH_AT_TOP, true, "/memfd:x (deleted)");
	CHECK("cut", "c\0b", PATH_CUT, false, ".../b/c");
	CHECK("a name without a letter", "", PATH_AT_TOP, false, "/");
	test_root();
	test_longest();
	return test__done();
}
