// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/processes.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "run/log.h"
#include "symbols/grow.h"
#include "symbols/perf_map.h"
#include "symbols/vdso.h"

/* Maps and perf maps are read again after that long at the earliest. */
#define REREAD_AFTER_NS 1000000000ULL
/* Descriptors that the rest of the program may need. */
#define SPARE_DESCRIPTORS 128

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

int processes__init(struct processes *processes, struct opener *opener, size_t max_bytes)
{
	*processes = (struct processes){ .opener = opener, .max_bytes = max_bytes };
	processes->lines = malloc(sizeof(*processes->lines));
	if (!processes->lines)
		return log_error(ENOMEM, NULL, "cannot make room for symbols");
	vdso__init(&processes->vdso);
	return 0;
}

/* ---- Files: each is known once, by device, inode and path ---- */

/* The place of a file in the index, or the free place where it belongs; 0 is free. */
static uint32_t *find_place(const struct processes *processes, uint32_t major, uint32_t minor,
			    uint64_t inode, const char *path)
{
	size_t mask = processes->file_index_capacity - 1;
	uint64_t hash = (inode ^ (uint64_t)major << 52 ^ (uint64_t)minor << 40) *
			0x9e3779b97f4a7c15ULL;

	for (size_t at = hash >> 32 & mask;; at = (at + 1) & mask) {
		uint32_t *place = &processes->file_index[at];
		const struct mapped_file *file;

		if (!*place)
			return place;
		file = processes->files[*place - 1];
		if (file->inode == inode && file->major == major && file->minor == minor &&
		    !strcmp(file->path, path))
			return place;
	}
}

static bool processes__grow_files(struct processes *processes)
{
	size_t capacity = processes->file_index_capacity ? processes->file_index_capacity * 2 : 64;
	uint32_t *index;

	if (!GROW(processes->files, processes->files_capacity, processes->nr_files + 1))
		return false;
	if (processes->nr_files < processes->file_index_capacity / 2)
		return true;
	index = calloc(capacity, sizeof(*index));
	if (!index)
		return false;
	free(processes->file_index);
	processes->file_index = index;
	processes->file_index_capacity = capacity;
	for (size_t i = 0; i < processes->nr_files; i++) {
		const struct mapped_file *file = processes->files[i];

		*find_place(processes, file->major, file->minor, file->inode, file->path) = i + 1;
	}
	return true;
}

/* Descriptors up to the limit of this process, with room for others. */
static bool may_hold_another(const struct processes *processes)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) &&
	       processes->nr_files + SPARE_DESCRIPTORS < limit.rlim_cur;
}

struct remembering {
	struct processes *processes;
	struct known_process *process;
	bool is_slow; /* a file system did not answer: nothing more is opened now */
};

static struct mapped_file *open_file(struct remembering *remembering,
				     const struct proc_maps_line *line)
{
	const struct opener_request request = {
		.what = OPENER_MAPPED_FILE,
		.pid = remembering->process->pid,
		.start_ns = remembering->process->start_ns,
		.start = line->start,
		.end = line->end,
	};
	struct mapped_file *file = calloc(1, sizeof(*file));
	int fd = -EMFILE;

	if (!file)
		return NULL;
	file->path = strdup(line->path);
	if (!file->path) {
		free(file);
		return NULL;
	}
	file->major = line->major;
	file->minor = line->minor;
	file->inode = line->inode;
	file->tried = remembering->processes->nr_readings;
	if (remembering->is_slow)
		fd = -ETIMEDOUT;
	else if (may_hold_another(remembering->processes))
		fd = opener__open(remembering->processes->opener, &request);
	remembering->is_slow |= fd == -ETIMEDOUT;
	file->fd = fd < 0 ? -1 : fd;
	file->reason = fd < 0 ? mapped_file__reason(fd) : SYMBOL_NAMED;
	return file;
}

/*
 * The number of a line's file; opens it when it is new. One that could not be opened is tried again
 * at each reading, and is another one if that goes otherwise: without a descriptor nothing kept
 * its inode from being used again.
 */
static uint32_t file_of_line(void *ctx, const struct proc_maps_line *line)
{
	struct remembering *remembering = ctx;
	struct processes *processes = remembering->processes;
	struct mapped_file *file, *known = NULL;
	uint32_t *place;

	if (!processes__grow_files(processes))
		return PROC_MAPS_NOT_KEPT;
	place = find_place(processes, line->major, line->minor, line->inode, line->path);
	if (*place) {
		known = processes->files[*place - 1];
		if (known->fd >= 0 || known->tried == processes->nr_readings)
			return *place - 1;
	}
	file = open_file(remembering, line);
	if (!file)
		return PROC_MAPS_NOT_KEPT;
	if (known && file->reason == known->reason) {
		known->tried = file->tried;
		mapped_file__free(file);
		free(file);
		return *place - 1;
	}
	processes->files[processes->nr_files++] = file;
	*place = processes->nr_files;
	return processes->nr_files - 1;
}

/* ---- Processes ---- */

static struct known_process *processes__get(struct processes *processes, uint32_t pid,
					    uint64_t start_ns)
{
	struct known_process **bucket = &processes->buckets[pid % PROCESSES_BUCKETS];
	struct known_process *process;

	for (process = *bucket; process; process = process->next)
		if (process->pid == pid && process->start_ns == start_ns)
			return process;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	process->start_ns = start_ns;
	process->perf_map_fd = -1;
	process->next = *bucket;
	*bucket = process;
	processes->nr++;
	return process;
}

static void open_perf_map(struct processes *processes, struct known_process *process)
{
	const struct opener_request request = {
		.what = OPENER_PERF_MAP,
		.pid = process->pid,
		.start_ns = process->start_ns,
	};
	const struct proc_maps *maps = &process->readings[process->nr_readings - 1];

	for (size_t i = 0; i < maps->nr && process->perf_map_fd < 0; i++) {
		if (maps->mappings[i].executable && maps->mappings[i].file == PROC_MAPS_ANONYMOUS) {
			process->perf_map_fd = opener__open(processes->opener, &request);
			snprintf(process->perf_map_path, sizeof(process->perf_map_path),
				 "/tmp/perf-%u.map", process->pid);
			return;
		}
	}
}

static int read_maps(struct processes *processes, struct known_process *process,
		     struct proc_maps *maps)
{
	struct opener_request request = {
		.what = OPENER_MAPS,
		.pid = process->pid,
		.start_ns = process->start_ns,
	};
	struct remembering remembering = { .processes = processes, .process = process };
	int fd = opener__open(processes->opener, &request), err;

	if (fd < 0)
		return fd;
	processes->nr_readings++;
	lines__begin(processes->lines, fd);
	err = proc_maps__read(maps, processes->lines, file_of_line, &remembering);
	close(fd);
	return err;
}

/* Keeps a reading that says something new; the last place is that of the newest. */
static void keep_reading(struct known_process *process, struct proc_maps *maps)
{
	size_t nr = process->nr_readings;

	if (nr && proc_maps__is_same(&process->readings[nr - 1], maps)) {
		proc_maps__free(maps);
		return;
	}
	if (nr == PROCESSES_READINGS_MAX)
		proc_maps__free(&process->readings[--nr]);
	process->readings[nr] = *maps;
	process->nr_readings = nr + 1;
}

static enum symbol_reason reason_of_maps(int err)
{
	switch (-err) {
	case 0:
		return SYMBOL_NAMED;
	case EACCES:
	case EPERM:
		return SYMBOL_NO_PERMISSION;
	case ESTALE:
		return SYMBOL_PID_REUSED;
	case ENOMEM:
		return SYMBOL_NO_MEMORY;
	case EMFILE:
		return SYMBOL_LIMIT;
	case EPIPE:
		return SYMBOL_NO_OPENER;
	default:
		return SYMBOL_EXITED_EARLY;
	}
}

/* A process is counted as exited early or unreadable while it has no maps. */
static void count_outcome(struct processes *processes, const struct known_process *process,
			  enum symbol_reason before, bool first)
{
	const bool was_early = before == SYMBOL_EXITED_EARLY || before == SYMBOL_PID_REUSED;
	const bool is_early = process->reason == SYMBOL_EXITED_EARLY ||
			      process->reason == SYMBOL_PID_REUSED;
	const bool has_maps = process->nr_readings != 0;

	if (!first && before != SYMBOL_NAMED) {
		processes->exited_early -= was_early;
		processes->unreadable -= !was_early;
	}
	if (!has_maps && process->reason != SYMBOL_NAMED) {
		processes->exited_early += is_early;
		processes->unreadable += !is_early;
	}
}

static int process__read(struct processes *processes, struct known_process *process)
{
	const bool had_maps = process->nr_readings != 0, first = !process->read_ns;
	const enum symbol_reason before = process->reason;
	struct proc_maps maps = {};
	int err;

	process->read_ns = now_ns();
	err = read_maps(processes, process, &maps);
	if (err)
		proc_maps__free(&maps);
	else
		keep_reading(process, &maps);
	process->reason = reason_of_maps(err);
	if (!had_maps)
		count_outcome(processes, process, before, first);
	if (!err && process->perf_map_fd < 0)
		open_perf_map(processes, process);
	return err;
}

int processes__remember(struct processes *processes, uint32_t pid, uint64_t start_ns)
{
	struct known_process *process = processes__get(processes, pid, start_ns);

	return process ? process__read(processes, process) : -ENOMEM;
}

/* ---- Answers ---- */

static bool is_other_place(const struct proc_mapping *a, const struct proc_mapping *b)
{
	return a->file != b->file || a->start - a->offset != b->start - b->offset;
}

/* The newest mapping that covers the address; *ambiguous when an older one disagrees. */
static const struct proc_mapping *process__mapping(const struct known_process *process,
						   uint64_t address, bool *ambiguous)
{
	const struct proc_mapping *found = NULL, *mapping;

	*ambiguous = false;
	for (size_t i = process->nr_readings; i-- > 0;) {
		mapping = proc_maps__find(&process->readings[i], address);
		if (!mapping || (found && !mapping->executable))
			continue;
		if (!found || !found->executable)
			found = mapping;
		else if (found->file < PROC_MAPS_NOT_KEPT && is_other_place(found, mapping))
			*ambiguous = true;
	}
	return found;
}

static size_t processes__left(const struct processes *processes)
{
	return processes->max_bytes > processes->bytes ? processes->max_bytes - processes->bytes :
							 0;
}

/* Reads the perf map when it has changed since. */
static void process__read_perf_map(struct processes *processes, struct known_process *process)
{
	struct symbol_table *table;
	struct stat info;
	uint64_t changed;

	if (process->perf_map_fd < 0 || fstat(process->perf_map_fd, &info))
		return;
	changed = info.st_mtim.tv_sec * 1000000000ULL + info.st_mtim.tv_nsec;
	if (process->nr_perf_maps == PROCESSES_READINGS_MAX ||
	    (process->nr_perf_maps && ((uint64_t)info.st_size == process->perf_map_size &&
				       changed == process->perf_map_changed_ns)) ||
	    (process->nr_perf_maps && now_ns() - process->perf_map_read_ns < REREAD_AFTER_NS))
		return;
	process->perf_map_read_ns = now_ns();
	process->perf_map_size = info.st_size;
	process->perf_map_changed_ns = changed;
	table = &process->perf_maps[process->nr_perf_maps++];
	if (lseek(process->perf_map_fd, 0, SEEK_SET))
		return;
	lines__begin(processes->lines, process->perf_map_fd);
	if (perf_map__parse(processes->lines, table, processes__left(processes)))
		symbol_table__free(table);
	processes->bytes += symbol_table__bytes(table);
}

/* Code that no ELF file holds: by the newest perf map. */
static void find_generated(struct processes *processes, struct known_process *process,
			   uint64_t address, enum symbol_reason without, struct symbol *symbol)
{
	struct symbol_table_hit hit;

	process__read_perf_map(processes, process);
	if (!process->nr_perf_maps) {
		symbol->reason = without;
		return;
	}
	symbol->module = process->perf_map_path;
	if (!symbol_table__find(&process->perf_maps[process->nr_perf_maps - 1], address, &hit)) {
		symbol->reason = SYMBOL_NOT_IN_PERF_MAP;
		return;
	}
	symbol->name = hit.name;
	symbol->offset = hit.offset;
	symbol->size = hit.size;
}

static void find_in_file(struct processes *processes, struct known_process *process,
			 const struct proc_mapping *mapping, uint64_t address,
			 struct symbol *symbol)
{
	const struct opener_request request = {
		.pid = process->pid,
		.start_ns = process->start_ns,
		.start = mapping->start,
		.end = mapping->end,
	};
	struct mapped_file *file = processes->files[mapping->file];

	if (!file->is_loaded && file->reason == SYMBOL_NAMED) {
		mapped_file__load(file, processes->opener, &request, processes__left(processes));
		processes->bytes += symbol_table__bytes(&file->table);
	}
	if (file->reason == SYMBOL_FILE_NOT_ELF) {
		/* Some compilers put their code into a memfd. */
		symbol->module = file->path;
		find_generated(processes, process, address, SYMBOL_FILE_NOT_ELF, symbol);
		return;
	}
	mapped_file__find(file, address - mapping->start + mapping->offset, symbol);
}

static void find_in_vdso(struct processes *processes, const struct proc_mapping *mapping,
			 uint64_t address, struct symbol *symbol)
{
	struct mapped_file *vdso = &processes->vdso;

	symbol->module = "[vdso]";
	symbol->module_address = address - mapping->start;
	symbol->reason = SYMBOL_OTHER_VDSO;
	if (!vdso->data || mapping->end - mapping->start != vdso->size ||
	    mapping->end <= UINT32_MAX)
		return;
	mapped_file__load(vdso, NULL, NULL, processes__left(processes));
	mapped_file__find(vdso, address - mapping->start, symbol);
}

static void find_in_mapping(struct processes *processes, struct known_process *process,
			    const struct proc_mapping *mapping, uint64_t address,
			    struct symbol *symbol)
{
	if (!mapping->executable)
		symbol->reason = SYMBOL_NOT_CODE;
	else if (mapping->file == PROC_MAPS_VDSO)
		find_in_vdso(processes, mapping, address, symbol);
	else if (mapping->file == PROC_MAPS_ANONYMOUS)
		find_generated(processes, process, address, SYMBOL_ANONYMOUS, symbol);
	else if (mapping->file == PROC_MAPS_NOT_KEPT)
		symbol->reason = SYMBOL_LIMIT;
	else
		find_in_file(processes, process, mapping, address, symbol);
}

void processes__find(struct processes *processes, uint32_t pid, uint64_t start_ns, uint64_t address,
		     struct symbol *symbol)
{
	struct known_process *process = processes__get(processes, pid, start_ns);
	const struct proc_mapping *mapping;
	bool ambiguous;

	*symbol = (struct symbol){ .module_address = address };
	if (!process) {
		symbol->reason = SYMBOL_NO_MEMORY;
		return;
	}
	if (!process->read_ns)
		process__read(processes, process);
	mapping = process__mapping(process, address, &ambiguous);
	if (!mapping && now_ns() - process->read_ns > REREAD_AFTER_NS) {
		process__read(processes, process);
		mapping = process__mapping(process, address, &ambiguous);
	}
	if (ambiguous)
		symbol->reason = SYMBOL_AMBIGUOUS;
	else if (mapping)
		find_in_mapping(processes, process, mapping, address, symbol);
	else if (!process->nr_readings)
		symbol->reason = process->reason;
	else if (process->readings[process->nr_readings - 1].cut)
		symbol->reason = SYMBOL_LIMIT;
	else
		symbol->reason = SYMBOL_UNMAPPED;
}

static void process__free(struct known_process *process)
{
	for (size_t i = 0; i < process->nr_readings; i++)
		proc_maps__free(&process->readings[i]);
	for (size_t i = 0; i < process->nr_perf_maps; i++)
		symbol_table__free(&process->perf_maps[i]);
	if (process->perf_map_fd >= 0)
		close(process->perf_map_fd);
	free(process);
}

void processes__free(struct processes *processes)
{
	for (size_t i = 0; i < PROCESSES_BUCKETS; i++) {
		struct known_process *process = processes->buckets[i], *next;

		for (; process; process = next) {
			next = process->next;
			process__free(process);
		}
	}
	for (size_t i = 0; i < processes->nr_files; i++) {
		mapped_file__free(processes->files[i]);
		free(processes->files[i]);
	}
	if (processes->lines)
		mapped_file__free(&processes->vdso);
	free(processes->files);
	free(processes->file_index);
	free(processes->lines);
}
