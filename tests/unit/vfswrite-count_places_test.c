// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* What is written to: names and types by id, which ids are one place, and bounded memory. */
#include "vfswrite-count/places.h"

#include <stdio.h>
#include <string.h>

#include <linux/magic.h>
#include <sys/stat.h>

#include "support/test.h"

/* A record with its names behind it. */
static union {
	struct vfswrite_place place;
	char bytes[sizeof(struct vfswrite_place) + PATH_NAMES_BYTES];
} room;

static struct vfswrite_place *place_of(__u32 id, __u32 mode, __u32 device, const char *name)
{
	room.place = (struct vfswrite_place){
		.id = id,
		.mode = mode,
		.device = device,
		.inode = 77,
		.fs = "ext4",
		.path = { .size = (__u32)strlen(name) + 1, .end = PATH_AT_ROOT },
	};
	memcpy(room.place.path.names, name, strlen(name) + 1);
	return &room.place;
}

static void add(struct places *places, const struct vfswrite_place *place)
{
	if (places__add(places, place))
		test__fatal("places", "out of memory");
}

static void check_text(const struct places *places, __u32 id, const char *file, const char *type)
{
	const struct place *place = places__find(places, id);

	test__same("the file", place ? place->file : NULL, file);
	test__same("its type", place ? place->type : NULL, type);
}

static void test_kinds(void)
{
	struct places places = {};
	struct vfswrite_place *place;

	place = place_of(5, S_IFREG, 8 << 20 | 1, "file");
	add(&places, place);
	check_text(&places, 5, "/file", "regular");
	test__same("its device", places__find(&places, 5)->device_number, "8:1");
	test__same("its type of file system", places__find(&places, 5)->fs, "ext4");
	place = place_of(4, S_IFIFO, 15, "");
	place->magic = PIPEFS_MAGIC;
	add(&places, place);
	check_text(&places, 4, "pipe:[77]", "pipe");
	place = place_of(3, S_IFSOCK, 8, "UNIX");
	place->magic = SOCKFS_MAGIC;
	add(&places, place);
	check_text(&places, 3, "socket:[77]", "socket");
	place = place_of(6, S_IFREG, 14, "[eventfd]");
	place->magic = ANON_INODE_FS_MAGIC;
	add(&places, place);
	check_text(&places, 6, "anon_inode:[eventfd]", "other");
	place = place_of(7, S_IFIFO, 8 << 20 | 1, "named");
	add(&places, place);
	check_text(&places, 7, "/named", "pipe");
	check_text(&places, 5, "/file", "regular");
	test__check(!places__find(&places, 99), "one that was not told is not known", "%s", "");
	places__free(&places);
}

static void test_same(void)
{
	struct places places = {};
	struct vfswrite_place *place;
	int err = 0;

	place = place_of(10, S_IFREG, 1, "log");
	add(&places, place);
	place->id = 9;
	add(&places, place);
	place = place_of(8, S_IFREG, 2, "log");
	add(&places, place);
	place = place_of(7, S_IFCHR, 1, "log");
	add(&places, place);
	test__equal("the first is itself", places__same(&places, 10, &err), 10);
	test__equal("the same path on the same device is one", places__same(&places, 9, &err), 10);
	test__equal("on another device it is not", places__same(&places, 8, &err), 8);
	test__equal("and of another type it is not", places__same(&places, 7, &err), 7);
	/* A row can be read a moment before the record of its place. */
	test__equal("one that is not told yet is itself", places__same(&places, 6, &err), 6);
	place = place_of(6, S_IFREG, 1, "log");
	add(&places, place);
	test__equal("and stays it", places__same(&places, 6, &err), 6);
	check_text(&places, 6, "/log", "regular");
	test__equal("what is not known has no place", places__same(&places, 0, &err), 0);
	test__equal("no error", (uint64_t)err, 0);
	places__free(&places);
}

static void test_bounds(void)
{
	char name[4000];
	struct places places = {};
	struct vfswrite_place *place;
	size_t named = 0;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (__u32 id = 1; id <= 2000; id++) {
		place = place_of(id, S_IFREG, 1, name);
		add(&places, place);
	}
	for (__u32 id = 1; id <= 2000; id++)
		named += places__find(&places, id)->file != NULL;
	test__check(named > 1000 && named < 1100, "names have room in four megabytes", "%zu",
		    named);
	test__equal("the others are counted", places.nr_unnamed, 2000 - named);
	places__free(&places);
}

int main(void)
{
	test_kinds();
	test_same();
	test_bounds();
	return test__done();
}
