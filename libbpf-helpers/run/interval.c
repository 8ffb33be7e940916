// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/interval.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "run/number.h"

#define NS_PER_SECOND 1000000000ULL

/* To the first line and column, and nothing from there on (ECMA-48: CUP, ED). */
#define CLEAR_TERMINAL "\033[H\033[J"

static const struct field interval_fields[] = {
	{ .name = "start_ns",
	  .kind = VALUE_UNSIGNED,
	  .required = true,
	  .meaning = "Wall clock of its start, since the epoch." },
	{ .name = "end_ns",
	  .kind = VALUE_UNSIGNED,
	  .required = true,
	  .meaning = "Wall clock of its end." },
	{ .name = "label", .kind = VALUE_BYTES, .text_only = true, .meaning = "Its heading." },
};

const struct record_type interval_record_type = {
	.name = "interval",
	.meaning = "An interval; its records follow.",
	.fields = interval_fields,
	.nr_fields = 3,
	.block = &interval_fields[2],
};

static const char *interval__label(const struct session *session, const struct session_span *span,
				   char *label, size_t size)
{
	uint64_t length_ns = span->end_ns - span->start_ns;
	uint64_t wall_ns = clock__wall_ns(&session->clock, span->end_ns);
	const char *before = session->work->redraw ? CLEAR_TERMINAL : "\n";
	bool is_short = length_ns + session->work->interval_ns / 100 < session->work->interval_ns;
	char clock[16] = "", since[32] = "", length[32];
	time_t second = (time_t)(wall_ns / NS_PER_SECOND);
	struct tm local;

	if (session->options->time && localtime_r(&second, &local))
		strftime(clock, sizeof(clock), "%H:%M:%S", &local);
	if (session->options->timestamp)
		snprintf(since, sizeof(since), "%s%.3f s", *clock ? "  " : "",
			 (double)(span->end_ns - session->started_ns) / NS_PER_SECOND);
	snprintf(label, size, "%s%s%s%s%s%s%s", before, clock, since,
		 is_short && (*clock || *since) ? "  " : "", is_short ? "(only " : "",
		 is_short ? number__format_time(length_ns / 1000000 * 1000000, length) : "",
		 is_short ? ")" : "");
	if (label[strlen(before)])
		snprintf(label + strlen(label), size - strlen(label), "\n");
	return label;
}

int interval__write(struct session *session, uint32_t kind, const struct session_span *span)
{
	char text[96];
	const char *label = interval__label(session, span, text, sizeof(text));
	const struct value values[] = {
		value__unsigned(clock__wall_ns(&session->clock, span->start_ns)),
		value__unsigned(clock__wall_ns(&session->clock, span->end_ns)),
		value__text(label),
	};

	return session__record_events(session, kind, 0,
				      &(struct record){ &interval_record_type, values });
}
