// SPDX-License-Identifier: Apache-2.0
/* How do the supervisor, the run's pid 1 and the agent before its exec talk? */
#define _GNU_SOURCE 1

#include "user/control.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "user/base.h"

#define HEAD_LEN offsetof(struct comet_message, text)

int comet_control_pair(int *supervisor, int *init)
{
	static const int on = 1;
	int fd[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) < 0)
		return -errno;
	/* The kernel then adds the sender's pid to each message, in the reader's terms. */
	if (setsockopt(fd[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) < 0) {
		int err = -errno;

		close(fd[0]);
		close(fd[1]);
		return err;
	}
	*supervisor = fd[0];
	*init = fd[1];
	return 0;
}

int comet_control_send(int fd, enum comet_message_type type, int value, const void *text,
		       size_t len)
{
	struct comet_message head = { .type = type, .value = value };
	struct iovec parts[2] = {
		{ .iov_base = &head, .iov_len = HEAD_LEN },
		{ .iov_base = (void *)text, .iov_len = len },
	};
	struct msghdr msg = { .msg_iov = parts, .msg_iovlen = 2 };
	ssize_t n;

	if (len >= COMET_MESSAGE_TEXT_MAX)
		return -ENAMETOOLONG;
	do
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static int wait_readable(int fd, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&p, 1, timeout_ms);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return n ? 0 : -ETIMEDOUT;
}

static pid_t sender(struct msghdr *msg)
{
	struct cmsghdr *c = CMSG_FIRSTHDR(msg);
	struct ucred cred;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_CREDENTIALS)
		return 0;
	memcpy(&cred, CMSG_DATA(c), sizeof(cred));
	return cred.pid;
}

int comet_control_receive(int fd, int timeout_ms, struct comet_message *message, pid_t *pid)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	struct iovec part = { .iov_base = message, .iov_len = sizeof(*message) - 1 };
	struct msghdr msg = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int err = wait_readable(fd, timeout_ms);
	ssize_t n;

	if (err < 0)
		return err;
	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return errno == ECONNRESET ? -EPIPE : -errno;
	if (n == 0)
		return -EPIPE;
	if ((size_t)n < HEAD_LEN || message->type >= _COMET_MESSAGE_MAX ||
	    (msg.msg_flags & MSG_TRUNC))
		return -EBADMSG;
	((char *)message)[n] = '\0';
	if (pid)
		*pid = sender(&msg);
	return 0;
}
