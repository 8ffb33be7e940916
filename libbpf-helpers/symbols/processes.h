/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes that were seen, what they had mapped, and the files of all of them, each once.
 * Maps change: up to eight readings of a process are kept that differ, and an address
 * that two of them give to different files is ambiguous.
 */
#ifndef VANTAGE_SYMBOLS_PROCESSES_H
#define VANTAGE_SYMBOLS_PROCESSES_H

#include "symbols/lines.h"
#include "symbols/mapped_file.h"

#define PROCESSES_READINGS_MAX 8
#define PROCESSES_BUCKETS 4096

struct known_process {
	struct known_process *next; /* in its bucket */
	uint32_t pid;
	uint64_t start_ns;
	uint64_t read_ns; /* of the last try */
	enum symbol_reason reason; /* why the maps could not be read last */
	struct proc_maps readings[PROCESSES_READINGS_MAX]; /* newest last */
	size_t nr_readings;
	/* Of generated code: the file, and what was read of it; all names stay valid. */
	int perf_map_fd;
	struct symbol_table perf_maps[PROCESSES_READINGS_MAX];
	size_t nr_perf_maps;
	uint64_t perf_map_size; /* when it was read last */
	uint64_t perf_map_changed_ns;
	uint64_t perf_map_read_ns;
	char perf_map_path[32];
};

struct processes {
	struct opener *opener; /* borrowed */
	struct known_process *buckets[PROCESSES_BUCKETS];
	size_t nr;
	uint64_t nr_readings; /* of maps, of all processes */
	uint64_t exited_early;
	uint64_t unreadable;
	struct mapped_file **files;
	size_t nr_files;
	size_t files_capacity;
	uint32_t *file_index; /* by device and inode; a power of two of places */
	size_t file_index_capacity;
	struct mapped_file vdso;
	struct lines *lines;
	size_t max_bytes;
	size_t bytes;
};

/* 0 or -errno, reported. */
int processes__init(struct processes *processes, struct opener *opener, size_t max_bytes);

/* As symbolizer__remember(). */
int processes__remember(struct processes *processes, uint32_t pid, uint64_t start_ns);

/* As symbolizer__user(), but for the demangling. */
void processes__find(struct processes *processes, uint32_t pid, uint64_t start_ns, uint64_t address,
		     struct symbol *symbol);

void processes__free(struct processes *processes);

#endif
