// SPDX-License-Identifier: Apache-2.0
/* What can an agent do with a socket that somebody outside made? */
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/coverage/net.h"

static struct sockaddr_un address_of(const struct place *place)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	strcpy(address.sun_path, road_mine(place, "socket"));
	return address;
}

/* A message of one byte, with room for a descriptor. */
struct message {
	struct msghdr header;
	struct iovec text;
	char byte;
	char control[CMSG_SPACE(sizeof(int))];
};

static struct msghdr *message_init(struct message *message)
{
	*message = (struct message){ .byte = 'x' };
	message->text = (struct iovec){ .iov_base = &message->byte, .iov_len = 1 };
	message->header = (struct msghdr){
		.msg_iov = &message->text,
		.msg_iovlen = 1,
		.msg_control = message->control,
		.msg_controllen = sizeof(message->control),
	};
	return &message->header;
}

static void send_descriptor(int to, int fd)
{
	struct message message;
	struct msghdr *header = message_init(&message);
	struct cmsghdr *part = CMSG_FIRSTHDR(header);

	part->cmsg_level = SOL_SOCKET;
	part->cmsg_type = SCM_RIGHTS;
	part->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(part), &fd, sizeof(fd));
	road_must(sendmsg(to, header, 0), "sendmsg");
}

/* The kernel gives no errno here, but none of the descriptors: then -1 and EACCES. */
static int receive_descriptor(int from)
{
	struct message message;
	struct msghdr *header = message_init(&message);
	struct cmsghdr *part;
	int fd;

	road_must(recvmsg(from, header, 0), "recvmsg");
	part = CMSG_FIRSTHDR(header);
	errno = EACCES;
	if (!part || part->cmsg_len < CMSG_LEN(sizeof(int)))
		return -1;
	memcpy(&fd, CMSG_DATA(part), sizeof(fd));
	return fd;
}

/* Outside: hands fd to whoever connects, and hears what comes out at the other end. */
static void hand_out(const struct place *place, int fd, int other)
{
	struct sockaddr_un address = address_of(place);
	int listener = net_socket(AF_UNIX, SOCK_STREAM, 0);
	char text[100];

	road_must(bind(listener, (void *)&address, sizeof(address)), "bind");
	road_must(chmod(address.sun_path, 0777), "chmod");
	road_must(listen(listener, 1), "listen");
	road_ready(place);
	send_descriptor((int)road_must(accept(listener, NULL, NULL), "accept"), fd);
	close(fd);
	if (recv(other, text, sizeof(text), 0) > 0)
		place_happened(place);
}

/* A socket, and another one at the place's port that it is connected to. */
static void hand_out_connected(const struct place *place, int type)
{
	int other = net_socket(AF_INET, type, 0), fd = net_socket(AF_INET, type, 0);
	union net_address to;
	socklen_t len = net_address(place, "127.0.0.1", &to);
	static const int on = 1;

	/* The connection of the persona before is still remembered. */
	setsockopt(other, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	road_must(bind(other, &to.any, len), "bind");
	if (type == SOCK_STREAM)
		road_must(listen(other, 1), "listen");
	road_must(connect(fd, &to.any, len), "connect");
	if (type == SOCK_STREAM)
		other = (int)road_must(accept(other, NULL, NULL), "accept");
	hand_out(place, fd, other);
}

static void hand_out_tcp(const struct place *place)
{
	hand_out_connected(place, SOCK_STREAM);
}

static void hand_out_udp(const struct place *place)
{
	hand_out_connected(place, SOCK_DGRAM);
}

static void hand_out_unix(const struct place *place)
{
	int ends[2];

	road_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	hand_out(place, ends[0], ends[1]);
}

static int receive_it(const struct place *place)
{
	struct sockaddr_un address = address_of(place);
	int from = net_socket(AF_UNIX, SOCK_STREAM, 0);

	road_must(connect(from, (void *)&address, sizeof(address)), "connect");
	return receive_descriptor(from);
}

static int just_receive(const struct place *place)
{
	return road_fd(receive_it(place));
}

static int use_received(const struct place *place)
{
	int fd = receive_it(place);

	return fd < 0 ? -errno : net_done(fd, send(fd, net_data, sizeof(net_data), MSG_NOSIGNAL));
}

/* The run's own socket comes over a pair. */
static int use_own(int family, int type)
{
	int ends[2], fd = net_socket(family, type, 0);

	road_must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	send_descriptor(ends[0], fd);
	return road_fd(receive_descriptor(ends[1]));
}

static int use_own_tcp(const struct place *place)
{
	(void)place;
	return use_own(AF_INET, SOCK_STREAM);
}

static int use_own_udp(const struct place *place)
{
	(void)place;
	return use_own(AF_INET, SOCK_DGRAM);
}

static int use_own_unix(const struct place *place)
{
	(void)place;
	return use_own(AF_UNIX, SOCK_STREAM);
}

#define RECEIVE(words, who, like)                                                                  \
	.name = (words), .surface = "egress", .op = "receive", .try = use_received,                \
	.twin = (like), .outside = (who), .hidden = { EACCES }

static const struct road net_receive[] = {
	{ RECEIVE("receive a connected TCP socket over a UNIX socket", hand_out_tcp, use_own_tcp) },
	{ RECEIVE("receive a connected UDP socket over a UNIX socket", hand_out_udp, use_own_udp) },
	{
		.name = "receive a connected UNIX socket over a UNIX socket",
		.surface = "ipc",
		.try = just_receive,
		.twin = use_own_unix,
		.outside = hand_out_unix,
		.hidden = { ROAD_SUCCEEDS },
		.flags = ROAD_LEAKS,
		.why = "a UNIX socket that a service outside passes in over a granted one can be used",
	},
};
ROADS(net_receive);
