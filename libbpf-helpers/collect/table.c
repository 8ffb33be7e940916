// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "collect/walk.h"
#include "run/log.h"

/* Entries asked for at a time; more than one bucket of the hash holds, or the kernel has to
 * be asked for more at once. */
#define BATCH_ENTRIES 1024

/* Room for a read of a walk: more than the kernel gives at a time. */
#define WALK_BYTES (64 << 10)

struct batch {
	char *keys;
	char *values;
	__u32 capacity;
};

static int batch__grow(struct batch *batch, const struct table *table, __u32 capacity)
{
	char *keys = reallocarray(batch->keys, capacity, table->key_size), *values;

	if (!keys)
		return -ENOMEM;
	batch->keys = keys;
	values = reallocarray(batch->values, capacity, table->value_size);
	if (!values)
		return -ENOMEM;
	batch->values = values;
	batch->capacity = capacity;
	return 0;
}

static int table__append(struct table *table, const struct batch *batch, __u32 nr)
{
	size_t size = table->key_size + table->value_size;
	char *data = reallocarray(table->data, table->nr + nr, size);

	if (!data)
		return -ENOMEM;
	table->data = data;
	for (__u32 i = 0; i < nr; i++) {
		char *entry = data + (table->nr + i) * size;

		memcpy(entry, batch->keys + i * table->key_size, table->key_size);
		memcpy(entry + table->key_size, batch->values + i * table->value_size,
		       table->value_size);
	}
	table->nr += nr;
	return 0;
}

static int table__read_all(struct table *table, struct batch *batch, int fd)
{
	__u32 position, nr;
	bool first = true;
	int err, read_err;

	err = batch__grow(batch, table, BATCH_ENTRIES);
	while (!err) {
		nr = batch->capacity;
		read_err = bpf_map_lookup_batch(fd, first ? NULL : &position, &position,
						batch->keys, batch->values, &nr, NULL);
		/* A bucket that does not fit is given whole the next time. */
		if (read_err == -ENOSPC && !nr) {
			err = batch__grow(batch, table, 2 * batch->capacity);
			continue;
		}
		if (read_err && read_err != -ENOENT && read_err != -ENOSPC)
			return read_err;
		err = nr ? table__append(table, batch, nr) : 0;
		/* The end of the map. */
		if (read_err == -ENOENT)
			break;
		first = false;
	}
	return err;
}

int table__read(struct table *table, const struct bpf_map *map, size_t key_size, size_t value_size)
{
	struct batch batch = {};
	int err;

	*table = (struct table){ .key_size = key_size, .value_size = value_size };
	err = table__read_all(table, &batch, bpf_map__fd(map));
	free(batch.keys);
	free(batch.values);
	if (!err)
		return 0;
	table__free(table);
	return log_error(err, NULL, "cannot read the table '%s' from the kernel",
			 bpf_map__name(map));
}

int table__read_cpus(struct table *table, const struct bpf_map *map, size_t value_size)
{
	int nr_cpus = libbpf_num_possible_cpus(), err;
	const __u32 key = 0;

	*table = (struct table){ .value_size = value_size };
	if (nr_cpus < 0)
		return log_error(nr_cpus, NULL, "cannot count the possible CPUs");
	table->data = calloc((size_t)nr_cpus, value_size);
	if (!table->data)
		return log_error(ENOMEM, NULL, "cannot keep the table '%s'", bpf_map__name(map));
	table->nr = (size_t)nr_cpus;
	err = bpf_map__lookup_elem(map, &key, sizeof(key), table->data, table->nr * value_size, 0);
	if (!err)
		return 0;
	table__free(table);
	return log_error(err, NULL, "cannot read the table '%s' from the kernel",
			 bpf_map__name(map));
}

static int table__read_walk(struct table *table, int fd)
{
	size_t size = table->key_size + table->value_size, have = 0, room = 0;

	for (;;) {
		char *data = table->data;
		ssize_t nr;

		if (room - have < WALK_BYTES) {
			room = 2 * room + WALK_BYTES;
			data = realloc(table->data, room);
			if (!data)
				return -ENOMEM;
			table->data = data;
		}
		nr = walk__read_bytes(fd, data + have, room - have);
		if (nr < 0)
			return (int)nr;
		if (!nr)
			break;
		have += (size_t)nr;
	}
	table->nr = have / size;
	return have % size ? -EIO : 0;
}

int table__walk(struct table *table, const struct bpf_link *link, size_t key_size,
		size_t value_size)
{
	int fd = bpf_iter_create(bpf_link__fd(link)), err;

	*table = (struct table){ .key_size = key_size, .value_size = value_size };
	if (fd < 0)
		return log_error(fd, NULL, "cannot start a walk over a table of the kernel");
	err = table__read_walk(table, fd);
	close(fd);
	if (!err)
		return 0;
	table__free(table);
	return log_error(err, NULL, "cannot walk a table of the kernel");
}

void table__free(struct table *table)
{
	free(table->data);
	*table = (struct table){};
}
