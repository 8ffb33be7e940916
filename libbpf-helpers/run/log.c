// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "run/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output/buffer.h"
#include "output/escape.h"

static const char *const level_labels[] = {
	[LOG_ERROR] = "error: ",
	[LOG_WARNING] = "warning: ",
	[LOG_INFO] = "",
	[LOG_DEBUG] = "debug: ",
};

static void log__write_text(const struct log_message *message);

struct held_message {
	char *message;
	char *cause;
	char *hint;
};

struct log_held {
	struct held_message *items;
	size_t nr;
};

static struct {
	const char *program;
	enum log_level level;
	log_writer_fn writer;
	bool holding;
	struct log_held *held;
} state = { .level = LOG_INFO, .writer = log__write_text };

/* Escapes what may hold a path or a name, so that no message has a line it did not write. */
static void append_escaped(struct buffer *buffer, const char *text)
{
	size_t size = strlen(text);
	char *out = buffer__reserve(buffer, 4 * size);

	if (out)
		buffer->size += escape__text(out, text, size);
}

static void append_line(struct buffer *buffer, const char *program, const char *label,
			const char *text, const char *cause)
{
	append_escaped(buffer, program);
	buffer__append_string(buffer, ": ");
	buffer__append_string(buffer, label);
	append_escaped(buffer, text);
	if (cause && *cause) {
		buffer__append_string(buffer, ": ");
		append_escaped(buffer, cause);
	}
	buffer__append_char(buffer, '\n');
}

static void log__write_text(const struct log_message *message)
{
	static const char no_memory[] = "out of memory while writing a message\n";
	struct buffer buffer = {};

	append_line(&buffer, message->program, level_labels[message->level], message->message,
		    message->cause);
	if (message->hint)
		append_line(&buffer, message->program, "hint: ", message->hint, NULL);
	if (buffer.err) {
		buffer__free(&buffer);
		buffer = (struct buffer){ .data = (char *)no_memory,
					  .size = sizeof(no_memory) - 1 };
		(void)buffer__write(&buffer, STDERR_FILENO);
		return;
	}
	/* When stderr cannot be written, nobody is left to be told. */
	(void)buffer__write(&buffer, STDERR_FILENO);
	buffer__free(&buffer);
}

void log__init(const char *program)
{
	state.program = program;
	state.level = LOG_INFO;
}

void log__set_level(enum log_level level)
{
	state.level = level;
}

enum log_level log__level(void)
{
	return state.level;
}

void log__set_writer(log_writer_fn writer)
{
	state.writer = writer ? writer : log__write_text;
}

static void held_message__free(struct held_message *message)
{
	free(message->message);
	free(message->cause);
	free(message->hint);
}

/* Keeps a copy. False without memory. */
static bool log__keep(const struct log_message *message)
{
	struct held_message copy = {
		.message = strdup(message->message),
		.cause = message->cause ? strdup(message->cause) : NULL,
		.hint = message->hint ? strdup(message->hint) : NULL,
	};
	struct held_message *items = NULL;

	if (!state.held)
		state.held = calloc(1, sizeof(*state.held));
	if (state.held && copy.message && (!message->cause || copy.cause) &&
	    (!message->hint || copy.hint))
		items = reallocarray(state.held->items, state.held->nr + 1, sizeof(*items));
	if (!items) {
		held_message__free(&copy);
		return false;
	}
	items[state.held->nr++] = copy;
	state.held->items = items;
	return true;
}

/* Leaves errno alone: a message between a failure and its report must not change the cause. */
static void log__message(enum log_level level, const char *cause, const char *hint,
			 const char *format, va_list args)
{
	struct log_message message = {
		.level = level,
		.program = state.program ? state.program : program_invocation_short_name,
		.cause = cause && *cause ? cause : NULL,
		.hint = hint,
	};
	int saved_errno = errno;
	char *text;

	if (level > state.level)
		return;
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	/* Without memory the format still says what was to be said. */
	message.message = text ? text : format;
	if (level != LOG_ERROR || !state.holding || !log__keep(&message))
		state.writer(&message);
	free(text);
	errno = saved_errno;
}

int log_error(int error, const char *hint, const char *format, ...)
{
	va_list args;

	error = abs(error);
	va_start(args, format);
	log__message(LOG_ERROR, error ? strerror(error) : NULL, hint, format, args);
	va_end(args);
	return error ? -error : -EINVAL;
}

int log_error_because(int error, const char *cause, const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log__message(LOG_ERROR, cause, hint, format, args);
	va_end(args);
	return error ? -abs(error) : -EINVAL;
}

void log_warning(const char *hint, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log__message(LOG_WARNING, NULL, hint, format, args);
	va_end(args);
}

void log_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log__message(LOG_INFO, NULL, NULL, format, args);
	va_end(args);
}

void log_debug(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log__message(LOG_DEBUG, NULL, NULL, format, args);
	va_end(args);
}

void log__hold(void)
{
	state.holding = true;
}

struct log_held *log__take(void)
{
	struct log_held *held = state.held;

	state.holding = false;
	state.held = NULL;
	return held;
}

void log_held__say(const struct log_held *held, enum log_level level)
{
	for (size_t i = 0; held && i < held->nr && level <= state.level; i++) {
		const struct log_message message = {
			.level = level,
			.program = state.program ? state.program : program_invocation_short_name,
			.message = held->items[i].message,
			.cause = held->items[i].cause,
			.hint = held->items[i].hint,
		};

		state.writer(&message);
	}
}

bool log_held__text(const struct log_held *held, size_t n, char *text, size_t size)
{
	if (!held || n >= held->nr)
		return false;
	snprintf(text, size, "%s%s%s", held->items[n].message, held->items[n].cause ? ": " : "",
		 held->items[n].cause ? held->items[n].cause : "");
	return true;
}

void log_held__free(struct log_held *held)
{
	if (!held)
		return;
	for (size_t i = 0; i < held->nr; i++)
		held_message__free(&held->items[i]);
	free(held->items);
	free(held);
}
