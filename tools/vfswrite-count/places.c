// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "places.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/magic.h>
#include <sys/stat.h>

#include "collect/path.h"

/* In the kernel: include/linux/kdev_t.h. */
#define MINOR_BITS 20

/* Room for the names of all files together; those of most machines need less than a megabyte. */
#define TEXT_BYTES_MAX (4U << 20)

static size_t places__position(const struct places *places, uint32_t id)
{
	size_t first = 0, last = places->nr;

	while (first < last) {
		size_t middle = first + (last - first) / 2;

		if (places->items[middle]->id < id)
			first = middle + 1;
		else
			last = middle;
	}
	return first;
}

static struct place *places__get(const struct places *places, uint32_t id)
{
	size_t at = places__position(places, id);

	return at < places->nr && places->items[at]->id == id ? places->items[at] : NULL;
}

const struct place *places__find(const struct places *places, uint32_t id)
{
	const struct place *place = places__get(places, id);

	/* One that was only asked about is not known. */
	return place && *place->device_number ? place : NULL;
}

/* A place with this id and nothing else; NULL when out of memory. */
static struct place *places__make(struct places *places, uint32_t id)
{
	size_t at = places__position(places, id), room = places->room ? 2 * places->room : 64;
	struct place *place;

	if (places->nr == places->room) {
		struct place **items = realloc(places->items, room * sizeof(*items));

		if (!items)
			return NULL;
		places->items = items;
		places->room = room;
	}
	place = calloc(1, sizeof(*place));
	if (!place)
		return NULL;
	place->id = id;
	memmove(&places->items[at + 1], &places->items[at],
		(places->nr - at) * sizeof(*places->items));
	places->items[at] = place;
	places->nr++;
	return place;
}

static const char *type_name(uint32_t mode)
{
	switch (mode) {
	case S_IFREG:
		return "regular";
	case S_IFIFO:
		return "pipe";
	case S_IFSOCK:
		return "socket";
	case S_IFCHR:
		return "char";
	case S_IFBLK:
		return "block";
	default:
		return "other";
	}
}

/* The name of a device by the link that sysfs has for its number. */
static void find_device_name(struct place *place, bool is_char)
{
	char link[64], target[256];
	const char *name;
	ssize_t size;

	snprintf(link, sizeof(link), "/sys/dev/%s/%s", is_char ? "char" : "block",
		 place->device_number);
	size = readlink(link, target, sizeof(target) - 1);
	if (size <= 0)
		return;
	target[size] = '\0';
	name = strrchr(target, '/');
	snprintf(place->device_name, sizeof(place->device_name), "%.*s",
		 (int)sizeof(place->device_name) - 1, name ? name + 1 : target);
}

/* As the kernel shows a link of /proc/PID/fd. */
static char *file_text(const struct vfswrite_place *record)
{
	char text[PATH_TEXT_SIZE + 16];

	if (record->magic == PIPEFS_MAGIC)
		snprintf(text, sizeof(text), "pipe:[%llu]", (unsigned long long)record->inode);
	else if (record->magic == SOCKFS_MAGIC)
		snprintf(text, sizeof(text), "socket:[%llu]", (unsigned long long)record->inode);
	else if (record->magic == ANON_INODE_FS_MAGIC)
		snprintf(text, sizeof(text), "anon_inode:%.*s",
			 (int)strnlen(record->path.names, PATH_NAME_MAX), record->path.names);
	else
		path__join(&record->path, text);
	return strdup(text);
}

static int place__name_file(struct place *place, const struct vfswrite_place *record,
			    struct places *places)
{
	char *text = file_text(record);
	size_t size;

	if (!text)
		return -ENOMEM;
	place->type = record->magic == ANON_INODE_FS_MAGIC ? "other" : type_name(record->mode);
	size = strlen(text) + 1;
	if (places->text_bytes + size > TEXT_BYTES_MAX) {
		places->nr_unnamed++;
		free(text);
		return 0;
	}
	places->text_bytes += size;
	place->file = text;
	return 0;
}

static bool is_same(const struct place *left, const struct place *right)
{
	if (left->device != right->device || strcmp(left->fs, right->fs) ||
	    !left->type != !right->type || (left->type && strcmp(left->type, right->type)))
		return false;
	return left->file && right->file ? !strcmp(left->file, right->file) :
					   !left->file && !right->file;
}

int places__add(struct places *places, const struct vfswrite_place *record)
{
	const bool by_file = record->path.size;
	struct place *place = places__get(places, record->id);

	if (!place)
		place = places__make(places, record->id);
	if (!place)
		return -ENOMEM;
	place->device = record->device;
	snprintf(place->fs, sizeof(place->fs), "%.*s", (int)sizeof(record->fs) - 1, record->fs);
	snprintf(place->device_number, sizeof(place->device_number), "%u:%u",
		 record->device >> MINOR_BITS, record->device & ((1U << MINOR_BITS) - 1));
	find_device_name(place, record->mode == S_IFCHR);
	if (by_file)
		return place__name_file(place, record, places);
	if (record->mode)
		place->type = type_name(record->mode);
	return 0;
}

uint32_t places__same(struct places *places, uint32_t id, int *err)
{
	struct place *place;

	if (!id)
		return 0;
	place = places__get(places, id);
	if (!place)
		place = places__make(places, id);
	if (!place) {
		*err = -ENOMEM;
		return id;
	}
	if (place->same)
		return place->same;
	place->same = id;
	for (size_t i = 0; i < places->nr && *place->device_number; i++) {
		const struct place *other = places->items[i];

		if (other != place && other->same == other->id && is_same(other, place)) {
			place->same = other->id;
			break;
		}
	}
	return place->same;
}

void places__free(struct places *places)
{
	for (size_t i = 0; i < places->nr; i++) {
		free((char *)places->items[i]->file);
		free(places->items[i]);
	}
	free(places->items);
	*places = (struct places){};
}
