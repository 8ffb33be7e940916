// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "output/buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

/* Read by the address sanitizer at start: it is to fail as malloc() does, not to abort. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static const char *string_of(struct buffer *buffer)
{
	buffer__append_char(buffer, '\0');
	buffer->size--;
	return buffer->data;
}

static void check_appends(void)
{
	struct buffer buffer = { 0 };

	buffer__append(&buffer, NULL, 0);
	test__equal("nothing appended is nothing", buffer.size, 0);
	buffer__append(&buffer, "a\0b", 3);
	test__check(buffer.size == 3 && !memcmp(buffer.data, "a\0b", 3), "bytes are appended",
		    "they are not");
	buffer.size = 0;
	buffer__append_unsigned(&buffer, 0);
	buffer__append_char(&buffer, ' ');
	buffer__append_unsigned(&buffer, UINT64_MAX);
	buffer__append_char(&buffer, ' ');
	buffer__append_signed(&buffer, INT64_MIN);
	buffer__append_string(&buffer, " ");
	buffer__append_signed(&buffer, INT64_MAX);
	test__same("numbers are exact", string_of(&buffer),
		   "0 18446744073709551615 -9223372036854775808 9223372036854775807");
	buffer.size = 0;
	buffer__printf(&buffer, "%s-%d", "x", 7);
	buffer__insert_blanks(&buffer, 1, 3);
	buffer__insert_blanks(&buffer, buffer.size, 1);
	test__same("blanks are inserted", string_of(&buffer), "x   -7 ");
	buffer__free(&buffer);
	test__check(!buffer.data && !buffer.size && !buffer.capacity, "a freed buffer is empty",
		    "it is not");
}

static void check_growth(void)
{
	struct buffer buffer = { 0 };
	uint32_t wrong = 0;
	char text[16];

	for (int i = 0; i < 100000; i++)
		buffer__printf(&buffer, "%07d", i);
	test__equal("it grows", buffer.size, 700000);
	for (int i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "%07d", i);
		wrong += memcmp(buffer.data + 7 * i, text, 7) != 0;
	}
	test__equal("what was there stays", wrong, 0);
	buffer__free(&buffer);
}

static void check_no_memory(void)
{
	struct buffer buffer = { 0 };

	buffer__append(&buffer, "abc", 3);
	test__check(!buffer__reserve(&buffer, (size_t)1 << 60), "no room is no memory",
		    "there was room");
	test__equal("the error is kept", -buffer.err, ENOMEM);
	buffer__append(&buffer, "d", 1);
	buffer__append_char(&buffer, 'e');
	buffer__append_unsigned(&buffer, 1);
	buffer__printf(&buffer, "f");
	buffer__insert_blanks(&buffer, 0, 1);
	test__check(buffer.size == 3 && !memcmp(buffer.data, "abc", 3),
		    "nothing is appended after it", "size is %zu", buffer.size);
	buffer__free(&buffer);
	test__check(!buffer__reserve(&buffer, SIZE_MAX), "a size that overflows is no memory",
		    "there was room");
	buffer__free(&buffer);
	buffer__append(&buffer, "abc", 3);
	test__check(!buffer__reserve(&buffer, SIZE_MAX), "nor does the sum overflow",
		    "there was room");
	buffer__free(&buffer);
}

static volatile sig_atomic_t alarms;

static void count_alarm(int signal)
{
	(void)signal;
	alarms++;
}

/* Reads slowly and checks the bytes; its exit status is 0 when all are right. */
static void read_slowly(int fd, size_t expected)
{
	size_t size = 0;
	char chunk[10000];
	ssize_t nr;

	while ((nr = read(fd, chunk, sizeof(chunk))) > 0) {
		for (ssize_t i = 0; i < nr; i++, size++)
			if (chunk[i] != (char)(size * 7 / 3))
				_exit(1);
		usleep(1000);
	}
	_exit(nr || size != expected);
}

static void check_write(const char *name, int flags)
{
	struct itimerval every_millisecond = { { 0, 1000 }, { 0, 1000 } }, never = { 0 };
	struct sigaction action = { .sa_handler = count_alarm }; /* no SA_RESTART */
	struct buffer buffer = { 0 };
	int fds[2], status, err;
	pid_t reader;

	if (pipe(fds)) {
		test__check(false, name, "no pipe: %m");
		return;
	}
	reader = fork();
	if (!reader) {
		close(fds[1]);
		read_slowly(fds[0], 1000000);
	}
	close(fds[0]);
	fcntl(fds[1], F_SETFL, flags);
	for (size_t i = 0; i < 1000000; i++)
		buffer__append_char(&buffer, i * 7 / 3);

	alarms = 0;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &every_millisecond, NULL);
	err = buffer__write(&buffer, fds[1]);
	setitimer(ITIMER_REAL, &never, NULL);
	close(fds[1]);
	waitpid(reader, &status, 0);
	test__check(!err && !status && alarms > 0, name, "error %d, reader %d, %d signals", err,
		    status, (int)alarms);
	buffer__free(&buffer);
}

static void check_write_errors(void)
{
	struct buffer buffer = { 0 };
	int fd = open("/dev/full", O_WRONLY);

	test__equal("writing nothing is no error", buffer__write(&buffer, -1), 0);
	buffer__append_char(&buffer, 'x');
	test__equal("a full disk", -buffer__write(&buffer, fd), ENOSPC);
	test__equal("no descriptor", -buffer__write(&buffer, -1), EBADF);
	close(fd);
	buffer__free(&buffer);
}

int main(void)
{
	check_appends();
	check_growth();
	check_no_memory();
	check_write("a write goes on after short writes and signals", 0);
	check_write("a write waits on a descriptor that does not block", O_NONBLOCK);
	check_write_errors();
	return test__done();
}
