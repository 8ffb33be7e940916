/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages to the person at the terminal, on stderr: what could not be done,
 * to what, why, and what to do next. Another face (JSON) is plugged in as a writer.
 * Data never passes through here. The text writer makes each message one write(2): a
 * line of any length, and a second one when there is a hint; bytes that could forge a
 * line or move the cursor are escaped as output/escape.h says.
 */
#ifndef VANTAGE_RUN_LOG_H
#define VANTAGE_RUN_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum log_level {
	LOG_ERROR,
	LOG_WARNING,
	LOG_INFO, /* said in every run: what is traced, the account */
	LOG_DEBUG, /* with --verbose only */
};

struct log_message {
	enum log_level level;
	const char *program; /* name of the tool */
	const char *message; /* what, to what */
	const char *cause; /* why, or NULL */
	const char *hint; /* what to do next, or NULL */
};

typedef void (*log_writer_fn)(const struct log_message *message);

/* program: borrowed for the life of the process. Messages up to LOG_INFO are written. */
void log__init(const char *program);
/* Messages above the level are dropped. */
void log__set_level(enum log_level level);
enum log_level log__level(void);
/* NULL: the text writer. */
void log__set_writer(log_writer_fn writer);

/*
 * Reports a failure and returns it, so that "say it and give up" is one
 * expression: return log_error(errno, "hint", "cannot open '%s'", path).
 * error: an errno value of either sign (its text is the cause), or 0 for none.
 * hint: one sentence or NULL. Returns -abs(error), or -EINVAL when error is 0.
 */
int log_error(int error, const char *hint, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same with a cause in words (NULL or "": none) instead of an errno's text. */
int log_error_because(int error, const char *cause, const char *hint, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void log_warning(const char *hint, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * What a try says that another may follow: between log__hold() and log__take() errors are kept and
 * not written. What was taken is said later, as errors or at another level, and freed.
 */
struct log_held;

void log__hold(void);
/* NULL when no error was held back, or when there was no memory for it (it was written then). */
struct log_held *log__take(void);
void log_held__say(const struct log_held *held, enum log_level level);
/* The nth message with its cause, into text, cut if it must be; false when there are no more. */
bool log_held__text(const struct log_held *held, size_t n, char *text, size_t size);
/* held may be NULL. */
void log_held__free(struct log_held *held);

#endif
