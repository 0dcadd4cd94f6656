// SPDX-License-Identifier: Apache-2.0
/* On which roads does a datagram leave? */
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/coverage/net.h"

#define FOUR "127.0.0.1"
#define SIX "::1"
#define MAPPED "::ffff:127.0.0.1"

static int send_to(const struct place *place, const char *host, int flags)
{
	union net_address to;
	socklen_t len = net_target(place, host, "udp", &to);
	int fd = net_socket(to.any.sa_family, SOCK_DGRAM, 0);

	return net_done(fd, sendto(fd, net_data, sizeof(net_data), flags, &to.any, len));
}

static int sendto_four(const struct place *place)
{
	return send_to(place, FOUR, 0);
}

static int sendto_six(const struct place *place)
{
	return send_to(place, SIX, 0);
}

static int sendto_mapped(const struct place *place)
{
	return send_to(place, MAPPED, 0);
}

static struct iovec part = { net_data, sizeof(net_data) };

/* With room for one control message, of this type and these bytes. */
static int send_message(const struct place *place, const char *host, int level, int type,
			const void *bytes, size_t size)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(64)];
	} control = { .head = { CMSG_LEN(size), level, type } };
	union net_address to;
	struct msghdr message = {
		.msg_name = &to,
		.msg_namelen = net_target(place, host, "udp", &to),
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = bytes ? &control : NULL,
		.msg_controllen = bytes ? CMSG_SPACE(size) : 0,
	};
	int fd = net_socket(to.any.sa_family, SOCK_DGRAM, 0);

	if (bytes)
		memcpy(CMSG_DATA(&control.head), bytes, size);
	return net_done(fd, sendmsg(fd, &message, 0));
}

static int sendmsg_four(const struct place *place)
{
	return send_message(place, FOUR, 0, 0, NULL, 0);
}

static int sendmsg_from(const struct place *place)
{
	struct in_pktinfo from = { .ipi_ifindex = 1 };

	from.ipi_spec_dst.s_addr = htonl(INADDR_LOOPBACK + 8);
	return send_message(place, FOUR, IPPROTO_IP, IP_PKTINFO, &from, sizeof(from));
}

static int sendmsg_six_from(const struct place *place)
{
	struct in6_pktinfo from = { .ipi6_addr = IN6ADDR_LOOPBACK_INIT, .ipi6_ifindex = 1 };

	return send_message(place, SIX, IPPROTO_IPV6, IPV6_PKTINFO, &from, sizeof(from));
}

static int sendmsg_in_segments(const struct place *place)
{
	uint16_t size = 2;

	return send_message(place, FOUR, IPPROTO_UDP, UDP_SEGMENT, &size, sizeof(size));
}

static int send_messages(const struct place *place, bool declared_first)
{
	union net_address first, second;
	struct mmsghdr messages[2] = {
		{ .msg_hdr = { &first, 0, &part, 1, NULL, 0, 0 } },
		{ .msg_hdr = { &second, 0, &part, 1, NULL, 0, 0 } },
	};
	socklen_t len = declared_first ? net_declared(place, FOUR, &first)
				       : net_address(place, FOUR, &first);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0), n;

	net_target(place, FOUR, "udp", &second);
	messages[0].msg_hdr.msg_namelen = len;
	messages[1].msg_hdr.msg_namelen = len;
	n = sendmmsg(fd, messages, 2, 0);
	if (n != 1)
		return net_done(fd, n);
	/* The kernel keeps the error of the second for the next call, or forgets it. */
	return net_done(fd, sendmsg(fd, &messages[1].msg_hdr, 0));
}

static int sendmmsg_both(const struct place *place)
{
	return send_messages(place, false);
}

static int sendmmsg_second(const struct place *place)
{
	return send_messages(place, true);
}

static int dial(const struct place *place, const char *host)
{
	union net_address to;
	socklen_t len = net_target(place, host, "udp", &to);
	int fd = net_socket(to.any.sa_family, SOCK_DGRAM, 0);

	road_must(connect(fd, &to.any, len), "connect");
	return fd;
}

static int connect_send(const struct place *place)
{
	int fd = dial(place, FOUR);

	return net_done(fd, send(fd, net_data, sizeof(net_data), 0));
}

static int connect_send_six(const struct place *place)
{
	int fd = dial(place, SIX);

	return net_done(fd, send(fd, net_data, sizeof(net_data), 0));
}

static int connect_send_mapped(const struct place *place)
{
	int fd = dial(place, MAPPED);

	return net_done(fd, send(fd, net_data, sizeof(net_data), 0));
}

static int connect_write(const struct place *place)
{
	int fd = dial(place, FOUR);

	return net_done(fd, write(fd, net_data, sizeof(net_data)));
}

static int connect_writev(const struct place *place)
{
	int fd = dial(place, FOUR);

	return net_done(fd, writev(fd, &part, 1));
}

static int connect_splice(const struct place *place)
{
	int fd = dial(place, FOUR), ends[2];

	road_must(pipe(ends), "pipe");
	road_must(write(ends[1], net_data, sizeof(net_data)), "write");
	return net_done(fd, splice(ends[0], NULL, fd, NULL, sizeof(net_data), 0));
}

static int connect_sendfile(const struct place *place)
{
	int fd = dial(place, FOUR);
	long file = road_must(open(place->mine, O_RDONLY), place->mine);

	return net_done(fd, sendfile(fd, (int)file, NULL, 4));
}

static int connect_aio(const struct place *place)
{
	struct iocb request = {
		.aio_fildes = (__u32)dial(place, FOUR),
		.aio_lio_opcode = IOCB_CMD_PWRITE,
		.aio_buf = (unsigned long)net_data,
		.aio_nbytes = sizeof(net_data),
	};
	struct iocb *requests[] = { &request };
	aio_context_t context = 0;
	struct io_event answer;

	road_must(syscall(SYS_io_setup, 1, &context), "io_setup");
	if (syscall(SYS_io_submit, context, 1, requests) < 0)
		return -errno;
	road_must(syscall(SYS_io_getevents, context, 1, 1, &answer, NULL), "io_getevents");
	return answer.res < 0 ? (int)answer.res : 0;
}

/* Connected to what is declared, a datagram elsewhere. */
static int stray(const struct place *place)
{
	union net_address to, declared;
	socklen_t len = net_declared(place, FOUR, &declared);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	road_must(connect(fd, &declared.any, len), "connect");
	net_target(place, FOUR, "udp", &to);
	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, &to.any, len));
}

/* An IPv4 socket takes family 0 for AF_INET. */
static int sendto_unspecified(const struct place *place)
{
	union net_address to;
	socklen_t len = net_target(place, FOUR, "udp", &to);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	to.any.sa_family = AF_UNSPEC;
	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, &to.any, len));
}

/* An IPv6 socket takes family 0 for no address at all and sends to its peer. */
static int sendto_unspecified_six(const struct place *place)
{
	union net_address nobody = { .any.sa_family = AF_UNSPEC };
	int fd = dial(place, SIX);

	return net_done(fd,
			sendto(fd, net_data, sizeof(net_data), 0, &nobody.any, sizeof(nobody.six)));
}

static int sendto_four_of_six(const struct place *place)
{
	union net_address to;
	socklen_t len = net_target(place, FOUR, "udp", &to);
	int fd = net_socket(AF_INET6, SOCK_DGRAM, 0);

	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, &to.any, len));
}

/* An IPv6 socket that is connected to IPv4 becomes an IPv4 socket, where the kernel does that. */
static int send_after_change(const struct place *place)
{
	int fd = dial(place, MAPPED), family = AF_INET;

	setsockopt(fd, IPPROTO_IPV6, IPV6_ADDRFORM, &family, sizeof(family));
	return net_done(fd, send(fd, net_data, sizeof(net_data), 0));
}

/* In two parts, the second of which names no address. */
static int send_corked(const struct place *place)
{
	union net_address to;
	socklen_t len = net_target(place, FOUR, "udp", &to);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	if (sendto(fd, net_data, sizeof(net_data), MSG_MORE, &to.any, len) < 0)
		return net_done(fd, -1);
	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, NULL, 0));
}

/* In two parts: begun to the declared address, ended with another one. */
static int send_corked_elsewhere(const struct place *place)
{
	union net_address to, declared;
	socklen_t len = net_declared(place, FOUR, &declared);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	road_must(sendto(fd, net_data, sizeof(net_data), MSG_MORE, &declared.any, len), "sendto");
	net_target(place, FOUR, "udp", &to);
	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, &to.any, len));
}

/* Begun and ended with the declared address: connect(2) in between changes where it all goes. */
static int send_corked_over_connect(const struct place *place)
{
	union net_address to, declared;
	socklen_t len = net_declared(place, FOUR, &declared);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	road_must(sendto(fd, net_data, sizeof(net_data), MSG_MORE, &declared.any, len), "sendto");
	road_must(connect(fd, &to.any, net_address(place, FOUR, &to)), "connect");
	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, &declared.any, len));
}

static int send_port_zero(const struct place *place)
{
	union net_address to;
	socklen_t len = net_address(place, FOUR, &to);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	place_names(place, FOUR ":0/udp");
	to.four.sin_port = 0;
	road_must(connect(fd, &to.any, len), "connect");
	return net_done(fd, send(fd, net_data, sizeof(net_data), 0));
}

#define UDP(words, how) NET_ROW(words, how), .op = "send", .grants = net_grant_four
#define UDP6(words, how) NET_ROW(words, how), .op = "send", .grants = net_grant_six

static const struct road net_udp[] = {
	{ UDP("sendto by IPv4", sendto_four) },
	{ UDP6("sendto by IPv6", sendto_six) },
	{ UDP("sendto to ::ffff:a.b.c.d", sendto_mapped) },
	{ UDP("sendto of an IPv6 socket to an IPv4 address", sendto_four_of_six) },
	{ UDP("sendmsg", sendmsg_four) },
	{ UDP("sendmsg with IP_PKTINFO", sendmsg_from) },
	{ UDP6("sendmsg with IPV6_PKTINFO", sendmsg_six_from) },
	{ UDP("sendmsg with UDP_SEGMENT", sendmsg_in_segments) },
	{ UDP("sendmmsg", sendmmsg_both) },
	{ UDP("sendmmsg, the second datagram of it", sendmmsg_second) },
	{ UDP("connect UDP, then send", connect_send) },
	{ UDP6("connect UDP by IPv6, then send", connect_send_six) },
	{ UDP("connect UDP to ::ffff:a.b.c.d, then send", connect_send_mapped) },
	{ UDP("connect UDP, then write", connect_write) },
	{ UDP("connect UDP, then writev", connect_writev) },
	{ UDP("connect UDP, then io_submit", connect_aio) },
	{ UDP("connect UDP, then splice", connect_splice), .hooked = 0x0605 },
	{ UDP("connect UDP, then sendfile", connect_sendfile), .hooked = 0x0605 },
	{ UDP("sendto elsewhere of a UDP socket connected to a declared address", stray) },
	{ UDP("sendto by AF_UNSPEC of an IPv4 socket", sendto_unspecified) },
	{ UDP6("sendto by AF_UNSPEC of a connected IPv6 socket", sendto_unspecified_six) },
	{ UDP("connect UDP to ::ffff:a.b.c.d, then IPV6_ADDRFORM and send", send_after_change) },
	{ UDP("sendto with MSG_MORE, in two parts", send_corked) },
	{
		.name = "sendto with MSG_MORE, the second part elsewhere",
		.surface = "egress",
		.op = "send",
		.outside = net_listen,
		.try = send_corked_elsewhere,
		.grants = net_grant_four,
		.hidden = { ECONNREFUSED },
		.flags = ROAD_CHANGES | ROAD_PACKETS | ROAD_UNSEEN,
		.why = "both parts go to the address of the first",
	},
	{
		.name = "sendto with MSG_MORE, and connect elsewhere before the second part",
		.surface = "egress",
		.op = "send",
		.outside = net_listen,
		.try = send_corked_over_connect,
		.grants = net_grant_four,
		.hidden = { EPERM },
		.flags = ROAD_NO_EVENT | ROAD_CHANGES | ROAD_PACKETS,
		.why = "the hook sees the declared address; the packet filter drops the packet, "
		       "counts it as a violation without an event, and the run ends with 3",
	},
	{
		.name = "connect UDP to port 0, then send",
		.surface = "egress",
		.op = "send",
		.outside = net_tap_port_zero,
		.try = send_port_zero,
		.twin = connect_send,
		.grants = net_grant_four,
		.hidden = { ECONNREFUSED },
		.flags = ROAD_CHANGES | ROAD_PACKETS,
	},
};
ROADS(net_udp);
