// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/proc_maps.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/grow.h"

/* Digits of a base up to the byte that has to follow them; *text moves behind that. */
static bool take_number(const char **text, unsigned int base, char after, uint64_t *number)
{
	const char *begin = *text;

	for (*number = 0;; (*text)++) {
		unsigned char c = **text;
		unsigned int digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if (base == 16 && c >= 'a' && c <= 'f')
			digit = c - 'a' + 10;
		else
			break;
		if (__builtin_mul_overflow(*number, base, number) ||
		    __builtin_add_overflow(*number, digit, number))
			return false;
	}
	return *text != begin && *(*text)++ == after;
}

/* "start-end rwxp offset major:minor inode      path" (show_map_vma() of the kernel). */
bool proc_maps__parse_line(const char *text, struct proc_maps_line *parsed)
{
	uint64_t major, minor;

	*parsed = (struct proc_maps_line){};
	if (!take_number(&text, 16, '-', &parsed->start) ||
	    !take_number(&text, 16, ' ', &parsed->end) || parsed->end <= parsed->start)
		return false;
	if (strnlen(text, 5) < 5 || text[4] != ' ')
		return false;
	parsed->executable = text[2] == 'x';
	text += 5;
	if (!take_number(&text, 16, ' ', &parsed->offset) || !take_number(&text, 16, ':', &major) ||
	    !take_number(&text, 16, ' ', &minor))
		return false;
	parsed->major = major;
	parsed->minor = minor;
	/* The inode is the last field of a line without a path: then a blank or nothing follows. */
	while (*text >= '0' && *text <= '9') {
		if (__builtin_mul_overflow(parsed->inode, 10, &parsed->inode) ||
		    __builtin_add_overflow(parsed->inode, *text - '0', &parsed->inode))
			return false;
		text++;
	}
	if (*text && *text != ' ')
		return false;
	while (*text == ' ')
		text++;
	parsed->path = text;
	return true;
}

static uint32_t file_of(const struct proc_maps_line *line, proc_maps_file_fn file, void *ctx)
{
	if (!line->executable)
		return 0;
	if (!strcmp(line->path, "[vdso]"))
		return PROC_MAPS_VDSO;
	/* Shared anonymous memory has an inode, but no file to open. */
	if (!line->inode || !strncmp(line->path, "/dev/zero", 9) ||
	    !strncmp(line->path, "/SYSV", 5))
		return PROC_MAPS_ANONYMOUS;
	return file(ctx, line);
}

static int proc_maps__add(struct proc_maps *maps, const struct proc_maps_line *line, uint32_t file)
{
	struct proc_mapping *last = maps->nr ? &maps->mappings[maps->nr - 1] : NULL;

	if (last && !line->executable && !last->executable && last->end == line->start) {
		last->end = line->end;
		return 0;
	}
	if (maps->nr == PROC_MAPS_MAX) {
		maps->cut = true;
		return 0;
	}
	if (!GROW(maps->mappings, maps->capacity, maps->nr + 1))
		return -ENOMEM;
	maps->mappings[maps->nr++] = (struct proc_mapping){
		.start = line->start,
		.end = line->end,
		.offset = line->offset,
		.file = file,
		.executable = line->executable,
	};
	return 0;
}

int proc_maps__read(struct proc_maps *maps, struct lines *lines, proc_maps_file_fn file, void *ctx)
{
	uint64_t above = 0;
	size_t size;
	char *text;
	int err = 0;

	while (!err && (text = lines__next(lines, &size))) {
		struct proc_maps_line line;

		if (!proc_maps__parse_line(text, &line) || line.start < above)
			continue;
		above = line.end;
		err = proc_maps__add(maps, &line, file_of(&line, file, ctx));
	}
	if (!err)
		err = lines->err;
	return err ? err : maps->nr ? 0 : -ESRCH;
}

const struct proc_mapping *proc_maps__find(const struct proc_maps *maps, uint64_t address)
{
	size_t low = 0, high = maps->nr;

	/* The first mapping that ends above the address. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (maps->mappings[middle].end <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == maps->nr || maps->mappings[low].start > address)
		return NULL;
	return &maps->mappings[low];
}

bool proc_maps__is_same(const struct proc_maps *left, const struct proc_maps *right)
{
	if (left->nr != right->nr)
		return false;
	for (size_t i = 0; i < left->nr; i++) {
		const struct proc_mapping *a = &left->mappings[i], *b = &right->mappings[i];

		if (a->start != b->start || a->end != b->end || a->file != b->file ||
		    (a->executable && a->offset != b->offset))
			return false;
	}
	return true;
}

void proc_maps__free(struct proc_maps *maps)
{
	free(maps->mappings);
	*maps = (struct proc_maps){};
}
