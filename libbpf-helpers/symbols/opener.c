// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "symbols/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/capability.h>

#include "run/log.h"
#include "symbols/opener_server.h"

/* "nobody" and "nogroup". */
#define NOBODY 65534
/* A file system that takes longer (a dead server, or a FUSE daemon that does not answer) is given
 * up. */
#define REQUEST_LIMIT_SECONDS 2

struct opener_reply {
	int32_t err;
};

static int send_reply(int socket, int err, int fd)
{
	struct opener_reply reply = { .err = err };
	struct iovec data = { .iov_base = &reply, .iov_len = sizeof(reply) };
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = {};
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1 };
	struct cmsghdr *rights;

	if (fd >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		rights = CMSG_FIRSTHDR(&message);
		rights->cmsg_level = SOL_SOCKET;
		rights->cmsg_type = SCM_RIGHTS;
		rights->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(rights), &fd, sizeof(fd));
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(reply) ? 0 : -EPIPE;
}

/* Answers until the other end is closed. */
static void serve(int socket)
{
	struct opener_request request;
	ssize_t got;
	int fd, err;

	for (;;) {
		got = recv(socket, &request, sizeof(request), 0);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return;
		/* Its default action ends this process, also inside a call that no other signal
		 * interrupts. */
		alarm(REQUEST_LIMIT_SECONDS);
		fd = got == sizeof(request) ? opener_server__open(&request) : -EINVAL;
		alarm(0);
		err = send_reply(socket, fd < 0 ? fd : 0, fd);
		if (fd >= 0)
			close(fd);
		if (err)
			return;
	}
}

static void keep_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint64_t keep = 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_CHECKPOINT_RESTORE |
			1ULL << CAP_DAC_READ_SEARCH;

	if (syscall(SYS_capget, &header, data))
		_exit(1);
	/* Before 5.9 there was no CAP_CHECKPOINT_RESTORE; it needs no replacement from 5.10 on. */
	keep &= data[0].permitted | (uint64_t)data[1].permitted << 32;
	data[0] = (struct __user_cap_data_struct){ .effective = (uint32_t)keep,
						   .permitted = (uint32_t)keep };
	data[1] = (struct __user_cap_data_struct){ .effective = keep >> 32,
						   .permitted = keep >> 32 };
	if (syscall(SYS_capset, &header, data))
		_exit(1);
}

static bool has_capability(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	return !syscall(SYS_capget, &header, data) &&
	       data[capability / 32].effective & 1U << capability % 32;
}

static void become_nobody(void)
{
	if (geteuid() || !has_capability(CAP_SETUID) || !has_capability(CAP_SETGID))
		return;
	/* Else the kernel takes all capabilities away with user 0. */
	if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) || setgroups(0, NULL) ||
	    setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY) ||
	    prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0))
		_exit(1);
}

/* Leaves 0, 1 and 2 (nowhere) and the socket, which gets number 3. */
static int keep_descriptors(int socket)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0)
		null = open("/", O_PATH);
	if (socket != 3 && dup2(socket, 3) != 3)
		_exit(1);
	for (int fd = 0; fd < 3; fd++)
		if (null < 0 || (null != fd && dup2(null, fd) != fd))
			_exit(1);
	/* Since 5.9. */
	if (syscall(SYS_close_range, 4U, ~0U, 0U))
		_exit(1);
	return 3;
}

static void restrict_self(void)
{
	static const int ignored[] = { SIGINT,	SIGTERM, SIGHUP,  SIGQUIT, SIGPIPE,
				       SIGUSR1, SIGUSR2, SIGTSTP, SIGTTIN, SIGTTOU };
	sigset_t none;

	/* A Ctrl-C goes to all processes of the terminal, and the last names are asked for after
	 * it. */
	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_NAME, "vantage-opener", 0, 0, 0);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		_exit(1);
	become_nobody();
	keep_capabilities();
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		_exit(1);
}

static void die_with(pid_t parent)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) || getppid() != parent)
		_exit(1);
}

/* One child answers; one that was stopped by its alarm is answered for and replaced. */
static _Noreturn void keep_serving(int socket, pid_t parent)
{
	pid_t self, child;
	int status;

	socket = keep_descriptors(socket);
	restrict_self();
	die_with(parent);
	self = getpid();
	for (;;) {
		child = fork();
		if (child < 0)
			_exit(1);
		if (!child) {
			die_with(self);
			serve(socket);
			_exit(0);
		}
		while (waitpid(child, &status, 0) < 0 && errno == EINTR)
			;
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM ||
		    send_reply(socket, -ETIMEDOUT, -1))
			_exit(0);
	}
}

int opener__start(struct opener *opener)
{
	int ends[2];
	pid_t parent = getpid();

	*opener = (struct opener){ .socket = -1 };
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return log_error(errno, NULL, "cannot make a socket for reading user symbols");
	opener->pid = fork();
	if (opener->pid < 0) {
		int err = log_error(errno, NULL,
				    "cannot start the process that opens files for "
				    "user symbols");

		close(ends[0]);
		close(ends[1]);
		return err;
	}
	if (!opener->pid)
		keep_serving(ends[1], parent);
	close(ends[1]);
	opener->socket = ends[0];
	return 0;
}

/* The descriptor of a reply, or its error. */
static int receive_reply(int socket)
{
	struct opener_reply reply;
	struct iovec data = { .iov_base = &reply, .iov_len = sizeof(reply) };
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *rights;
	ssize_t got;
	int fd;

	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got != sizeof(reply))
		return -EPIPE;
	if (reply.err < 0)
		return reply.err;
	rights = CMSG_FIRSTHDR(&message);
	/* Without room for one more descriptor in this process the kernel leaves it out. */
	if (!rights || rights->cmsg_type != SCM_RIGHTS || rights->cmsg_len != CMSG_LEN(sizeof(int)))
		return -EMFILE;
	memcpy(&fd, CMSG_DATA(rights), sizeof(fd));
	return fd;
}

int opener__open(struct opener *opener, const struct opener_request *request)
{
	int fd;

	if (opener->socket < 0 || send(opener->socket, request, sizeof(*request), MSG_NOSIGNAL) < 0)
		return -EPIPE;
	fd = receive_reply(opener->socket);
	if (fd == -EPIPE) {
		/* A late reply would be taken for that of another request. */
		close(opener->socket);
		opener->socket = -1;
	}
	return fd;
}

void opener__stop(struct opener *opener)
{
	if (opener->socket >= 0)
		close(opener->socket);
	opener->socket = -1;
	if (opener->pid > 0)
		while (waitpid(opener->pid, NULL, 0) < 0 && errno == EINTR)
			;
	opener->pid = 0;
}
