/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What the tests of the sink share: a file as output, and the errors the sink
 * reports. Included once by each of them.
 */
#ifndef VANTAGE_TESTS_UNIT_SINK_OUTPUT_H
#define VANTAGE_TESTS_UNIT_SINK_OUTPUT_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "output/sink.h"
#include "run/log.h"
#include "scratch.h"
#include "test.h"

#define NR_OF(array) (sizeof(array) / sizeof((array)[0]))

static const struct value absent = { .kind = VALUE_ABSENT };

static inline struct value value__string(const char *string)
{
	size_t size = 0;

	while (string[size])
		size++;
	return value__bytes(string, size);
}

static unsigned int nr_errors;
static char last_error[400];

static inline void keep_error(const struct log_message *message)
{
	nr_errors++;
	snprintf(last_error, sizeof(last_error), "%s: %s (%s)", message->message,
		 message->cause ? message->cause : "no cause",
		 message->hint ? message->hint : "no hint");
}

/* Writes the records with the config to a file and returns what it holds, to be freed; ends the
 * program when an error comes. */
static inline char *written(struct sink_config config, const struct record *records, size_t nr)
{
	struct sink *sink;
	char *text;
	int err;

	config.path = scratch__path("output");
	err = sink__open(&sink, &config);
	for (size_t i = 0; i < nr && !err; i++)
		err = sink__write(sink, &records[i]);
	if (!err)
		err = sink__close(sink);
	text = err ? NULL : file__read(config.path, NULL);
	if (!text) {
		printf("not ok - the sink writes a file: error %d\n", err);
		exit(1);
	}
	return text;
}

#endif
