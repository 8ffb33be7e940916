// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "run/log.h"
#include "run/probe_info.h"

/* Kernel memory of a map, as its descriptor's information file tells it. */
static int map__memory(const struct bpf_map *map, uint64_t *bytes)
{
	char path[64], line[128];
	int err = -ENODATA;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", bpf_map__fd(map));
	file = fopen(path, "re");
	if (!file)
		return -errno;
	while (err && fgets(line, sizeof(line), file))
		if (sscanf(line, "memlock: %" SCNu64, bytes) == 1)
			err = 0;
	fclose(file);
	return err;
}

void run_stats__start(struct run_stats *stats, const struct bpf_object *object)
{
	const struct bpf_map *map;

	stats->map_bytes = 0;
	bpf_object__for_each_map(map, object) {
		uint64_t bytes = 0;
		int err;

		if (!bpf_map__autocreate(map))
			continue;
		err = map__memory(map, &bytes);
		if (err)
			log_warning(NULL, "cannot tell the memory of map '%s': errno %d",
				    bpf_map__name(map), -err);
		stats->map_bytes += bytes;
	}
	stats->fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
	if (stats->fd < 0) {
		log_warning(errno == EPERM ? "It needs CAP_SYS_ADMIN." : NULL,
			    "cannot switch on the kernel's run-time statistics: "
			    "the runs of the programs stay unknown");
		stats->fd = -1;
	}
}

static double timeval__seconds(const struct timeval *time)
{
	return time->tv_sec + time->tv_usec / 1e6;
}

void run_stats__report(const struct run_stats *stats, const struct attachment *attachment,
		       uint64_t duration_ns)
{
	struct rusage usage;

	for (size_t i = 0; stats->fd >= 0 && i < attachment->nr_probes; i++) {
		struct probe_info info;

		probe_info__read(&attachment->probes[i], &info);
		log_info("%s: %" PRIu64 " runs, %" PRIu64 " ns each, %.3f %% of one CPU",
			 attachment->probes[i].program->program, info.runs,
			 info.runs ? info.run_ns / info.runs : 0,
			 duration_ns ? 100.0 * info.run_ns / duration_ns : 0.0);
	}
	getrusage(RUSAGE_SELF, &usage);
	log_info("the tool itself: %.3f s of CPU (start-up included), %ld KiB of memory at most; "
		 "its maps: %" PRIu64 " KiB of kernel memory",
		 timeval__seconds(&usage.ru_utime) + timeval__seconds(&usage.ru_stime),
		 usage.ru_maxrss, stats->map_bytes / 1024);
}

void run_stats__close(struct run_stats *stats)
{
	if (stats->fd >= 0)
		close(stats->fd);
	stats->fd = -1;
}
