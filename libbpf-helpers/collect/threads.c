// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/threads.h"

#include <stddef.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "collect/walk.h"
#include "run/log.h"

/* Threads of the hash that stands in for task storage. */
#define THREADS_MAX 65536

#define WALKS_MAX 20

bool threads__have_storage(void)
{
	return libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL) == 1;
}

int threads__prepare(const struct threads *threads)
{
	struct bpf_map *unused = threads->in_storage ? threads->by_tid : threads->storage;
	int err = bpf_map__set_autocreate(unused, false);

	if (!err && !threads->in_storage)
		err = bpf_map__set_max_entries(threads->by_tid, THREADS_MAX);
	if (!err)
		err = bpf_program__set_autoload(threads->walk, true);
	return err ? log_error(err, NULL, "cannot make room for what is known of threads") : 0;
}

/* The kernel refills its store of small pieces in the background: what finds none at first does so
 * later. */
int threads__walk(const struct threads *threads)
{
	for (int i = 0; i < WALKS_MAX; i++) {
		int fd = walk__start(threads->walk), err;

		if (fd < 0)
			return fd;
		*threads->failures = 0;
		err = walk__read(fd, 0, NULL, NULL);
		close(fd);
		if (err || !*threads->failures)
			return err;
	}
	log_warning(NULL, "no memory for %llu threads: what they do is counted as lost",
		    (unsigned long long)*threads->failures);
	return 0;
}
