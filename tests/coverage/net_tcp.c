// SPDX-License-Identifier: Apache-2.0
/* On which roads is a TCP connection opened? */
#include <fcntl.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/coverage/net.h"

#ifndef IPV6_FLOWINFO_SEND
#define IPV6_FLOWINFO_SEND 33
#endif

#define FOUR "127.0.0.1"
#define SIX "::1"
#define MAPPED "::ffff:127.0.0.1"

static int connect_by(const struct place *place, const char *host, int protocol)
{
	union net_address to;
	socklen_t len = net_target(place, host, "tcp", &to);
	int fd = net_socket(to.any.sa_family, SOCK_STREAM, protocol);

	return net_done(fd, connect(fd, &to.any, len));
}

static int connect_four(const struct place *place)
{
	return connect_by(place, FOUR, 0);
}

static int connect_six(const struct place *place)
{
	return connect_by(place, SIX, 0);
}

static int connect_mapped(const struct place *place)
{
	return connect_by(place, MAPPED, 0);
}

static int mptcp_four(const struct place *place)
{
	return connect_by(place, FOUR, IPPROTO_MPTCP);
}

static int mptcp_six(const struct place *place)
{
	return connect_by(place, SIX, IPPROTO_MPTCP);
}

static int mptcp_mapped(const struct place *place)
{
	return connect_by(place, MAPPED, IPPROTO_MPTCP);
}

static int connect_without_waiting(const struct place *place)
{
	union net_address to;
	socklen_t len = net_target(place, FOUR, "tcp", &to);
	int fd = net_socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	int error = 0;
	socklen_t size = sizeof(error);

	if (connect(fd, &to.any, len) < 0 && errno != EINPROGRESS)
		return net_done(fd, -1);
	poll(&wait, 1, 5000);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
	close(fd);
	return -error;
}

/* Connected to what is declared, let go of it, and connected anew. */
static int connect_again(const struct place *place)
{
	union net_address to, declared, nobody = { .any.sa_family = AF_UNSPEC };
	socklen_t len = net_declared(place, FOUR, &declared);
	int fd = net_socket(AF_INET, SOCK_STREAM, 0);

	road_must(connect(fd, &declared.any, len), "connect to the declared");
	road_must(connect(fd, &nobody.any, sizeof(nobody.any)), "connect to nobody");
	net_target(place, FOUR, "tcp", &to);
	return net_done(fd, connect(fd, &to.any, len));
}

static int connect_from_device(const struct place *place)
{
	union net_address to, from = { .four = { .sin_family = AF_INET } };
	socklen_t len = net_target(place, FOUR, "tcp", &to);
	int fd = net_socket(AF_INET, SOCK_STREAM, 0);

	from.four.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 8);
	road_must(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3), "SO_BINDTODEVICE");
	road_must(bind(fd, &from.any, len), "bind");
	return net_done(fd, connect(fd, &to.any, len));
}

static int connect_with_flow(const struct place *place)
{
	static const int on = 1;
	union net_address to;
	socklen_t len = net_target(place, SIX, "tcp", &to);
	int fd = net_socket(AF_INET6, SOCK_STREAM, 0);

	setsockopt(fd, IPPROTO_IPV6, IPV6_FLOWINFO_SEND, &on, sizeof(on));
	to.six.sin6_flowinfo = htonl(0x0ff00000);
	return net_done(fd, connect(fd, &to.any, len));
}

/* The short form of an IPv6 address, without a zone. */
static int connect_short_address(const struct place *place)
{
	union net_address to;
	int fd;

	net_target(place, SIX, "tcp", &to);
	fd = net_socket(AF_INET6, SOCK_STREAM, 0);
	return net_done(fd, connect(fd, &to.any, 24));
}

static int send_to_open(const struct place *place, const char *host, int protocol)
{
	union net_address to;
	socklen_t len = net_target(place, host, "tcp", &to);
	int fd = net_socket(to.any.sa_family, SOCK_STREAM, protocol);

	return net_done(fd, sendto(fd, net_data, sizeof(net_data), MSG_FASTOPEN | MSG_NOSIGNAL,
				   &to.any, len));
}

static int fast_open_four(const struct place *place)
{
	return send_to_open(place, FOUR, 0);
}

static int fast_open_mapped(const struct place *place)
{
	return send_to_open(place, MAPPED, 0);
}

static int fast_open_mptcp(const struct place *place)
{
	int result = send_to_open(place, FOUR, IPPROTO_MPTCP);

	return result == -EOPNOTSUPP ? -ENOSYS : result;
}

static int fast_open_message(const struct place *place)
{
	struct iovec part = { net_data, sizeof(net_data) };
	union net_address to;
	struct msghdr message = {
		.msg_name = &to,
		.msg_namelen = net_target(place, SIX, "tcp", &to),
		.msg_iov = &part,
		.msg_iovlen = 1,
	};
	int fd = net_socket(AF_INET6, SOCK_STREAM, 0);

	return net_done(fd, sendmsg(fd, &message, MSG_FASTOPEN | MSG_NOSIGNAL));
}

/* Without waiting for the answer. */
static int fast_open_messages(const struct place *place)
{
	struct iovec part = { net_data, sizeof(net_data) };
	union net_address to;
	struct mmsghdr message = {
		.msg_hdr = {
			.msg_name = &to,
			.msg_namelen = net_target(place, FOUR, "tcp", &to),
			.msg_iov = &part,
			.msg_iovlen = 1,
		},
	};
	int fd = net_socket(AF_INET, SOCK_STREAM, 0);

	return net_done(fd, sendmmsg(fd, &message, 1, MSG_FASTOPEN | MSG_NOSIGNAL));
}

/* connect(2) only remembers, the first send opens. */
static int open_on_send(const struct place *place, const char *host)
{
	static const int on = 1;
	union net_address to;
	socklen_t len = net_target(place, host, "tcp", &to);
	int fd = net_socket(to.any.sa_family, SOCK_STREAM, 0);

	road_must(setsockopt(fd, IPPROTO_TCP, TCP_FASTOPEN_CONNECT, &on, sizeof(on)),
		  "TCP_FASTOPEN_CONNECT");
	if (connect(fd, &to.any, len) < 0)
		return net_done(fd, -1);
	return net_done(fd, send(fd, net_data, sizeof(net_data), MSG_NOSIGNAL));
}

static int open_on_send_four(const struct place *place)
{
	return open_on_send(place, FOUR);
}

static int open_on_send_six(const struct place *place)
{
	return open_on_send(place, SIX);
}

/* Another protocol below the same socket, where the kernel lets it be put there. */
static int connect_below(const struct place *place, const char *name)
{
	union net_address to;
	socklen_t len = net_target(place, FOUR, "tcp", &to);
	int fd = net_socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, IPPROTO_TCP, TCP_ULP, name, (socklen_t)strlen(name));
	return net_done(fd, connect(fd, &to.any, len));
}

static int connect_smc(const struct place *place)
{
	return connect_below(place, "smc");
}

static int connect_mptcp_below(const struct place *place)
{
	return connect_below(place, "mptcp");
}

/* The socket comes from another process of the run. */
static int connect_received(const struct place *place)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { net_data, 1 };
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	union net_address to;
	socklen_t len = net_target(place, FOUR, "tcp", &to);
	int ends[2], fd = net_socket(AF_INET, SOCK_STREAM, 0);

	road_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	road_must(sendmsg(ends[0], &message, 0), "sendmsg");
	road_must(recvmsg(ends[1], &message, 0), "recvmsg");
	memcpy(&fd, CMSG_DATA(&control.head), sizeof(fd));
	return net_done(fd, connect(fd, &to.any, len));
}

#define TCP(words, how) NET_ROW(words, how), .op = "connect", .grants = net_grant_four
#define TCP6(words, how) NET_ROW(words, how), .op = "connect", .grants = net_grant_six
#define OPEN(words, how)                                                                           \
	NET_ROW(words, how), .op = "send", .prepare = net_fast_open, .grants = net_grant_four

static const struct road net_tcp[] = {
	{ TCP("connect TCP by IPv4", connect_four) },
	{ TCP6("connect TCP by IPv6", connect_six) },
	{ TCP("connect TCP to ::ffff:a.b.c.d", connect_mapped) },
	{ TCP("connect TCP without waiting", connect_without_waiting) },
	{ TCP("connect TCP again after connect to AF_UNSPEC", connect_again) },
	{ TCP("connect TCP bound to an address and a device", connect_from_device) },
	{ TCP6("connect TCP with an IPv6 flow label", connect_with_flow) },
	{ TCP6("connect TCP to an IPv6 address of 24 bytes", connect_short_address) },
	{ TCP("connect MPTCP by IPv4", mptcp_four) },
	{ TCP6("connect MPTCP by IPv6", mptcp_six) },
	{ TCP("connect MPTCP to ::ffff:a.b.c.d", mptcp_mapped) },
	{ OPEN("TCP Fast Open by sendto", fast_open_four) },
	{ OPEN("TCP Fast Open by sendto to ::ffff:a.b.c.d", fast_open_mapped) },
	{ NET_ROW("TCP Fast Open by sendmsg, IPv6", fast_open_message), .op = "send",
	  .prepare = net_fast_open, .grants = net_grant_six },
	{ OPEN("TCP Fast Open by sendmmsg", fast_open_messages) },
	{ OPEN("TCP Fast Open by sendto of MPTCP", fast_open_mptcp), .since = 0x0602 },
	{ TCP("TCP_FASTOPEN_CONNECT by IPv4", open_on_send_four), .prepare = net_fast_open },
	{ TCP6("TCP_FASTOPEN_CONNECT by IPv6", open_on_send_six), .prepare = net_fast_open },
	{ TCP("connect TCP with TCP_ULP smc", connect_smc), .twin = connect_four,
	  .also = "capability" },
	{ TCP("connect TCP with TCP_ULP mptcp", connect_mptcp_below), .twin = connect_four,
	  .also = "capability" },
	{ TCP("connect a TCP socket passed on by another process", connect_received) },
};
ROADS(net_tcp);
