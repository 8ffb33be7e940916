/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A process of its own that opens what only a privileged one may: the maps of a process, the
 * files it has mapped, their debug files in its view of the file system, and its perf
 * map. It hands over descriptors for reading; who reads and parses has no privilege.
 *
 * It is forked at the start, keeps CAP_SYS_PTRACE (maps, root), CAP_CHECKPOINT_RESTORE
 * (map_files) and CAP_DAC_READ_SEARCH (/proc/PID/map_files and files that only another user
 * may read), as far as the caller had them, and no descriptor but its end of a socket. It ends
 * with the caller. Whoever takes over the other end gets no more than that: it hands out
 * nothing but maps, perf maps, and regular files that begin with the bytes of an ELF file. A
 * file that is named by a path is looked for where the process's own maps name it. Nothing it
 * does waits: a FIFO or a device behind a mapped name is not opened.
 *
 * A process is what /proc/PID was when the request began, with the right start time: a
 * descriptor of that folder leads to no later process with the same id.
 */
#ifndef VANTAGE_SYMBOLS_OPENER_H
#define VANTAGE_SYMBOLS_OPENER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define OPENER_BUILD_ID_MAX 64
#define OPENER_NAME_MAX 255

enum opener_what {
	OPENER_MAPS, /* /proc/PID/maps */
	OPENER_MAPPED_FILE, /* of the mapping that starts at start and ends at end */
	OPENER_PERF_MAP, /* /tmp/perf-PID.map, in its root and by the id it has there */
	OPENER_DEBUG_BUILD_ID, /* the debug file with this build id; pid 0: in this root only */
	OPENER_DEBUG_LINK, /* the debug file with this name, for the mapping's file */
};

struct opener_request {
	uint32_t what;
	uint32_t pid;
	uint64_t start_ns; /* 0: any process with the id */
	uint64_t start;
	uint64_t end;
	/* OPENER_DEBUG_BUILD_ID, OPENER_DEBUG_LINK: which one of the places, from 0 on. */
	uint32_t place;
	uint32_t build_id_size;
	unsigned char build_id[OPENER_BUILD_ID_MAX];
	char name[OPENER_NAME_MAX + 1]; /* OPENER_DEBUG_LINK; no slash */
};

struct opener {
	int socket; /* -1: not running */
	pid_t pid;
};

/* Forks it. Signals that end a run (INT, TERM, HUP) do not end it. 0 or -errno, reported. */
int opener__start(struct opener *opener);

/*
 * A descriptor for reading, owned by the caller, at its beginning. -errno, not reported:
 * -ESRCH no such process (any more), -ESTALE another process has the id, -EACCES or -EPERM,
 * -ENOENT no such file or place, -EXDEV the path leads to another file than the mapped one,
 * -ENODEV it is no regular file, -EREMOTE it lies on FUSE, whose server could keep the reader
 * waiting, -ENOEXEC no ELF file, -ETIMEDOUT the file system did not answer within 2 s, -EPIPE
 * the opener is gone.
 */
int opener__open(struct opener *opener, const struct opener_request *request);

/* Ends it and waits for it. */
void opener__stop(struct opener *opener);

#endif
