// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "output/buffer.h"
#include "run/libbpf_log.h"
#include "run/log.h"
#include "test.h"

/* Each write to stderr becomes one packet, so that the writes of a message can be counted. */
static int packets[2];
static int real_stderr;
static char packet[200000];

static void take_stderr(void)
{
	real_stderr = dup(STDERR_FILENO);
	if (real_stderr < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, packets) ||
	    dup2(packets[1], STDERR_FILENO) < 0) {
		perror("cannot catch stderr");
		exit(1);
	}
}

static void give_stderr_back(void)
{
	dup2(real_stderr, STDERR_FILENO);
	close(real_stderr);
	close(packets[0]);
	close(packets[1]);
}

/* The next write to stderr as a string, or NULL when there was none. */
static const char *next_write(void)
{
	ssize_t size = recv(packets[0], packet, sizeof(packet) - 1, 0);

	if (size < 0)
		return NULL;
	packet[size] = '\0';
	return packet;
}

static void check_text(void)
{
	test__equal("an error returns its negative errno",
		    (uint64_t)-log_error(ENOENT, "Look elsewhere.", "cannot open '%s'", "x"),
		    ENOENT);
	test__same("an error has its cause and its hint", next_write(),
		   "tool: error: cannot open 'x': No such file or directory\n"
		   "tool: hint: Look elsewhere.\n");
	test__same("it is one write", next_write(), NULL);
	test__equal("a negative errno means the same", (uint64_t)-log_error(-EPERM, NULL, "cannot"),
		    EPERM);
	test__same("without a hint it is one line", next_write(),
		   "tool: error: cannot: Operation not permitted\n");
	test__equal("without an errno it is EINVAL", (uint64_t)-log_error(0, NULL, "wrong"),
		    EINVAL);
	test__same("without an errno there is no cause", next_write(), "tool: error: wrong\n");
	test__equal("a cause in words keeps the errno",
		    (uint64_t)-log_error_because(-ESRCH, "it is gone", NULL, "no"), ESRCH);
	test__same("a cause in words is shown", next_write(), "tool: error: no: it is gone\n");
	test__equal("a cause in words never returns 0",
		    (uint64_t)-log_error_because(0, NULL, NULL, "no"), EINVAL);
	test__same("a cause may be missing", next_write(), "tool: error: no\n");
	log_error_because(EIO, "", NULL, "no");
	test__same("a cause may be empty", next_write(), "tool: error: no\n");
	log_warning("Do it.", "%d lost", 3);
	test__same("a warning", next_write(), "tool: warning: 3 lost\ntool: hint: Do it.\n");
	log_info("tracing %s", "all");
	test__same("an information", next_write(), "tool: tracing all\n");
}

static void check_levels(void)
{
	log_debug("detail");
	test__same("details are dropped at first", next_write(), NULL);
	log__set_level(LOG_DEBUG);
	log_debug("detail %d", 1);
	test__same("details are shown when asked for", next_write(), "tool: debug: detail 1\n");
	log__set_level(LOG_ERROR);
	log_warning(NULL, "warning");
	log_info("information");
	test__same("what is above the level is dropped", next_write(), NULL);
	errno = EXDEV;
	log_error(EIO, NULL, "x");
	test__same("errors are always shown", next_write(), "tool: error: x: Input/output error\n");
	test__equal("a message leaves errno alone", (uint64_t)errno, EXDEV);
	log__init("tool");
	test__equal("the level after log__init()", log__level(), LOG_INFO);
}

static void check_hostile(void)
{
	log_error_because(EIO, "c\r\n", "h\x1b[2J", "file 'a\nb\\\x80\xc3\xa9\x7f\xe2\x80\xae'");
	test__same(
		"hostile bytes are escaped", next_write(),
		"tool: error: file 'a\\x0ab\\x5c\\x80\xc3\xa9\\x7f\\xe2\\x80\\xae': c\\x0d\\x0a\n"
		"tool: hint: h\\x1b[2J\n");
}

static void check_long(void)
{
	size_t size = 25000;
	char *word = malloc(size + 1);
	const char *seen;

	memset(word, '\1', size);
	word[size] = '\0';
	log_info("%s", word);
	seen = next_write();
	test__equal("a long message is whole and one write", seen ? strlen(seen) : 0,
		    strlen("tool: \n") + 4 * size);
	free(word);
}

static void *read_slowly(void *arg)
{
	int fd = *(int *)arg;
	struct buffer text = {};
	char part[65536];
	ssize_t size;

	do {
		usleep(1000);
		size = read(fd, part, sizeof(part));
		if (size > 0)
			buffer__append(&text, part, (size_t)size);
	} while (size > 0);
	buffer__append_char(&text, '\0');
	return text.data;
}

/* More than a pipe holds, to a stderr that does not block. */
static void check_very_long(void)
{
	size_t size = 2000000;
	char *word = malloc(size + 1);
	void *text = NULL;
	pthread_t reader;
	int ends[2];

	memset(word, 'x', size);
	word[size] = '\0';
	if (pipe2(ends, O_NONBLOCK) || fcntl(ends[0], F_SETFL, 0) ||
	    pthread_create(&reader, NULL, read_slowly, &ends[0]) ||
	    dup2(ends[1], STDERR_FILENO) < 0) {
		test__check(false, "a slow reader of stderr", "%s", strerror(errno));
		return;
	}
	log_info("%s", word);
	dup2(packets[1], STDERR_FILENO);
	close(ends[1]);
	pthread_join(reader, &text);
	close(ends[0]);
	test__check(strlen(text) == size + strlen("tool: \n") &&
			    !memcmp((char *)text + strlen("tool: "), word, size),
		    "a message of 2 MB to a full pipe is whole", "saw %zu bytes", strlen(text));
	free(text);
	free(word);
}

static struct {
	unsigned int nr;
	enum log_level level;
	char text[128];
} heard;

static void hear(const struct log_message *message)
{
	heard.nr++;
	heard.level = message->level;
	snprintf(heard.text, sizeof(heard.text), "%s|%s|%s|%s", message->program, message->message,
		 message->cause ? message->cause : "-", message->hint ? message->hint : "-");
}

static void check_writer(void)
{
	log__set_writer(hear);
	log_error_because(EIO, "c\n", "h", "m\n%d", 1);
	test__same("another writer gets the parts as they are", heard.text, "tool|m\n1|c\n|h");
	test__equal("and the level", heard.level, LOG_ERROR);
	log_debug("no");
	test__equal("but nothing above the level", heard.nr, 1);
	log__set_writer(NULL);
	test__same("then nothing is written as text", next_write(), NULL);
	log_info("back");
	test__same("until it is taken away", next_write(), "tool: back\n");
}

/* Makes libbpf warn: there is no such file. */
static void make_libbpf_warn(void)
{
	struct bpf_object *object = bpf_object__open_file("/nonexistent/file.bpf.o", NULL);

	if (object)
		bpf_object__close(object);
}

static void check_libbpf(void)
{
	const char *last;

	libbpf_log__install();
	make_libbpf_warn();
	test__same("libbpf's warnings are no messages", next_write(), NULL);
	log__set_level(LOG_DEBUG);
	make_libbpf_warn();
	last = next_write();
	test__check(last && !strncmp(last, "tool: debug: libbpf: ", 21), "--verbose shows them",
		    "saw \"%s\"", last ? last : "");
	log__set_level(LOG_INFO);
}

int main(void)
{
	log__init("tool");
	take_stderr();
	check_text();
	check_levels();
	check_hostile();
	check_long();
	check_very_long();
	check_writer();
	check_libbpf();
	give_stderr_back();
	return test__done();
}
