// SPDX-License-Identifier: Apache-2.0
/* Which UNIX sockets can be reached? A name is a path, or an abstract name written with @. */
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/vm/probes/probe.h"

static char data[] = "data";

static socklen_t parse(const char *name, struct sockaddr_un *to)
{
	size_t len = strlen(name);

	*to = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (len >= sizeof(to->sun_path))
		exit(65);
	memcpy(to->sun_path, name, len);
	if (name[0] == '@')
		to->sun_path[0] = '\0';
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + (name[0] != '@'));
}

static int make(int type)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		exit(66);
	return fd;
}

static int done(int fd, long result)
{
	int r = probe_errno(result);

	close(fd);
	return r;
}

static int reach_stream(char **words)
{
	struct sockaddr_un to;
	socklen_t len = parse(words[0], &to);
	int fd = make(SOCK_STREAM);

	if (connect(fd, (struct sockaddr *)&to, len) < 0)
		return done(fd, -1);
	return done(fd, send(fd, data, sizeof(data), MSG_NOSIGNAL));
}

/* By each way to send: without a connect, by sendmsg, and after a connect. */
static int reach_dgram(char **words)
{
	struct sockaddr_un to;
	socklen_t len = parse(words[0], &to);
	struct iovec part = { data, sizeof(data) };
	struct msghdr msg = { &to, len, &part, 1, NULL, 0, 0 };
	int fd = make(SOCK_DGRAM);

	probe_add(probe_errno(sendto(fd, data, sizeof(data), 0, (struct sockaddr *)&to, len)));
	probe_add(probe_errno(sendmsg(fd, &msg, 0)));
	probe_add(probe_errno(connect(fd, (struct sockaddr *)&to, len)));
	return done(fd, 0);
}

static int expect(int fd)
{
	char got[sizeof(data)];

	if (recv(fd, got, sizeof(got), 0) != sizeof(got))
		return -EBADMSG;
	return memcmp(got, data, sizeof(got)) == 0 ? 0 : -EBADMSG;
}

/* A child connects to its parent. */
static int inside_stream(char **words)
{
	struct sockaddr_un to;
	socklen_t len = parse(words[0], &to);
	int fd = make(SOCK_STREAM);
	int peer;

	if (bind(fd, (struct sockaddr *)&to, len) < 0 || listen(fd, 1) < 0)
		return done(fd, -1);
	if (fork() == 0)
		_exit(reach_stream(words) ? 1 : 0);
	peer = accept(fd, NULL, NULL);
	if (peer < 0)
		return done(fd, -1);
	close(fd);
	return expect(peer);
}

static int inside_dgram(char **words)
{
	struct sockaddr_un to;
	socklen_t len = parse(words[0], &to);
	int fd = make(SOCK_DGRAM);

	if (bind(fd, (struct sockaddr *)&to, len) < 0)
		return done(fd, -1);
	if (fork() == 0)
		_exit(reach_dgram(words) ? 1 : 0);
	return expect(fd);
}

/* A descriptor through a pair, and data through the descriptor. */
static int pair(char **words)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { data, sizeof(data) };
	struct msghdr msg = { NULL, 0, &part, 1, &control, CMSG_LEN(sizeof(int)), 0 };
	int ends[2], others[2];

	(void)words;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0 ||
	    socketpair(AF_UNIX, SOCK_DGRAM, 0, others) < 0)
		return -errno;
	memcpy(CMSG_DATA(&control.head), &others[1], sizeof(int));
	if (sendmsg(ends[0], &msg, 0) < 0)
		return -errno;
	memset(control.bytes, 0, sizeof(control.bytes));
	msg.msg_controllen = sizeof(control.bytes);
	if (recvmsg(ends[1], &msg, 0) < 0)
		return -errno;
	close(others[1]);
	memcpy(&others[1], CMSG_DATA(&control.head), sizeof(int));
	if (send(others[1], data, sizeof(data), 0) < 0)
		return -errno;
	return expect(others[0]);
}

static const struct probe_op ops[] = {
	{ "connect", 1, reach_stream },
	{ "send", 1, reach_dgram },
	{ "inside-stream", 1, inside_stream },
	{ "inside-dgram", 1, inside_dgram },
	{ "pair", 0, pair },
	{ NULL, 0, NULL },
};

int main(int argc, char **argv)
{
	return probe_all(ops, argc, argv);
}
