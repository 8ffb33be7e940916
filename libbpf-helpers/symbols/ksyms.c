// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/ksyms.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbols/grow.h"

/* Each holds some MiB, and names of all of them stay valid. */
#define VERSIONS_MAX 8
#define REREAD_AFTER_NS 1000000000ULL
/* What a symbol without a known end may cover: BPF programs have no symbol after them. */
#define UNBOUNDED_SIZE (64 * 1024)
/* Kernel addresses on x86-64: the upper half. */
#define KERNEL_HALF (1ULL << 63)

struct ksyms {
	int fd;
	const char *modules_path;
	struct symbol_table versions[VERSIONS_MAX]; /* the last one is the newest */
	size_t nr_versions;
	uint64_t read_ns;
	uint64_t modules_begin; /* lowest address of a module or BPF program */
	enum symbol_reason reason;
};

struct parser {
	struct symbol_table *table;
	const struct ksyms_module *modules;
	size_t nr_modules;
	size_t nr_addresses;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

/* A number in hexadecimal digits, up to a byte that is none. *text moves behind it. */
static bool parse_hex(const char **text, uint64_t *number)
{
	const char *begin = *text;

	for (*number = 0;; (*text)++) {
		unsigned char c = **text, low = c | 0x20;
		unsigned int digit;

		if (c >= '0' && c <= '9')
			digit = c - '0';
		else if (low >= 'a' && low <= 'f')
			digit = low - 'a' + 10;
		else
			break;
		*number = *number << 4 | digit;
	}
	return *text != begin && *text - begin <= 16;
}

/* The end of the code of a module that has this address. */
static uint64_t parser__limit(const struct parser *parser, const char *module, size_t size,
			      uint64_t address)
{
	if (!size)
		return UINT64_MAX;
	for (size_t i = 0; i < parser->nr_modules; i++) {
		const struct ksyms_module *known = &parser->modules[i];

		if (!strncmp(known->name, module, size) && !known->name[size] &&
		    address >= known->base && address < known->end)
			return known->end;
	}
	return address > UINT64_MAX - UNBOUNDED_SIZE ? UINT64_MAX : address + UNBOUNDED_SIZE;
}

/* Whether a symbol stands for code: t, T, and the weak ones that are no objects (nm's letters).
 * The ends of the text sections are of that kind, too, but name nothing. */
static bool is_code(char type, const char *name, size_t size)
{
	if (type != 't' && type != 'T' && type != 'w' && type != 'W')
		return false;
	return !(size == 6 && !memcmp(name, "_etext", 6)) &&
	       !(size == 10 && !memcmp(name, "_einittext", 10));
}

/* One line: "ffffffff81000000 T name" or the same with "\t[module]". */
static int parser__line(struct parser *parser, const char *line)
{
	struct symbol_table_entry entry = { .name = SYMBOL_TABLE_NO_NAME };
	const char *text = line, *name, *module;
	size_t name_size, module_size = 0;
	char type;

	if (!parse_hex(&text, &entry.start) || text[0] != ' ' || !text[1] || text[2] != ' ')
		return 0;
	parser->nr_addresses += entry.start != 0;
	type = text[1];
	name = text + 3;
	name_size = strcspn(name, "\t");
	if (!name_size || entry.start < KERNEL_HALF)
		return 0;
	module = name + name_size;
	if (module[0] == '\t' && module[1] == '[') {
		module += 2;
		module_size = strcspn(module, "]");
	}
	entry.end = UINT64_MAX;
	if (is_code(type, name, name_size)) {
		entry.rank = 1;
		entry.end = parser__limit(parser, module, module_size, entry.start);
		entry.name = symbol_table__add_name(parser->table, name, name_size);
		/* Directly behind the name; empty for the kernel itself. */
		if (entry.name == SYMBOL_TABLE_NO_NAME ||
		    symbol_table__add_name(parser->table, module, module_size) ==
			    SYMBOL_TABLE_NO_NAME)
			return -ENOMEM;
	}
	return symbol_table__add(parser->table, &entry);
}

int ksyms__parse(struct lines *lines, const struct ksyms_module *modules, size_t nr_modules,
		 struct symbol_table *table, size_t *nr_addresses)
{
	struct parser parser = {
		.table = table,
		.modules = modules,
		.nr_modules = nr_modules,
	};
	size_t size;
	char *line;
	int err = 0;

	while (!err && (line = lines__next(lines, &size)))
		err = parser__line(&parser, line);
	*nr_addresses = parser.nr_addresses;
	if (!err)
		err = lines->err;
	return err ? err : symbol_table__finish(table);
}

/* "name size references users state 0xbase ..." lines; a file that cannot be read has none. */
static struct ksyms_module *read_modules(const char *path, struct lines *lines, size_t *nr)
{
	struct ksyms_module *modules = NULL;
	size_t capacity = 0, line_size;
	unsigned long long size, base;
	char *line;
	int fd;

	*nr = 0;
	fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return NULL;
	lines__begin(lines, fd);
	while ((line = lines__next(lines, &line_size)) && GROW(modules, capacity, *nr + 1)) {
		struct ksyms_module *module = &modules[*nr];

		if (sscanf(line, "%63s %llu %*s %*s %*s %llx", module->name, &size, &base) != 3)
			continue;
		module->base = base;
		module->end = base > UINT64_MAX - size ? UINT64_MAX : base + size;
		(*nr)++;
	}
	close(fd);
	return modules;
}

/* Where the modules and BPF programs begin: what lies above and is not known came later. */
static uint64_t lowest_module(const struct symbol_table *table)
{
	for (size_t i = 0; i < table->nr_ranges; i++) {
		const char *name = table->names + table->ranges[i].name;

		if (name[strlen(name) + 1])
			return table->starts[i];
	}
	return UINT64_MAX;
}

static bool is_same(const struct symbol_table *left, const struct symbol_table *right)
{
	return left->nr_ranges == right->nr_ranges && left->names_size == right->names_size &&
	       !memcmp(left->starts, right->starts, left->nr_ranges * sizeof(*left->starts)) &&
	       !memcmp(left->names, right->names, left->names_size);
}

/* Reads the file anew; what is like the newest version is not kept. */
static int ksyms__read(struct ksyms *ksyms)
{
	struct symbol_table *table = &ksyms->versions[ksyms->nr_versions];
	struct ksyms_module *modules;
	struct lines *lines;
	size_t nr_modules, nr_addresses = 0;
	int err;

	ksyms->read_ns = now_ns();
	lines = malloc(sizeof(*lines));
	if (!lines)
		return -ENOMEM;
	modules = read_modules(ksyms->modules_path, lines, &nr_modules);
	err = lseek(ksyms->fd, 0, SEEK_SET) ? -errno : 0;
	lines__begin(lines, ksyms->fd);
	if (!err)
		err = ksyms__parse(lines, modules, nr_modules, table, &nr_addresses);
	free(modules);
	free(lines);
	if (!err && ksyms->nr_versions && is_same(table - 1, table)) {
		symbol_table__free(table);
		return 0;
	}
	if (err) {
		symbol_table__free(table);
		return err;
	}
	ksyms->reason = nr_addresses ? SYMBOL_NAMED : SYMBOL_KERNEL_HIDDEN;
	ksyms->modules_begin = lowest_module(table);
	ksyms->nr_versions++;
	return 0;
}

/* Whether addresses are shown, by the first symbol of code: those of per-CPU data before it can be
 * 0 anyway. */
static int ksyms__probe(struct ksyms *ksyms)
{
	struct lines *lines = malloc(sizeof(*lines));
	const char *text;
	uint64_t address;
	size_t size;
	int err;

	if (!lines)
		return -ENOMEM;
	ksyms->reason = SYMBOL_KERNEL_HIDDEN;
	lines__begin(lines, ksyms->fd);
	while ((text = lines__next(lines, &size))) {
		if (!parse_hex(&text, &address) || text[0] != ' ' || (text[1] | 0x20) != 't')
			continue;
		if (address)
			ksyms->reason = SYMBOL_NAMED;
		break;
	}
	err = lines->err;
	free(lines);
	return err;
}

int ksyms__open(struct ksyms **ksyms, const char *path, const char *modules)
{
	struct ksyms *opened = calloc(1, sizeof(*opened));
	int err;

	*ksyms = NULL;
	if (!opened)
		return -ENOMEM;
	opened->modules_path = modules;
	opened->fd = open(path, O_RDONLY | O_CLOEXEC);
	err = opened->fd < 0 ? -errno : ksyms__probe(opened);
	if (err) {
		ksyms__close(opened);
		return err;
	}
	*ksyms = opened;
	return 0;
}

enum symbol_reason ksyms__reason(const struct ksyms *ksyms)
{
	return ksyms->reason;
}

/* Whether the older symbol was replaced by another one: it is not in the newest version. */
static bool ksyms__is_gone(const struct ksyms *ksyms, uint64_t address,
			   const struct symbol_table_hit *old)
{
	const struct symbol_table *newest = &ksyms->versions[ksyms->nr_versions - 1];
	struct symbol_table_hit hit;

	return !symbol_table__find(newest, address - old->offset, &hit) || hit.offset ||
	       strcmp(hit.name, old->name);
}

/* In the newest version, or else in an older one; SYMBOL_AMBIGUOUS where they differ. */
static bool ksyms__look_up(const struct ksyms *ksyms, uint64_t address, struct symbol *symbol)
{
	struct symbol_table_hit hit = {}, old;
	bool found = false;

	for (size_t i = ksyms->nr_versions; i-- > 0;) {
		if (!symbol_table__find(&ksyms->versions[i], address, &old))
			continue;
		if (!found) {
			hit = old;
			found = true;
		} else if ((hit.offset != old.offset || strcmp(hit.name, old.name)) &&
			   ksyms__is_gone(ksyms, address, &old)) {
			symbol->reason = SYMBOL_AMBIGUOUS;
			return true;
		}
	}
	if (!found)
		return false;
	symbol->name = hit.name;
	symbol->offset = hit.offset;
	symbol->size = hit.size;
	symbol->module = hit.name + strlen(hit.name) + 1;
	if (!*symbol->module)
		symbol->module = NULL;
	return true;
}

void ksyms__find(struct ksyms *ksyms, uint64_t address, struct symbol *symbol)
{
	bool found;

	*symbol = (struct symbol){ .module_address = address, .reason = ksyms->reason };
	if (ksyms->reason != SYMBOL_NAMED)
		return;
	if (!ksyms->nr_versions && ksyms__read(ksyms))
		ksyms->reason = SYMBOL_KERNEL_UNREADABLE;
	if (ksyms->reason != SYMBOL_NAMED) {
		symbol->reason = ksyms->reason;
		return;
	}
	found = ksyms__look_up(ksyms, address, symbol);
	if ((!found || (symbol->module && !strcmp(symbol->module, "bpf"))) &&
	    address >= KERNEL_HALF && ksyms->nr_versions < VERSIONS_MAX &&
	    now_ns() - ksyms->read_ns > REREAD_AFTER_NS) {
		/* That the file cannot be read again leaves what was known of it. */
		if (!ksyms__read(ksyms)) {
			*symbol = (struct symbol){ .module_address = address };
			found = ksyms__look_up(ksyms, address, symbol);
		}
	}
	if (!found)
		symbol->reason = address >= ksyms->modules_begin ? SYMBOL_KERNEL_LATER :
								   SYMBOL_KERNEL_UNKNOWN;
}

size_t ksyms__bytes(const struct ksyms *ksyms)
{
	size_t bytes = 0;

	for (size_t i = 0; i < ksyms->nr_versions; i++)
		bytes += symbol_table__bytes(&ksyms->versions[i]);
	return bytes;
}

void ksyms__close(struct ksyms *ksyms)
{
	if (!ksyms)
		return;
	for (size_t i = 0; i < VERSIONS_MAX; i++)
		symbol_table__free(&ksyms->versions[i]);
	if (ksyms->fd >= 0)
		close(ksyms->fd);
	free(ksyms);
}
