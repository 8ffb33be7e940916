// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "output/face.h"
#include "output/replaced_file.h"
#include "run/log.h"

/* This much buffered is written out without a flush. */
#define WRITE_BYTES (64 * 1024)
/* A buffer that one record made larger than this is given back. */
#define KEPT_BYTES (256 * 1024)
/* What a terminal that does not know its size is taken for. */
#define FALLBACK_WIDTH 80
#define FALLBACK_HEIGHT 24

struct sink {
	struct face *face;
	struct buffer out;
	const char *path; /* NULL: stdout */
	struct replaced_file *file; /* of a state, or NULL */
	int fd; /* -1: there is the file instead */
	bool unpublished; /* the state has changed since it was written out */
	bool terminal;
	size_t height; /* lines of the terminal */
	bool begun; /* the heading is written */
	int err; /* 0 or the first -errno, which ended the output */
};

static const char *hint_for(int err)
{
	switch (err) {
	case -ENOSPC:
	case -EDQUOT:
		return "Make room there, or choose another place with --output FILE.";
	case -EFBIG:
		return "Raise the limit on the size of files (ulimit -f), or make less output.";
	case -ENOENT:
	case -ENOTDIR:
		return "Make the directory first, or choose another place with --output FILE.";
	case -EACCES:
	case -EPERM:
	case -EROFS:
	case -EISDIR:
		return "Choose a file that you may write with --output FILE.";
	default:
		return NULL;
	}
}

/* The first error ends the output; a reader that has gone is no news to anybody. */
static int sink__fail(struct sink *sink, int err, const char *action)
{
	sink->err = err;
	if (err == -EPIPE)
		return err;
	if (sink->path)
		log_error(err, hint_for(err), "cannot %s '%s'", action, sink->path);
	else
		log_error(err, hint_for(err), "cannot %s standard output", action);
	return err;
}

static void sink__read_size(struct sink *sink)
{
	struct winsize size;

	if (!sink->terminal)
		return;
	sink->face->width = FALLBACK_WIDTH;
	sink->height = FALLBACK_HEIGHT;
	if (ioctl(sink->fd, TIOCGWINSZ, &size))
		return;
	if (size.ws_col)
		sink->face->width = size.ws_col;
	if (size.ws_row)
		sink->height = size.ws_row;
}

static int sink__open_file(struct sink *sink)
{
	int err;

	sink->fd = -1;
	if (sink__is_state(sink) && sink->path && replaced_file__is_possible(sink->path)) {
		err = replaced_file__open(&sink->file, sink->path);
		return err ? sink__fail(sink, err, "open") : 0;
	}
	/* A descriptor of our own also for stdout: closing it tells what the close of a file
	 * can tell, and fd 1 stays open for others. */
	if (sink->path)
		sink->fd = open(sink->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY,
				0644);
	else
		sink->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (sink->fd < 0)
		return sink__fail(sink, -errno, "open");
	sink->terminal = isatty(sink->fd);
	sink__read_size(sink);
	return 0;
}

int sink__open(struct sink **result, const struct sink_config *config)
{
	static int (*const open_face[])(struct face * *face, const struct sink_config *config) = {
		[FACE_TEXT] = text__open,     [FACE_JSON] = json__open,
		[FACE_CSV] = csv__open,	      [FACE_OPENMETRICS] = openmetrics__open,
		[FACE_FOLDED] = folded__open,
	};
	struct sink *sink = calloc(1, sizeof(*sink));
	int err;

	*result = NULL;
	if (!sink)
		return log_error(ENOMEM, NULL, "cannot prepare the output");
	sink->path = config->path;
	/* The file comes last: it is not emptied when something else fails. */
	err = open_face[config->face](&sink->face, config);
	if (err) {
		free(sink);
		return err;
	}
	err = sink__open_file(sink);
	if (err) {
		sink->face->operations->free(sink->face);
		free(sink);
		return err;
	}
	*result = sink;
	return 0;
}

/* What is buffered ends at a record's border. */
static int sink__write_out(struct sink *sink)
{
	int err = buffer__write(&sink->out, sink->fd);

	if (err)
		return sink__fail(sink, err, "write to");
	sink->out.size = 0;
	if (sink->out.capacity > KEPT_BYTES)
		buffer__free(&sink->out);
	return 0;
}

/* Appends a record, or the heading where record is NULL: whole or not at all. */
static int sink__format(struct sink *sink, const struct record *record)
{
	const struct face_operations *operations = sink->face->operations;
	size_t border = sink->out.size;
	int err;

	if (record)
		operations->record(sink->face, &sink->out, record);
	else if (operations->heading)
		operations->heading(sink->face, &sink->out);
	err = sink->out.err;
	if (!err)
		return 0;

	/* Out of memory: what came before is still good. */
	sink->out.size = border;
	if (sink__write_out(sink))
		return sink->err;
	return sink__fail(sink, err, "format a record for");
}

static int sink__begin(struct sink *sink)
{
	if (sink->begun)
		return sink->err;
	sink->begun = true;
	return sink__format(sink, NULL);
}

int sink__write(struct sink *sink, const struct record *record)
{
	/* The terminal may have got another size since what was written last. */
	if (!sink->out.size)
		sink__read_size(sink);
	if (sink__begin(sink) || sink__format(sink, record))
		return sink->err;
	sink->unpublished = true;
	if (sink__is_state(sink))
		return 0;
	return sink->out.size >= WRITE_BYTES ? sink__write_out(sink) : 0;
}

bool sink__is_buffering(const struct sink *sink)
{
	return sink__is_state(sink) ? sink->unpublished : sink->out.size;
}

bool sink__is_state(const struct sink *sink)
{
	return sink->face->operations->state;
}

bool sink__replaces(const struct sink *sink, uid_t *owner)
{
	if (sink->file)
		*owner = replaced_file__owner(sink->file);
	return sink->file;
}

int sink__try_replacing(struct sink *sink)
{
	int err = sink->file ? replaced_file__try(sink->file) : 0;

	return err ? sink__fail(sink, err, "replace") : 0;
}

size_t sink__width(const struct sink *sink)
{
	return sink->face->width;
}

size_t sink__height(const struct sink *sink)
{
	return sink->height;
}

int sink__begin_table(struct sink *sink, const char *const *columns)
{
	const struct face_operations *operations = sink->face->operations;
	int err = sink__begin(sink);

	if (err || !operations->table)
		return err;
	err = operations->table(sink->face, &sink->out, columns);
	if (err)
		sink->err = err;
	return err ? err : sink__format(sink, NULL);
}

int sink__flush(struct sink *sink)
{
	int err = sink__begin(sink);

	return err || sink__is_state(sink) ? err : sink__write_out(sink);
}

static int sink__replace(struct sink *sink)
{
	int err = replaced_file__replace(sink->file, &sink->out);

	sink->out.size = 0;
	return err ? sink__fail(sink, err, "replace") : 0;
}

int sink__publish(struct sink *sink, bool last)
{
	int err = sink->err;

	if (!sink__is_state(sink))
		return sink__flush(sink);
	if (err || !(sink->file || last))
		return err;
	sink->face->operations->state(sink->face, &sink->out);
	if (sink->out.err) {
		sink->out.size = 0;
		return sink__fail(sink, sink->out.err, "format metrics for");
	}
	err = sink->file ? sink__replace(sink) : sink__write_out(sink);
	sink->unpublished = err;
	return err;
}

int sink__close(struct sink *sink)
{
	int err;

	if (!sink)
		return 0;
	sink__flush(sink);
	replaced_file__close(sink->file);
	/* Linux has closed the descriptor also when a signal came. */
	if (sink->fd >= 0 && close(sink->fd) && errno != EINTR && !sink->err)
		sink__fail(sink, -errno, "finish writing to");
	err = sink->err;
	sink->face->operations->free(sink->face);
	buffer__free(&sink->out);
	free(sink);
	return err;
}
