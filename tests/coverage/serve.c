// SPDX-License-Identifier: Apache-2.0
/* On which roads can an agent be reached from outside on a port of its choice? */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/coverage/net.h"
#include "tests/coverage/uring.h"

/* Linux 6.11 */
#define RING_BIND 56
#define RING_LISTEN 57

/* Linux 6.3 */
#define LOCAL_PORT_RANGE 51

static const char *const hosts[] = { "127.0.0.1", "::1" };

/* What wakes who knocks: some fifty that did so all the time would leave nobody else the CPU. */
static const char *bell(const struct place *place)
{
	return road_mine(place, "bell");
}

static void make_bell(const struct place *place)
{
	place_default(place);
	road_must(mkfifo(bell(place), 0600), "mkfifo");
	road_must(chown(bell(place), place->uid, place->uid), "chown");
}

static void ring_bell(const struct place *place)
{
	close((int)road_must(open(bell(place), O_WRONLY | O_CLOEXEC), "the bell"));
}

/*
 * Outside: once awake, connects and sends to the port for a while; an answer is what must not come.
 * It is sent from the next port, since answers by UDP are egress, which the twin is granted to
 * there.
 */
static void knock(const struct place *place)
{
	struct place next = *place;
	int dgrams[2];

	next.port++;
	for (int i = 0; i < 2; i++) {
		union net_address here;
		socklen_t len = net_address(&next, hosts[i], &here);

		dgrams[i] = net_socket(here.any.sa_family, SOCK_DGRAM | SOCK_NONBLOCK, 0);
		road_must(bind(dgrams[i], &here.any, len), "bind");
	}
	road_ready(place);
	road_must(open(bell(place), O_RDONLY | O_CLOEXEC), "the bell");
	for (int times = 0; times < 100; times++) {
		for (int i = 0; i < 2; i++) {
			union net_address to;
			socklen_t len = net_address(place, hosts[i], &to);
			int fd = net_socket(to.any.sa_family, SOCK_STREAM, 0);
			char text[100];

			if (connect(fd, &to.any, len) == 0)
				place_happened(place);
			close(fd);
			sendto(dgrams[i], "knock", 5, 0, &to.any, len);
			if (recv(dgrams[i], text, sizeof(text), 0) > 0)
				place_happened(place);
		}
		usleep(50000);
	}
}

/* Until somebody comes, and answers. */
static int serve_one(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	union net_address from;
	socklen_t len = sizeof(from);
	char text[100];

	if (poll(&wait, 1, 10000) != 1)
		return -ETIMEDOUT;
	if (recvfrom(fd, text, sizeof(text), 0, &from.any, &len) > 0)
		return road_result(sendto(fd, "who?", 4, 0, &from.any, len));
	return road_fd(accept(fd, NULL, NULL));
}

static int bound(const struct place *place, const char *host, int type, int protocol)
{
	static const int on = 1;
	union net_address here;
	socklen_t len = net_target(place, host, type == SOCK_STREAM ? "tcp" : "udp", &here);
	int fd = net_socket(here.any.sa_family, type, protocol);

	ring_bell(place);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, &here.any, len) < 0)
		return -1;
	return fd;
}

static int listen_at(const struct place *place, const char *host, int protocol)
{
	int fd = bound(place, host, SOCK_STREAM, protocol);

	road_must(fd, "bind");
	if (listen(fd, 4) < 0)
		return -errno;
	return serve_one(fd);
}

#define LISTEN(id, host, protocol)                                                                 \
	static int id(const struct place *place)                                                   \
	{                                                                                          \
		return listen_at(place, host, protocol);                                           \
	}
LISTEN(listen_every, "0.0.0.0", 0)
LISTEN(listen_lo, "127.0.0.1", 0)
LISTEN(listen_every_six, "::", 0)
LISTEN(listen_lo_six, "::1", 0)
LISTEN(listen_mapped, "::ffff:127.0.0.1", 0)
LISTEN(listen_mptcp, "127.0.0.1", IPPROTO_MPTCP)
LISTEN(listen_mptcp_six, "::1", IPPROTO_MPTCP)

/* The kernel chooses the port. */
static int listen_unbound(int family, int protocol)
{
	int fd = net_socket(family, SOCK_STREAM, protocol);

	return net_done(fd, listen(fd, 4));
}

static int listen_unbound_four(const struct place *place)
{
	(void)place;
	return listen_unbound(AF_INET, 0);
}

static int listen_unbound_six(const struct place *place)
{
	(void)place;
	return listen_unbound(AF_INET6, 0);
}

static int listen_unbound_mptcp(const struct place *place)
{
	(void)place;
	return listen_unbound(AF_INET, IPPROTO_MPTCP);
}

static int listen_port_zero(const struct place *place)
{
	union net_address here = { .four = { .sin_family = AF_INET } };
	int fd = net_socket(AF_INET, SOCK_STREAM, 0);

	(void)place;
	road_must(bind(fd, &here.any, sizeof(here.four)), "bind");
	return net_done(fd, listen(fd, 4));
}

/* Bound to another port first, which is then given up. */
static int listen_after_disconnect(const struct place *place)
{
	union net_address nobody = { .any.sa_family = AF_UNSPEC };
	int fd = bound(place, "127.0.0.1", SOCK_STREAM, 0);

	road_must(fd, "bind");
	road_must(connect(fd, &nobody.any, sizeof(nobody.any)), "connect to nobody");
	if (listen(fd, 4) < 0)
		return -errno;
	return serve_one(fd);
}

static int bind_at(const struct place *place, const char *host)
{
	int fd = bound(place, host, SOCK_DGRAM, 0);

	return fd < 0 ? -errno : serve_one(fd);
}

#define BIND(id, host)                                                                             \
	static int id(const struct place *place)                                                   \
	{                                                                                          \
		return bind_at(place, host);                                                       \
	}
BIND(bind_every, "0.0.0.0")
BIND(bind_lo, "127.0.0.1")
BIND(bind_every_six, "::")
BIND(bind_lo_six, "::1")
BIND(bind_mapped, "::ffff:127.0.0.1")

/* An IPv4 socket takes family 0 for AF_INET if the address is 0.0.0.0. */
static int bind_unspecified(const struct place *place)
{
	union net_address here;
	socklen_t len = net_target(place, "0.0.0.0", "udp", &here);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	ring_bell(place);
	here.any.sa_family = AF_UNSPEC;
	return bind(fd, &here.any, len) < 0 ? -errno : serve_one(fd);
}

static int bind_shared(const struct place *place)
{
	static const int on = 1;
	union net_address here;
	socklen_t len = net_target(place, "127.0.0.1", "udp", &here);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	ring_bell(place);
	setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
	return bind(fd, &here.any, len) < 0 ? -errno : serve_one(fd);
}

/* Twins: a port that nobody chose. */
static int bind_free(const struct place *place)
{
	union net_address here = { .four = { .sin_family = AF_INET } };
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	(void)place;
	return net_done(fd, bind(fd, &here.any, sizeof(here.four)));
}

/* Not a port of one's choice, but of the kernel's, out of one. */
static int bind_chosen(const struct place *place)
{
	uint32_t range = place->port << 16 | place->port;
	union net_address here = { .four = { .sin_family = AF_INET } };
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	ring_bell(place);
	if (setsockopt(fd, IPPROTO_IP, LOCAL_PORT_RANGE, &range, sizeof(range)) < 0)
		return net_done(fd, -1);
	return bind(fd, &here.any, sizeof(here.four)) < 0 ? -errno : serve_one(fd);
}

/* A ring that does not know the request says EINVAL, as it does for wrong arguments. */
static int ring(const struct io_uring_sqe *sqe)
{
	int result = uring_do(sqe, 0);

	return result == -EINVAL ? -ENOSYS : result;
}

static int ring_listen(const struct place *place)
{
	int fd = bound(place, "127.0.0.1", SOCK_STREAM, 0), result;
	struct io_uring_sqe sqe = {
		.opcode = RING_LISTEN,
		.flags = IOSQE_ASYNC,
		.fd = fd,
		.len = 4,
	};

	road_must(fd, "bind");
	result = ring(&sqe);
	return result < 0 ? result : serve_one(fd);
}

static int ring_bind(const struct place *place)
{
	union net_address here;
	socklen_t len = net_target(place, "127.0.0.1", "udp", &here);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);
	struct io_uring_sqe sqe = {
		.opcode = RING_BIND,
		.flags = IOSQE_ASYNC,
		.fd = fd,
		.addr = (unsigned long)&here,
		.addr2 = len,
	};
	int result;

	ring_bell(place);
	result = ring(&sqe);

	return result < 0 ? result : serve_one(fd);
}

static void grant(const struct place *place)
{
	road_grant("serve %u", place->port);
	road_grant("serve %u/udp", place->port);
	for (int i = 0; i < 2; i++)
		road_grant("egress %s %u quic", hosts[i], place->port + 1);
}

#define SERVE(words, what, how)                                                                    \
	.name = (words), .surface = "serve", .op = (what), .try = (how), .hidden = { EACCES }
#define TCP(words, how)                                                                            \
	SERVE(words, "listen", how), .outside = knock, .prepare = make_bell, .grants = grant,      \
				     .flags = ROAD_CHANGES
#define UDP(words, how)                                                                            \
	SERVE(words, "bind", how), .outside = knock, .prepare = make_bell, .grants = grant,        \
				   .flags = ROAD_CHANGES

static const struct road serve[] = {
	{ TCP("listen on TCP by IPv4", listen_every) },
	{ TCP("listen on TCP at 127.0.0.1", listen_lo) },
	{ TCP("listen on TCP by IPv6, and IPv4 with it", listen_every_six) },
	{ TCP("listen on TCP at ::1", listen_lo_six) },
	{ TCP("listen on TCP at ::ffff:127.0.0.1", listen_mapped) },
	{ TCP("listen on MPTCP by IPv4", listen_mptcp) },
	{ TCP("listen on MPTCP by IPv6", listen_mptcp_six) },
	{ TCP("listen on TCP after connect to AF_UNSPEC", listen_after_disconnect) },
	{ SERVE("listen on TCP without a bind", "listen", listen_unbound_four), .twin = listen_lo,
	  .outside = knock, .prepare = make_bell, .grants = grant },
	{ SERVE("listen on TCP by IPv6 without a bind", "listen", listen_unbound_six),
	  .twin = listen_lo, .outside = knock, .prepare = make_bell, .grants = grant },
	{ SERVE("listen on MPTCP without a bind", "listen", listen_unbound_mptcp),
	  .twin = listen_lo, .outside = knock, .prepare = make_bell, .grants = grant },
	{ SERVE("listen on TCP after a bind to port 0", "listen", listen_port_zero),
	  .twin = listen_lo, .outside = knock, .prepare = make_bell, .grants = grant },
	{ UDP("bind UDP to a port by IPv4", bind_every) },
	{ UDP("bind UDP to a port at 127.0.0.1", bind_lo) },
	{ UDP("bind UDP to a port by IPv6, and IPv4 with it", bind_every_six) },
	{ UDP("bind UDP to a port at ::1", bind_lo_six) },
	{ UDP("bind UDP to a port at ::ffff:127.0.0.1", bind_mapped) },
	{ UDP("bind UDP to a port by AF_UNSPEC", bind_unspecified) },
	{ UDP("bind UDP to a port with SO_REUSEPORT", bind_shared) },
	{ SERVE("bind UDP to a port, where port 0 is free", "bind", bind_lo), .twin = bind_free,
	  .outside = knock, .prepare = make_bell },
	{
		.name = "bind UDP to port 0 of a range of one (IP_LOCAL_PORT_RANGE)",
		.surface = "kernel",
		.op = "setsockopt",
		.try = bind_chosen,
		.twin = bind_free,
		.hidden = { EPERM },
		.outside = knock,
		.prepare = make_bell,
	},
	{ TCP("io_uring: listen on TCP in a worker", ring_listen), .since = 0x060b },
	{ UDP("io_uring: bind UDP to a port in a worker", ring_bind), .since = 0x060b },
};
ROADS(serve);
