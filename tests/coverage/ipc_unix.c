// SPDX-License-Identifier: Apache-2.0
/* On which roads is a UNIX socket outside of the run reached? */
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/coverage/net.h"
#include "tests/coverage/uring.h"

/* The socket's own directory, so that its appearance is no effect of the agent's. */
static const char *home(const struct place *place)
{
	return road_path("%s-s", place->dir);
}

static const char *path_of(const struct place *place)
{
	return road_path("%s-s/s", place->dir);
}

static void make_home(const struct place *place)
{
	place_default(place);
	place_directory(place, home(place));
}

static struct sockaddr_un by_path(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		road_broken("a path is too long for a socket");
	strcpy(address.sun_path, path);
	return address;
}

/* An abstract name of the row and side. */
static socklen_t by_name(const struct place *place, struct sockaddr_un *address)
{
	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) +
			   (size_t)snprintf(address->sun_path, sizeof(address->sun_path),
					    "%croad-%u-%d", 0, place->number, place->side));
}

static socklen_t target(const struct place *place, bool abstract, struct sockaddr_un *address)
{
	if (abstract) {
		place_names(place, "@road-%u-%d", place->number, place->side);
		return by_name(place, address);
	}
	place_names(place, "%s", path_of(place));
	*address = by_path(path_of(place));
	return sizeof(*address);
}

/* Outside: hears whoever connects or sends. */
static void hear(const struct place *place, int type, bool abstract)
{
	int fd = net_socket(AF_UNIX, type, 0);
	struct sockaddr_un address;
	socklen_t len = sizeof(address);
	char text[100];

	if (abstract)
		len = by_name(place, &address);
	else
		address = by_path(path_of(place));
	road_must(bind(fd, (void *)&address, len), "bind");
	if (!abstract)
		road_must(chmod(path_of(place), 0777), "chmod");
	if (type != SOCK_DGRAM)
		road_must(listen(fd, 4), "listen");
	road_ready(place);
	if (type == SOCK_DGRAM ? recv(fd, text, sizeof(text), 0) >= 0 : accept(fd, NULL, NULL) >= 0)
		place_happened(place);
}

#define HEAR(id, type, abstract)                                                                   \
	static void id(const struct place *place)                                                  \
	{                                                                                          \
		hear(place, type, abstract);                                                       \
	}
HEAR(hear_stream, SOCK_STREAM, false)
HEAR(hear_dgram, SOCK_DGRAM, false)
HEAR(hear_packets, SOCK_SEQPACKET, false)
HEAR(hear_stream_name, SOCK_STREAM, true)
HEAR(hear_dgram_name, SOCK_DGRAM, true)
HEAR(hear_packets_name, SOCK_SEQPACKET, true)

static int connect_by(const struct place *place, int type, bool abstract)
{
	struct sockaddr_un to;
	socklen_t len = target(place, abstract, &to);
	int fd = net_socket(AF_UNIX, type, 0);

	if (connect(fd, (void *)&to, len) < 0)
		return net_done(fd, -1);
	return net_done(fd, send(fd, net_data, sizeof(net_data), MSG_NOSIGNAL));
}

#define CONNECT(id, type, abstract)                                                                \
	static int id(const struct place *place)                                                   \
	{                                                                                          \
		return connect_by(place, type, abstract);                                          \
	}
CONNECT(connect_stream, SOCK_STREAM, false)
CONNECT(connect_dgram, SOCK_DGRAM, false)
CONNECT(connect_packets, SOCK_SEQPACKET, false)
CONNECT(connect_stream_name, SOCK_STREAM, true)
CONNECT(connect_dgram_name, SOCK_DGRAM, true)
CONNECT(connect_packets_name, SOCK_SEQPACKET, true)

static int connect_path(const struct place *place, const char *path)
{
	struct sockaddr_un to = by_path(path);
	int fd = net_socket(AF_UNIX, SOCK_STREAM, 0);

	place_names(place, "%s", path_of(place));
	return net_done(fd, connect(fd, (void *)&to, sizeof(to)));
}

static int connect_relative(const struct place *place)
{
	road_must(chdir(home(place)), "chdir");
	return connect_path(place, "s");
}

static int connect_through_link(const struct place *place)
{
	road_must(symlink(path_of(place), road_mine(place, "link")), "symlink");
	return connect_path(place, road_mine(place, "link"));
}

static int connect_through_descriptor(const struct place *place)
{
	long fd = road_must(open(path_of(place), O_PATH), "O_PATH");

	return connect_path(place, road_path("/proc/self/fd/%ld", fd));
}

static int connect_through_root(const struct place *place)
{
	return connect_path(place, road_path("/proc/self/root%s", path_of(place)));
}

static int send_to(const struct place *place, bool abstract)
{
	struct sockaddr_un to;
	socklen_t len = target(place, abstract, &to);
	int fd = net_socket(AF_UNIX, SOCK_DGRAM, 0);

	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, (void *)&to, len));
}

static int sendto_path(const struct place *place)
{
	return send_to(place, false);
}

static int sendto_name(const struct place *place)
{
	return send_to(place, true);
}

/* Where the socket is connected to already, and may be: its own other end. */
static int own_dgram(int connected)
{
	struct sockaddr_un here = { .sun_family = AF_UNIX };
	int fd = net_socket(AF_UNIX, SOCK_DGRAM, 0);
	socklen_t len = sizeof(here);

	/* Bound to nothing, it gets a name from the kernel. */
	road_must(bind(fd, (void *)&here, sizeof(here.sun_family)), "bind");
	road_must(getsockname(fd, (void *)&here, &len), "getsockname");
	road_must(connect(connected, (void *)&here, len), "connect to one's own");
	return fd;
}

static int stray(const struct place *place)
{
	struct sockaddr_un to;
	socklen_t len = target(place, false, &to);
	int fd = net_socket(AF_UNIX, SOCK_DGRAM, 0), own = own_dgram(fd), result;

	result = road_result(sendto(fd, net_data, sizeof(net_data), 0, (void *)&to, len));
	close(own);
	close(fd);
	return result;
}

static int connect_again(const struct place *place)
{
	struct sockaddr_un to;
	socklen_t len = target(place, true, &to);
	int fd = net_socket(AF_UNIX, SOCK_DGRAM, 0), own = own_dgram(fd), result;

	result = road_result(connect(fd, (void *)&to, len));
	if (result == 0)
		result = road_result(send(fd, net_data, sizeof(net_data), 0));
	close(own);
	close(fd);
	return result;
}

/* With a descriptor, by the calls that take messages. */
static int send_message(const struct place *place, bool many)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .head = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec part = { net_data, sizeof(net_data) };
	struct sockaddr_un to;
	struct mmsghdr message = {
		.msg_hdr = { &to, target(place, false, &to), &part, 1, &control,
			     CMSG_LEN(sizeof(int)), 0 },
	};
	int fd = net_socket(AF_UNIX, SOCK_DGRAM, 0);

	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	if (many)
		return net_done(fd, sendmmsg(fd, &message, 1, 0));
	return net_done(fd, sendmsg(fd, &message.msg_hdr, 0));
}

static int sendmsg_path(const struct place *place)
{
	return send_message(place, false);
}

static int sendmmsg_path(const struct place *place)
{
	return send_message(place, true);
}

static int ring_connect(const struct place *place)
{
	struct sockaddr_un to;
	socklen_t len = target(place, false, &to);
	int fd = net_socket(AF_UNIX, SOCK_STREAM, 0);
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_CONNECT,
		.flags = IOSQE_ASYNC,
		.fd = fd,
		.addr = (unsigned long)&to,
		.off = len,
	};
	int result = uring_do(&sqe, 0);

	close(fd);
	return result;
}

static int ring_send(const struct place *place)
{
	struct iovec part = { net_data, sizeof(net_data) };
	struct sockaddr_un to;
	struct msghdr message = { &to, target(place, false, &to), &part, 1, NULL, 0, 0 };
	int fd = net_socket(AF_UNIX, SOCK_DGRAM, 0);
	struct io_uring_sqe sqe = {
		.opcode = IORING_OP_SENDMSG,
		.flags = IOSQE_ASYNC,
		.fd = fd,
		.addr = (unsigned long)&message,
		.len = 1,
	};
	int result = uring_do(&sqe, 0);

	close(fd);
	return result < 0 ? result : 0;
}

/* What needs no name: a pair, and an abstract name of the run's own. */
static int use_pair(const struct place *place)
{
	int ends[2];

	(void)place;
	road_must(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends), "socketpair");
	return road_result(send(ends[0], net_data, sizeof(net_data), 0));
}

static int use_own_name(const struct place *place, int type)
{
	struct sockaddr_un here = { .sun_family = AF_UNIX };
	int fd = net_socket(AF_UNIX, type, 0), other = net_socket(AF_UNIX, type, 0);
	socklen_t len = sizeof(here);

	/* Bound to nothing, it gets a name from the kernel. */
	road_must(bind(fd, (void *)&here, sizeof(here.sun_family)), "bind");
	road_must(getsockname(fd, (void *)&here, &len), "getsockname");
	if (type != SOCK_DGRAM)
		road_must(listen(fd, 1), "listen");
	if (connect(other, (void *)&here, len) < 0)
		return -errno;
	(void)place;
	return net_done(other, send(other, net_data, sizeof(net_data), 0));
}

static int use_own_stream(const struct place *place)
{
	return use_own_name(place, SOCK_STREAM);
}

static int use_own_dgram(const struct place *place)
{
	return use_own_name(place, SOCK_DGRAM);
}

static int use_own_packets(const struct place *place)
{
	return use_own_name(place, SOCK_SEQPACKET);
}

/* What is no socket answers alike whether it is declared or not. */
static int connect_to_file(const struct place *place)
{
	struct sockaddr_un to = by_path(place->target);
	int fd = net_socket(AF_UNIX, SOCK_STREAM, 0);

	return net_done(fd, connect(fd, (void *)&to, sizeof(to)));
}

#define REACH(words, what, how, who)                                                               \
	.name = (words), .surface = "ipc", .op = (what), .try = (how), .outside = (who),           \
	.prepare = make_home, .hidden = { ECONNREFUSED }
#define PATH(words, what, how, who)                                                                \
	REACH(words, what, how, who), .readable = { ECONNREFUSED }, .flags = ROAD_CHANGES
#define NAME(words, what, how, who, like) REACH(words, what, how, who), .twin = (like)

static const struct road ipc_unix[] = {
	{ PATH("connect a UNIX stream to a path", "connect", connect_stream, hear_stream) },
	{ PATH("connect UNIX packets to a path", "connect", connect_packets, hear_packets) },
	{ PATH("connect UNIX datagrams to a path", "send", connect_dgram, hear_dgram) },
	{ PATH("connect a UNIX stream to a relative path", "connect", connect_relative,
	       hear_stream) },
	{ PATH("connect a UNIX stream through a symbolic link", "connect", connect_through_link,
	       hear_stream) },
	{ PATH("connect a UNIX stream through an O_PATH descriptor", "connect",
	       connect_through_descriptor, hear_stream) },
	{ PATH("connect a UNIX stream through /proc/self/root", "connect", connect_through_root,
	       hear_stream) },
	{ PATH("sendto a UNIX socket at a path", "send", sendto_path, hear_dgram) },
	{ PATH("sendmsg with a descriptor to a UNIX socket at a path", "send", sendmsg_path,
	       hear_dgram) },
	{ PATH("sendmmsg to a UNIX socket at a path", "send", sendmmsg_path, hear_dgram) },
	{ PATH("sendto elsewhere of a connected UNIX datagram socket", "send", stray, hear_dgram) },
	{ PATH("io_uring: connect a UNIX stream in a worker", "connect", ring_connect,
	       hear_stream) },
	{ PATH("io_uring: sendmsg to a UNIX socket in a worker", "send", ring_send, hear_dgram) },
	{ NAME("connect a UNIX stream to an abstract name", "connect", connect_stream_name,
	       hear_stream_name, use_own_stream) },
	{ NAME("connect UNIX packets to an abstract name", "connect", connect_packets_name,
	       hear_packets_name, use_own_packets) },
	{ NAME("connect UNIX datagrams to an abstract name", "send", connect_dgram_name,
	       hear_dgram_name, use_own_dgram) },
	{ NAME("connect UNIX datagrams again, to an abstract name", "send", connect_again,
	       hear_dgram_name, use_own_dgram) },
	{ NAME("sendto a UNIX socket of an abstract name", "send", sendto_name, hear_dgram_name,
	       use_pair) },
	{
		.name = "connect a UNIX stream to what is no socket",
		.surface = "ipc",
		.try = connect_to_file,
		.twin = use_own_stream,
		.hidden = { ECONNREFUSED },
		.flags = ROAD_LEAKS,
		.why = "whether an undeclared name exists (a missing one is ENOENT)",
	},
};
ROADS(ipc_unix);
