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

/* Takes what has come; waits for ms milliseconds of silence. */
static void read_terminal(struct terminal *terminal, int ms)
{
	struct pollfd poll_fd = { .fd = terminal->master, .events = POLLIN };

	while (poll(&poll_fd, 1, ms) > 0) {
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

/* rows: of each process */
static void check_width(unsigned short columns, unsigned int rows, const char *const *args)
{
	struct terminal terminal;
	struct tool_run run;
	size_t nr;

	if (!open_terminal(&terminal, columns)) {
		test__skip("terminal: lines fit", "no pseudo-terminal: %s", strerror(errno));
		return;
	}
	tool_run__trace(&run, &(struct tool_setup){ .stdout_fd = terminal.slave }, args);
	for (size_t i = 0; i < nr_odd_args; i++)
		execute(odd_args[i].argv);
	read_terminal(&terminal, (int)test__patience_ms(400));
	tool_run__stop(&run);
	read_terminal(&terminal, 0);
	nr = check_lines(&terminal, 0, columns);
	test__equal("terminal: one event is one line", nr, rows * nr_odd_args + 1);
	tool_run__free(&run);
	close_terminal(&terminal);
}

/* What does not fit is counted, in bytes, at the end of the line. */
static void check_cut(void)
{
	char word[501], *mark, *line;
	struct terminal terminal;
	unsigned long left_out;
	struct tool_run run;
	size_t shown = 0;

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	if (!open_terminal(&terminal, 100)) {
		test__skip("terminal: what is cut is counted", "no pseudo-terminal: %s",
			   strerror(errno));
		return;
	}
	tool_run__trace(&run, &(struct tool_setup){ .stdout_fd = terminal.slave },
			ARGS("--comm", file_name(program)));
	execute(ARGS(word));
	read_terminal(&terminal, (int)test__patience_ms(400));
	tool_run__stop(&run);
	line = strstr(terminal.text, "xxx");
	if (test__check(line, "terminal: the line begins with what fits", "saw: %s",
			terminal.text)) {
		shown = strspn(line, "x");
		mark = strstr(line, "(+");
		left_out = mark ? strtoul(mark + 2, NULL, 10) : 0;
		test__equal("terminal: what is cut is counted", shown + left_out, sizeof(word) - 1);
	}
	tool_run__free(&run);
	close_terminal(&terminal);
}

static void check_resize(void)
{
	struct terminal terminal;
	struct tool_run run;
	size_t from, nr;
	char word[201];

	memset(word, 'x', sizeof(word) - 1);
	word[sizeof(word) - 1] = '\0';
	if (!open_terminal(&terminal, 132)) {
		test__skip("terminal: a new width counts at once", "no pseudo-terminal: %s",
			   strerror(errno));
		return;
	}
	tool_run__trace(&run, &(struct tool_setup){ .stdout_fd = terminal.slave },
			ARGS("--comm", file_name(program)));
	execute(ARGS(word));
	read_terminal(&terminal, (int)test__patience_ms(400));
	from = terminal.size;
	resize(&terminal, 70);
	/* The terminal tells its foreground job; this tool is not one of a job here. */
	tool_run__signal(&run, SIGWINCH);
	execute(ARGS(word));
	read_terminal(&terminal, (int)test__patience_ms(400));
	test__equal("terminal: a tool whose terminal changes goes on",
		    (uint64_t)tool_run__stop(&run), 0);
	nr = check_lines(&terminal, from, 70);
	test__equal("terminal: after a new width there is one line", nr, 1);
	tool_run__free(&run);
	close_terminal(&terminal);
}

int main(int argc, char **argv)
{
	role__play(argc, argv);
	program = workload__own_program("tty");
	check_width(80, 1, ARGS("--comm", file_name(program)));
	check_width(132, 1, ARGS("-TtUCMq", "--comm", file_name(program)));
	check_width(40, 1, ARGS("--comm", file_name(program)));
	check_width(60, 2, ARGS("-e", "--comm", file_name(program)));
	/* Narrower than the columns before the arguments. */
	check_width(24, 2, ARGS("-eTt", "--comm", file_name(program)));
	/* A serial line tells no size. */
	check_width(0, 1, ARGS("--comm", file_name(program)));
	check_cut();
	check_resize();
	return test__done();
}
