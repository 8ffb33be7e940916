// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Names of addresses in one file by the library, for comparing with other programs.
 *
 *	symbols FILE pick N SEED	N random addresses of its executable segments
 *	symbols FILE names [raw]	for each address of stdin: name, offset in it
 *	symbols FILE time N		time to load, memory, lookups a second
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "run/log.h"
#include "symbols/demangle.h"
#include "symbols/mapped_file.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static uint64_t next_random(uint64_t *state)
{
	/* xorshift64* */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* An address in an executable segment. */
static uint64_t pick(const struct mapped_file *file, uint64_t *state)
{
	for (;;) {
		const struct elf_segment *segment =
			&file->segments[next_random(state) % file->nr_segments];

		if (segment->type == PT_LOAD && segment->flags & PF_X && segment->file_size)
			return segment->address + next_random(state) % segment->file_size;
	}
}

static void print_names(const struct mapped_file *file, bool raw)
{
	struct symbol_table_hit hit;
	char line[64];

	while (fgets(line, sizeof(line), stdin)) {
		uint64_t address = strtoull(line, NULL, 16);
		char *shown;

		if (!symbol_table__find(&file->table, address, &hit)) {
			puts("??");
			continue;
		}
		shown = raw ? NULL : demangle(hit.name);
		printf("%s %" PRIu64 "\n", shown ? shown : hit.name, hit.offset);
		free(shown);
	}
}

static void measure(const struct mapped_file *file, uint64_t load_ns, unsigned long nr)
{
	uint64_t state = 1, begin, took, found = 0;
	struct symbol_table_hit hit;

	begin = now_ns();
	for (unsigned long i = 0; i < nr; i++)
		found += symbol_table__find(&file->table, pick(file, &state), &hit);
	took = now_ns() - begin;
	printf("load %.1f ms, %zu ranges, %.1f bytes each with names, %.1f M lookups/s, %" PRIu64
	       " of %lu named\n",
	       load_ns / 1e6, file->table.nr_ranges,
	       file->table.nr_ranges ?
		       (double)symbol_table__bytes(&file->table) / file->table.nr_ranges :
		       0,
	       nr * 1e3 / took, found, nr);
}

/* Maps the file, so that the opener finds its debug file as that of a mapping of this process. */
static int load(struct mapped_file *file, const char *path)
{
	struct opener_request request = { .pid = getpid() };
	struct opener opener;
	void *mapped;
	int err;

	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file->fd < 0)
		return log_error(errno, NULL, "cannot open '%s'", path);
	mapped = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file->fd, 0);
	if (mapped == MAP_FAILED)
		return log_error(errno, NULL, "cannot map '%s'", path);
	request.start = (uintptr_t)mapped;
	request.end = request.start + 4096;
	err = opener__start(&opener);
	if (err)
		return err;
	mapped_file__load(file, &opener, &request, 1UL << 30);
	opener__stop(&opener);
	if (!file->nr_segments)
		return log_error_because(0, symbol_reason__sentence(file->reason), NULL,
					 "cannot read '%s'", path);
	return 0;
}

int main(int argc, char **argv)
{
	struct mapped_file file = { .fd = -1 };
	uint64_t begin = now_ns(), state;

	log__init("symbols");
	if (argc < 3)
		return 2;
	if (load(&file, argv[1]))
		return 1;
	if (!strcmp(argv[2], "pick") && argc == 5) {
		state = strtoull(argv[4], NULL, 10) * 2 + 1;
		for (unsigned long i = strtoul(argv[3], NULL, 10); i; i--)
			printf("%" PRIx64 "\n", pick(&file, &state));
	} else if (!strcmp(argv[2], "names")) {
		print_names(&file, argc == 4);
	} else if (!strcmp(argv[2], "time") && argc == 4) {
		measure(&file, now_ns() - begin, strtoul(argv[3], NULL, 10));
	} else {
		return 2;
	}
	mapped_file__free(&file);
	return 0;
}
