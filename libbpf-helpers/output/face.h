/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the sink wants from each face: a record in, bytes out. A face formats into
 * the buffer it is given and does not know where that goes; it reports nothing
 * after it is open, as running out of memory is kept in the buffer.
 */
#ifndef VANTAGE_OUTPUT_FACE_H
#define VANTAGE_OUTPUT_FACE_H

#include <stddef.h>

#include "output/buffer.h"
#include "output/sink.h"

struct face;

struct face_operations {
	/* What stands before the first record; NULL: nothing. */
	void (*heading)(struct face *face, struct buffer *out);
	/* Appends one line with its newline, or nothing for a record the face does not show, or
	 * that it only adds to its state. */
	void (*record)(struct face *face, struct buffer *out, const struct record *record);
	/* Another table begins, below what is there. 0 or -errno, reported. NULL: nothing to do. */
	int (*table)(struct face *face, struct buffer *out, const char *const *columns);
	/* Appends the whole state. NULL: the face is a stream of records. */
	void (*state)(struct face *face, struct buffer *out);
	void (*free)(struct face *face);
};

/* First member of each face's own struct. */
struct face {
	const struct face_operations *operations;
	size_t width; /* characters in a line of the terminal; 0: no terminal, nothing is cut */
};

/* The config's tables are borrowed until the face is freed. 0 or -errno, reported. */
int text__open(struct face **face, const struct sink_config *config);
int json__open(struct face **face, const struct sink_config *config);
int csv__open(struct face **face, const struct sink_config *config);
int openmetrics__open(struct face **face, const struct sink_config *config);
int folded__open(struct face **face, const struct sink_config *config);

#endif
