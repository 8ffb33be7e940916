// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/maps.h"

#include <errno.h>
#include <stdlib.h>

#include <bpf/libbpf.h>

#include "run/log.h"

int cpus__count(void)
{
	int nr = libbpf_num_possible_cpus();

	return nr < 0 ? log_error(nr, NULL, "cannot count the possible CPUs") : nr;
}

int maps__size(const struct map_size *sizes, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const struct map_size *size = &sizes[i];
		int err = bpf_map__set_autocreate(size->map, !size->unused);

		if (!err && size->entries)
			err = bpf_map__set_max_entries(size->map, size->entries);
		if (!err && size->key_size)
			err = bpf_map__set_key_size(size->map, (__u32)size->key_size);
		if (err)
			return log_error(err, NULL, "cannot size the table '%s'",
					 bpf_map__name(size->map));
	}
	return 0;
}

int map__sum_cpus(const struct bpf_map *map, uint64_t *sums, size_t nr)
{
	int nr_cpus = cpus__count(), err = 0;
	uint64_t *cpus;

	if (nr_cpus < 0)
		return nr_cpus;
	cpus = calloc((size_t)nr_cpus, sizeof(*cpus));
	if (!cpus)
		return log_error(ENOMEM, NULL, "cannot read the table '%s'", bpf_map__name(map));
	for (__u32 i = 0; i < nr && !err; i++) {
		err = bpf_map__lookup_elem(map, &i, sizeof(i), cpus,
					   (size_t)nr_cpus * sizeof(*cpus), 0);
		if (err)
			log_error(err, NULL, "cannot read the table '%s' from the kernel",
				  bpf_map__name(map));
		sums[i] = 0;
		for (int cpu = 0; cpu < nr_cpus; cpu++)
			sums[i] += cpus[cpu];
	}
	free(cpus);
	return err;
}
