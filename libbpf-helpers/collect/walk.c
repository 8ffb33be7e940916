// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "collect/walk.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "run/log.h"

void walk__want(struct bpf_program *program, bool wanted)
{
	bpf_program__set_autoload(program, wanted);
}

void walk__detach(struct bpf_link *link)
{
	bpf_link__destroy(link);
}

struct bpf_link *walk__attach(struct bpf_program *program, const struct bpf_map *map)
{
	union bpf_iter_link_info info = {};
	LIBBPF_OPTS(bpf_iter_attach_opts, options);
	struct bpf_link *link;

	if (map) {
		info.map.map_fd = (__u32)bpf_map__fd(map);
		options.link_info = &info;
		options.link_info_len = sizeof(info);
	}
	link = bpf_program__attach_iter(program, &options);
	if (!link)
		log_error(errno, NULL, "cannot attach the walk '%s'", bpf_program__name(program));
	return link;
}

int walk__start(struct bpf_program *program)
{
	struct bpf_link *link = walk__attach(program, NULL);
	int fd;

	if (!link)
		return -EINVAL;
	fd = bpf_iter_create(bpf_link__fd(link));
	bpf_link__destroy(link);
	return fd < 0 ? log_error(fd, NULL, "cannot start the walk '%s'",
				  bpf_program__name(program)) :
			fd;
}

ssize_t walk__read_bytes(int fd, void *data, size_t size)
{
	ssize_t nr;

	/* The kernel stops short for a while when it has passed many objects. */
	do
		nr = read(fd, data, size);
	while (nr < 0 && (errno == EAGAIN || errno == EINTR));
	return nr < 0 ? -errno : nr;
}

int walk__read(int fd, size_t record_size, walk_fn fn, void *ctx)
{
	char buffer[2 * WALK_RECORD_MAX];
	size_t have = 0, done;
	ssize_t nr;
	int err;

	for (;;) {
		nr = walk__read_bytes(fd, buffer + have, sizeof(buffer) - have);
		if (nr < 0)
			return log_error((int)nr, NULL, "cannot read a walk from the kernel");
		if (!nr)
			return 0;
		have += (size_t)nr;
		for (done = 0; fn && have - done >= record_size; done += record_size) {
			err = fn(ctx, buffer + done);
			if (err)
				return err;
		}
		/* A read can end inside a record. */
		have = fn ? have - done : 0;
		memmove(buffer, buffer + done, have);
	}
}
