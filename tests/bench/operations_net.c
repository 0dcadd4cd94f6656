// SPDX-License-Identifier: Apache-2.0
/* What does an operation on sockets cost? */
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/bench/operations.h"

static int udp, udp_peer, pair[2], listener, datagrams, idle, tcp;
static struct sockaddr_in peer, tcp_peer;
static struct sockaddr_un path = { AF_UNIX, "stream" };
static struct sockaddr_un drop = { AF_UNIX, "drop" };

static void make_sockets(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(peer), tcp_len = sizeof(tcp_peer);

	tcp = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(tcp, (struct sockaddr *)&any, sizeof(any)) < 0 ||
	    getsockname(tcp, (struct sockaddr *)&tcp_peer, &tcp_len) < 0 || listen(tcp, 8) < 0)
		perror("sockets");
	udp = socket(AF_INET, SOCK_DGRAM, 0);
	udp_peer = socket(AF_INET, SOCK_DGRAM, 0);
	idle = socket(AF_INET, SOCK_DGRAM, 0);
	listener = socket(AF_UNIX, SOCK_STREAM, 0);
	datagrams = socket(AF_UNIX, SOCK_DGRAM, 0);
	if (bind(udp_peer, (struct sockaddr *)&any, sizeof(any)) < 0 ||
	    getsockname(udp_peer, (struct sockaddr *)&peer, &len) < 0 ||
	    bind(listener, (struct sockaddr *)&path, sizeof(path)) < 0 || listen(listener, 8) < 0 ||
	    bind(datagrams, (struct sockaddr *)&drop, sizeof(drop)) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		perror("sockets");
}

static int make_close(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	return fd < 0 ? fd : close(fd);
}

static int connect_udp(void)
{
	return connect(udp, (struct sockaddr *)&peer, sizeof(peer));
}

static int send_udp(void)
{
	char byte = 'x';

	if (sendto(udp, &byte, 1, 0, (struct sockaddr *)&peer, sizeof(peer)) < 0)
		return -1;
	return (int)recv(udp_peer, &byte, 1, 0);
}

/* The second bind is refused after its hook. */
static int bind_again(void)
{
	return bind(udp_peer, (struct sockaddr *)&peer, sizeof(peer));
}

static int listen_again(void)
{
	return listen(listener, 8);
}

/* Reset at the end: a port that waits for late packets would be one less. */
static int connect_tcp(void)
{
	const struct linger reset = { .l_onoff = 1 };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	int other;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0 ||
	    connect(fd, (struct sockaddr *)&tcp_peer, sizeof(tcp_peer)) < 0)
		return -1;
	other = accept(tcp, NULL, NULL);
	close(fd);
	return other < 0 ? -1 : close(other);
}

static int set_option(void)
{
	const int ttl = 64;

	return setsockopt(udp, IPPROTO_IP, IP_TTL, &ttl, sizeof(ttl));
}

static int connect_unix(void)
{
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	int other;

	if (fd < 0 || connect(fd, (struct sockaddr *)&path, sizeof(path)) < 0)
		return -1;
	other = accept(listener, NULL, NULL);
	close(fd);
	return other < 0 ? -1 : close(other);
}

static int send_unix(void)
{
	char byte = 'x';

	if (sendto(datagrams, &byte, 1, 0, (struct sockaddr *)&drop, sizeof(drop)) < 0)
		return -1;
	return (int)recv(datagrams, &byte, 1, 0);
}

/* A descriptor to itself. */
static int pass_descriptor(void)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	char byte = 'x';
	struct iovec data = { &byte, 1 };
	struct msghdr message = { .msg_iov = &data,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd = pair[0];

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (sendmsg(pair[0], &message, 0) < 0 || recvmsg(pair[1], &message, 0) < 0)
		return -1;
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return close(fd);
}

static const struct operation operations[] = {
	{ "socket_create", "socket + close", 2000, make_close, 0, make_sockets },
	{ "socket_connect", "connect, UDP", 5000, connect_udp, 0, NULL },
	{ "socket_sendmsg", "sendto + recv, UDP", 2000, send_udp, 0, NULL },
	{ "socket_bind", "bind, UDP", 5000, bind_again, EINVAL, NULL },
	{ "socket_listen", "listen", 5000, listen_again, 0, NULL },
	{ "socket_setsockopt", "setsockopt", 5000, set_option, 0, NULL },
	{ "inet_conn_request,socket_create,socket_setsockopt,socket_connect",
	  "connect + accept, TCP", 500, connect_tcp, 0, NULL },
	{ "unix_stream_connect,socket_create,socket_connect", "connect + accept, UNIX", 1000,
	  connect_unix, 0, NULL },
	{ "unix_may_send,socket_sendmsg", "sendto + recv, UNIX", 2000, send_unix, 0, NULL },
	{ "file_receive,socket_sendmsg", "pass a descriptor", 2000, pass_descriptor, 0, NULL },
};

OPERATIONS_MAIN(operations)
