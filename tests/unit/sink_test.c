// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/* Where the bytes go: files, terminals, pipes, and what can go wrong there. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "sink_output.h"

/* Read by the address sanitizer at start: more than 64 MB at once is out of memory here. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1:max_allocation_size_mb=64";
}

static const struct field fields[] = {
	{ .name = "pid", .kind = VALUE_UNSIGNED, .column = "PID", .width = 5 },
	{ .name = "text", .kind = VALUE_BYTES, .column = "TEXT", .width = -4 },
};

static const struct record_type type = {
	.name = "row",
	.fields = fields,
	.nr_fields = NR_OF(fields),
};

static const struct record_type *const rows[] = { &type, NULL };
static const char *const columns[] = { "pid", "text", NULL };

static struct sink_config config_of(enum face_kind face, const char *path)
{
	return (struct sink_config){ .face = face, .path = path, .rows = rows, .columns = columns };
}

static struct sink *open_sink(enum face_kind face, const char *path)
{
	const struct sink_config config = config_of(face, path);
	struct sink *sink;

	if (sink__open(&sink, &config)) {
		printf("not ok - the sink opens %s: %s\n", path, last_error);
		exit(1);
	}
	return sink;
}

static int write_row(struct sink *sink, uint64_t pid, struct value text)
{
	const struct value values[] = { value__unsigned(pid), text };
	const struct record record = { &type, values };

	return sink__write(sink, &record);
}

static void check_file(void)
{
	const char *path = scratch__write("file", "what was there before\n", 22, 0600);
	const char *fresh = scratch__path("fresh");
	struct sink *sink = open_sink(FACE_JSON, path);
	struct stat status = { 0 };
	char *text;

	test__equal("a row is taken", write_row(sink, 1, value__string("a")), 0);
	stat(path, &status);
	test__equal("an old file is emptied, a row waits for the flush", status.st_size, 0);
	test__equal("a flush", sink__flush(sink), 0);
	text = file__read(path, NULL);
	test__same("writes it", text, "{\"type\":\"row\",\"pid\":1,\"text\":\"a\"}\n");
	free(text);
	test__equal("a flush of nothing", sink__flush(sink), 0);
	write_row(sink, 2, absent);
	test__equal("a close", sink__close(sink), 0);
	text = file__read(path, NULL);
	test__same("writes the rest", text,
		   "{\"type\":\"row\",\"pid\":1,\"text\":\"a\"}\n{\"type\":\"row\",\"pid\":2}\n");
	free(text);

	umask(0);
	sink__close(open_sink(FACE_JSON, fresh));
	test__check(!stat(fresh, &status) && status.st_mode == (S_IFREG | 0644),
		    "a new file has mode 0644", "it has %o", status.st_mode);
	test__equal("closing nothing", sink__close(NULL), 0);
}

/* Without a flush, whole rows are written as soon as there are 64 KiB of them. */
static void check_write_out(void)
{
	const char *path = scratch__path("many");
	struct sink *sink = open_sink(FACE_JSON, path);
	size_t size = 0, row = strlen("{\"type\":\"row\",\"pid\":1000000}\n");
	uint32_t early = 0;
	char *text;

	for (int i = 0; i < 10000; i++) {
		write_row(sink, 1000000, absent);
		text = file__read(path, &size);
		early += size % row != 0;
		free(text);
		if (size)
			break;
	}
	test__check(size >= 64 * 1024 && size < 64 * 1024 + row && !early,
		    "64 KiB are written out, in whole rows", "%zu bytes, a row has %zu", size, row);
	sink__close(sink);
}

static void check_stdout(void)
{
	const char *path = scratch__write("stdout", "", 0, 0644);
	int file = open(path, O_WRONLY), saved, err, status = 0;
	struct sink *sink;
	char *text;
	pid_t child;

	fflush(stdout);
	saved = dup(STDOUT_FILENO);
	dup2(file, STDOUT_FILENO);
	sink = open_sink(FACE_CSV, NULL);
	err = write_row(sink, 1, value__string("x"));
	if (!err)
		err = sink__close(sink);
	if (write(STDOUT_FILENO, "more\n", 5) != 5)
		err = -errno;
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(file);
	text = file__read(path, NULL);
	test__equal("stdout is written", -err, 0);
	test__same("and stays open for others", text, "type,pid,text\nrow,1,x\nmore\n");
	free(text);

	child = fork();
	if (!child) {
		const struct sink_config config = config_of(FACE_JSON, NULL);

		close(STDOUT_FILENO);
		_exit(sink__open(&sink, &config) == -EBADF && nr_errors == 1 && !sink ? 0 : 1);
	}
	waitpid(child, &status, 0);
	test__equal("a closed stdout is reported at once", status, 0);
}

static void check_full_disk(enum face_kind face, const char *name)
{
	struct sink *sink = open_sink(face, "/dev/full");

	nr_errors = 0;
	test__equal(name, write_row(sink, 1, value__string("a")), 0);
	test__equal("the disk is full at the flush", -sink__flush(sink), ENOSPC);
	test__equal("a later row has the same error", -write_row(sink, 1, absent), ENOSPC);
	test__equal("a later flush too", -sink__flush(sink), ENOSPC);
	test__equal("and the close", -sink__close(sink), ENOSPC);
	test__equal("it is reported once", nr_errors, 1);
	test__same("with what to do", last_error,
		   "cannot write to '/dev/full': No space left on device (Make room there, or "
		   "choose another place with --output FILE.)");
}

/* A full disk shows at the close when nothing was flushed. */
static void check_full_disk_late(void)
{
	struct sink *sink = open_sink(FACE_JSON, "/dev/full");

	nr_errors = 0;
	write_row(sink, 1, absent);
	test__equal("the disk is full at the close", -sink__close(sink), ENOSPC);
	test__equal("it is reported once", nr_errors, 1);
}

static void check_closed_pipe(void)
{
	struct sink *sink;
	char path[64];
	int fds[2];

	if (pipe(fds)) {
		test__check(false, "a closed pipe", "no pipe: %m");
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	sink = open_sink(FACE_TEXT, path);
	close(fds[0]);
	nr_errors = 0;
	write_row(sink, 1, value__string("a"));
	test__equal("a reader that has gone", -sink__flush(sink), EPIPE);
	test__equal("is told to every caller", -write_row(sink, 1, absent), EPIPE);
	test__equal("to the last", -sink__close(sink), EPIPE);
	test__equal("and to no user", nr_errors, 0);
	close(fds[1]);
}

static void check_open_error(const char *path, int expected)
{
	const struct sink_config config = config_of(FACE_CSV, path);
	struct sink *sink;

	nr_errors = 0;
	test__equal(path, -sink__open(&sink, &config), expected);
	test__check(nr_errors == 1 && !strncmp(last_error, "cannot open '", 13) &&
			    strstr(last_error, path) && !strstr(last_error, "(no hint)") && !sink,
		    "it is reported with a hint", "%u reports: %s", nr_errors, last_error);
}

static void check_no_memory(void)
{
#ifdef __SANITIZE_ADDRESS__
	const char *path = scratch__path("memory");
	struct sink *sink = open_sink(FACE_JSON, path);
	size_t size = 20 << 20;
	char *large = calloc(size, 1), *text;

	nr_errors = 0;
	write_row(sink, 1, absent);
	test__equal("a row beyond the memory", -write_row(sink, 2, value__bytes(large, size)),
		    ENOMEM);
	test__equal("is an error that stays", -write_row(sink, 3, absent), ENOMEM);
	test__equal("also at the close", -sink__close(sink), ENOMEM);
	test__equal("reported once", nr_errors, 1);
	text = file__read(path, NULL);
	test__same("rows before it are written", text, "{\"type\":\"row\",\"pid\":1}\n");
	free(text);
	free(large);
#else
	test__skip("a row beyond the memory", "only the address sanitizer limits the memory");
#endif
}

struct terminal {
	int master;
	int slave;
	char text[4096];
};

static bool terminal__open(struct terminal *terminal, unsigned short width)
{
	struct winsize size = { .ws_row = 24, .ws_col = width };
	struct termios mode;

	terminal->master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (terminal->master < 0 || grantpt(terminal->master) || unlockpt(terminal->master))
		return false;
	terminal->slave = open(ptsname(terminal->master), O_RDWR | O_NOCTTY);
	if (terminal->slave < 0 || tcgetattr(terminal->slave, &mode))
		return false;
	cfmakeraw(&mode);
	return !tcsetattr(terminal->slave, TCSANOW, &mode) &&
	       !ioctl(terminal->master, TIOCSWINSZ, &size);
}

/* What has been written to the terminal since it was asked last. */
static const char *terminal__read(struct terminal *terminal)
{
	ssize_t size = read(terminal->master, terminal->text, sizeof(terminal->text) - 1);

	terminal->text[size < 0 ? 0 : size] = '\0';
	return terminal->text;
}

static void terminal__close(struct terminal *terminal)
{
	close(terminal->slave);
	close(terminal->master);
}

static void check_terminal(void)
{
	struct winsize size = { .ws_row = 24, .ws_col = 50 };
	struct terminal terminal;
	struct sink *sink;

	if (!test__check(terminal__open(&terminal, 40), "there is a terminal", "%m"))
		return;
	sink = open_sink(FACE_TEXT, ptsname(terminal.master));
	sink__flush(sink);
	test__same("the heading comes with the first flush", terminal__read(&terminal),
		   "  PID TEXT\n");
	write_row(sink, 1, value__string("0123456789012345678901234567890123"));
	write_row(sink, 2, value__string("01234567890123456789012345678901234"));
	write_row(sink, 3, value__string("äöüäöüäöüäöüäöüäöüäöüäöü01234567890"));
	write_row(sink, 4, value__string("01234567890123456789\n and more of this"));
	sink__flush(sink);
	test__same("lines are cut to the width, at a character and not in an escape",
		   terminal__read(&terminal),
		   "    1 0123456789012345678901234567890123\n"
		   "    2 0123456789012345678901…(+13 bytes)\n"
		   "    3 äöüäöüäöüäöüäöüäöüäöüä…(+15 bytes)\n"
		   "    4 01234567890123456789…(+21 bytes)\n");

	ioctl(terminal.master, TIOCSWINSZ, &size);
	sink__flush(sink);
	write_row(sink, 5, value__string("01234567890123456789012345678901234567890123456"));
	write_row(sink, 12345678, value__string("0123456789012345678901234567890123456789"));
	sink__close(sink);
	test__same("the width is read again", terminal__read(&terminal),
		   "    5 01234567890123456789012345678901…(+15 bytes)\n"
		   "12345678 0123456789012345678901234567890123456789\n");
	terminal__close(&terminal);
}

static void check_odd_terminals(void)
{
	struct terminal terminal;
	struct sink *sink;
	char *large = calloc(1000000, 1);

	if (!test__check(terminal__open(&terminal, 0), "there is a terminal", "%m"))
		return;
	sink = open_sink(FACE_TEXT, ptsname(terminal.master));
	memset(large, 'x', 1000000);
	write_row(sink, 1, value__bytes(large, 1000000));
	sink__close(sink);
	test__same(
		"80 characters where the width is not known", terminal__read(&terminal),
		"  PID TEXT\n"
		"    1 xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…(+999943 bytes)\n");
	terminal__close(&terminal);

	if (!test__check(terminal__open(&terminal, 8), "there is a narrow terminal", "%m"))
		return;
	sink = open_sink(FACE_TEXT, ptsname(terminal.master));
	write_row(sink, 1, value__string("\n\n"));
	sink__close(sink);
	test__same("a terminal narrower than the mark", terminal__read(&terminal),
		   "…(+10 bytes)\n…(+14 bytes)\n");
	terminal__close(&terminal);

	if (!test__check(terminal__open(&terminal, 20), "there is a terminal for JSON", "%m"))
		return;
	sink = open_sink(FACE_JSON, ptsname(terminal.master));
	write_row(sink, 1, value__string("0123456789012345678901234567890"));
	sink__close(sink);
	test__same("JSON is never cut", terminal__read(&terminal),
		   "{\"type\":\"row\",\"pid\":1,\"text\":\"0123456789012345678901234567890\"}\n");
	terminal__close(&terminal);
	free(large);
}

static void check_pipe(void)
{
	static char text[4096];
	char path[64], word[500];
	struct sink *sink;
	ssize_t size;
	int fds[2];

	if (pipe(fds)) {
		test__check(false, "a pipe", "no pipe: %m");
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fds[1]);
	sink = open_sink(FACE_TEXT, path);
	memset(word, 'w', sizeof(word));
	write_row(sink, 1, value__bytes(word, sizeof(word)));
	sink__close(sink);
	size = read(fds[0], text, sizeof(text));
	test__equal("a pipe has the whole line", size,
		    strlen("  PID TEXT\n    1 \n") + sizeof(word));
	close(fds[0]);
	close(fds[1]);
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	log__set_writer(keep_error);
	check_file();
	check_write_out();
	check_stdout();
	check_full_disk(FACE_TEXT, "a row of text for a full disk");
	check_full_disk(FACE_JSON, "a row of JSON for a full disk");
	check_full_disk(FACE_CSV, "a row of CSV for a full disk");
	check_full_disk_late();
	check_closed_pipe();
	check_open_error(scratch__path("nosuch/file"), ENOENT);
	check_open_error("/", EISDIR);
	check_no_memory();
	check_terminal();
	check_odd_terminals();
	check_pipe();
	return test__done();
}
