// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* The text face on a terminal: it fits the width, says what it cuts, and cannot be driven. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/odd_args.h"
#include "support/role.h"
#include "support/test.h"
#include "support/tool.h"
#include "support/workload.h"

struct terminal {
	int master;
	int slave;
	char *text;
	size_t size;
};

static const char *program;

static void resize(const struct terminal *terminal, unsigned short columns)
{
	const struct winsize size = { .ws_row = columns ? 24 : 0, .ws_col = columns };

	if (ioctl(terminal->master, TIOCSWINSZ, &size))
		test__fatal("terminal", "cannot set its size: %s", strerror(errno));
}

static bool open_terminal(struct terminal *terminal, unsigned short columns)
{
	*terminal = (struct terminal){ .master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) };
	if (terminal->master < 0 || grantpt(terminal->master) || unlockpt(terminal->master))
		return false;
	terminal->slave = open(ptsname(terminal->master), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (terminal->slave < 0)
		return false;
	resize(terminal, columns);
	return true;
}

static size_t nr_lines(const char *text)
{
	size_t nr = 0;

	while (text && (text = strchr(text, '\n'))) {
		text++;
		nr++;
	}
	return nr;
}

/* Takes what comes until there are nr lines from the byte "from" on, or too much time is over. */
static void read_terminal(struct terminal *terminal, size_t from, size_t nr)
{
	struct pollfd poll_fd = { .fd = terminal->master, .events = POLLIN };

	while (nr_lines(terminal->text ? terminal->text + from : NULL) < nr &&
	       poll(&poll_fd, 1, (int)test__patience_ms(3000)) > 0) {
		char *room = realloc(terminal->text, terminal->size + 4097);
		ssize_t got;

		if (!room)
			test__fatal("memory", "out of memory");
		terminal->text = room;
		got = read(terminal->master, terminal->text + terminal->size, 4096);
		if (got <= 0)
			return;
		terminal->size += (size_t)got;
		terminal->text[terminal->size] = '\0';
	}
}

static void close_terminal(struct terminal *terminal)
{
	close(terminal->master);
	close(terminal->slave);
	free(terminal->text);
}

/* Columns that a character takes: those of the texts used here are wide from U+1100 on, but for
 * punctuation such as the ellipsis. */
static unsigned int width_of(unsigned int code)
{
	return code >= 0x2e80 ? 2 : 1;
}

/* The width of a line in columns, or a failed check for what is no clean UTF-8. */
static unsigned int line_width(const char *line, size_t size, bool *clean)
{
	unsigned int width = 0;

	for (size_t i = 0; i < size;) {
		unsigned char byte = (unsigned char)line[i++];
		unsigned int code = byte, more = 0;

		if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && byte < 0xc2))
			*clean = false;
		if (byte >= 0xc2) {
			more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
			code = byte & (0x3fu >> more);
		}
		for (; more && i < size; more--)
			code = code << 6 | ((unsigned char)line[i++] & 0x3f);
		if ((code >= 0x80 && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
		    (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069))
			*clean = false;
		width += width_of(code);
	}
	return width;
}

/* Every line ends in CR LF, which the terminal makes of a newline, and is no wider than it. */
static size_t check_lines(const struct terminal *terminal, size_t from, unsigned int columns)
{
	const char *line = terminal->text + from, *end;
	unsigned int widest = 0;
	bool clean = true;
	char check[96];
	size_t nr = 0;

	while ((end = strstr(line, "\r\n"))) {
		unsigned int width = line_width(line, (size_t)(end - line), &clean);

		widest = width > widest ? width : widest;
		line = end + 2;
		nr++;
	}
	clean = clean && !*line;
	test__check(clean, "terminal: nothing moves the cursor or disguises text",
		    "a control character came through");
	snprintf(check, sizeof(check), "terminal: lines fit %u columns", columns);
	if (columns)
		test__check(widest <= columns, check, "one takes %u", widest);
	return nr;
}

static void execute(const char *const *argv)
{
	workload__run(&(struct workload){ .program = program, .argv = argv });
}

/* Runs all odd arguments on a terminal of this width; rows: lines of each process. */
static void check_width(struct terminal *terminal, const struct tool_run *run,
			unsigned short columns, unsigned int rows)
{
	size_t from = terminal->size;

	resize(terminal, columns);
	/* A terminal tells its foreground job; this tool is not part of one here. */
	tool_run__signal(run, SIGWINCH);
	for (size_t i = 0; i < nr_odd_args; i++)
		execute(odd_args[i].argv);
	read_terminal(terminal, from, rows * nr_odd_args);
	test__equal("terminal: one event is one line", check_lines(terminal, from, columns),
		    rows * nr_odd_args);
}

/* What does not fit is counted, in bytes, at the end of the line. */
static void check_cut(struct terminal *terminal, const struct tool_run *run)
{
	static char word[501];
	size_t from = terminal->size, shown;
	const char *line, *mark;

	memset(word, 'x', sizeof(word) - 1);
	resize(terminal, 100);
	tool_run__signal(run, SIGWINCH);
	execute(ARGS(word));
	read_terminal(terminal, from, 1);
	line = strstr(terminal->text + from, "xxx");
	if (!test__check(line, "terminal: the line begins with what fits", "saw: %s",
			 terminal->text + from))
		return;
	shown = strspn(line, "x");
	mark = strstr(line, "(+");
	test__equal("terminal: what is cut is counted",
		    shown + (mark ? strtoul(mark + 2, NULL, 10) : 0), sizeof(word) - 1);
}

/* One run on one terminal that changes its width: nr widths, the first from the start. */
static void check_terminal(const char *const *args, unsigned int rows, const unsigned short *widths,
			   size_t nr)
{
	struct terminal terminal;
	struct tool_run run;

	if (!open_terminal(&terminal, widths[0])) {
		test__skip("terminal: lines fit", "no pseudo-terminal: %s", strerror(errno));
		return;
	}
	tool_run__trace(&run, &(struct tool_setup){ .stdout_fd = terminal.slave }, args);
	read_terminal(&terminal, 0, 1);
	test__equal("terminal: the heading is one line", check_lines(&terminal, 0, widths[0]), 1);
	for (size_t i = 0; i < nr; i++)
		check_width(&terminal, &run, widths[i], rows);
	if (rows == 1)
		check_cut(&terminal, &run);
	test__equal("terminal: the status is 0", (uint64_t)tool_run__stop(&run), 0);
	tool_run__free(&run);
	close_terminal(&terminal);
}

int main(int argc, char **argv)
{
	/* A serial line tells no size: 0. */
	static const unsigned short plain[] = { 80, 132, 40, 0 };
	/* The last is narrower than the columns before the arguments. */
	static const unsigned short all_columns[] = { 132, 60, 24 };

	role__play(argc, argv);
	program = workload__own_program("tty");
	check_terminal(ARGS("--comm", file_name(program)), 1, plain, 4);
	check_terminal(ARGS("-eTtUCMq", "--comm", file_name(program)), 2, all_columns, 3);
	return test__done();
}
