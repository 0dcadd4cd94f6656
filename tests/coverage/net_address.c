// SPDX-License-Identifier: Apache-2.0
/* On which roads does an address lead elsewhere than it seems to? */
#include <arpa/inet.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/ip6.h>
#include <string.h>
#include <unistd.h>

#include "tests/coverage/net.h"

static int send_to(const struct place *place, const char *host)
{
	static const int on = 1;
	union net_address to;
	socklen_t len = net_target(place, host, "udp", &to);
	int fd = net_socket(to.any.sa_family, SOCK_DGRAM, 0);

	road_must(setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)), "SO_BROADCAST");
	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, &to.any, len));
}

static int connect_to(const struct place *place, const char *host)
{
	union net_address to;
	socklen_t len = net_target(place, host, "tcp", &to);
	int fd = net_socket(to.any.sa_family, SOCK_STREAM, 0);

	return net_done(fd, connect(fd, &to.any, len));
}

#define CONNECT(id, host)                                                                          \
	static int id(const struct place *place)                                                   \
	{                                                                                          \
		return connect_to(place, host);                                                    \
	}
#define SEND(id, host)                                                                             \
	static int id(const struct place *place)                                                   \
	{                                                                                          \
		return send_to(place, host);                                                       \
	}

CONNECT(connect_four, "127.0.0.1")
CONNECT(connect_six, "::1")
CONNECT(connect_zero, "0.0.0.0")
CONNECT(connect_zero_six, "::")
CONNECT(connect_zero_mapped, "::ffff:0.0.0.0")
CONNECT(connect_alias, "127.77.20.1")
CONNECT(connect_nat64, "64:ff9b::127.0.0.1")
CONNECT(connect_6to4, "2002:7f00:1::1")
CONNECT(connect_link_local, NET_LINK_LOCAL "%" NET_DEVICE)
CONNECT(connect_metadata, NET_METADATA)
CONNECT(connect_metadata_mapped, "::ffff:" NET_METADATA)
CONNECT(connect_metadata_six, NET_METADATA6)
SEND(send_zero, "0.0.0.0")
SEND(send_zero_six, "::")
SEND(send_alias, "127.77.20.1")
SEND(send_four, "127.0.0.1")
SEND(send_six, "::1")
SEND(send_link_local, NET_LINK_LOCAL "%" NET_DEVICE)
SEND(send_broadcast, NET_BROADCAST)
SEND(send_broadcast_lo, "127.255.255.255")
SEND(send_group_six, NET_GROUP6 "%" NET_DEVICE)

static int send_group(const struct place *place)
{
	struct ip_mreqn by = { .imr_ifindex = (int)if_nametoindex(NET_DEVICE) };
	union net_address to;
	socklen_t len = net_target(place, NET_GROUP, "udp", &to);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	road_must(setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof(by)), "interface");
	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, &to.any, len));
}

/*
 * Connecting UDP sends nothing, and what moves pages to a socket asks no hook before 6.5: nothing
 * but the packet filter is left there, which is not asked for the copy that stays on the host.
 */
static int splice_to(int fd, union net_address *to, socklen_t len)
{
	int ends[2];

	if (connect(fd, &to->any, len) < 0)
		return net_done(fd, -1);
	road_must(pipe(ends), "pipe");
	road_must(write(ends[1], net_data, sizeof(net_data)), "write");
	return net_done(fd, splice(ends[0], NULL, fd, NULL, sizeof(net_data), 0));
}

static int splice_to_group(const struct place *place)
{
	struct ip_mreqn by = { .imr_ifindex = (int)if_nametoindex(NET_DEVICE) };
	union net_address to;
	socklen_t len = net_target(place, NET_GROUP, "udp", &to);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	road_must(setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &by, sizeof(by)), "interface");
	return splice_to(fd, &to, len);
}

static int splice_to_all(const struct place *place)
{
	static const int on = 1;
	union net_address to;
	socklen_t len = net_target(place, NET_BROADCAST, "udp", &to);
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	road_must(setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof(on)), "SO_BROADCAST");
	return splice_to(fd, &to, len);
}

static int splice_to_group_six(const struct place *place)
{
	union net_address to;
	socklen_t len = net_address(place, NET_GROUP6 "%" NET_DEVICE, &to);

	/* A socket keeps no zone of its peer, but the device by which it is reached. */
	place_names(place, "[" NET_GROUP6 "]:%u/udp", place->port);
	return splice_to(net_socket(AF_INET6, SOCK_DGRAM, 0), &to, len);
}

/* The zone comes from the device that the socket is bound to, or from a message beside. */
static int send_bound_to_device(const struct place *place)
{
	union net_address to;
	socklen_t len = net_target(place, NET_LINK_LOCAL "%" NET_DEVICE, "udp", &to);
	int fd = net_socket(AF_INET6, SOCK_DGRAM, 0);

	road_must(setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, NET_DEVICE, sizeof(NET_DEVICE)),
		  "SO_BINDTODEVICE");
	to.six.sin6_scope_id = 0;
	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, &to.any, len));
}

/* To the declared address ::1, by way of one that is not declared. */
static int send_by_way_of(const struct place *place)
{
	struct {
		struct ip6_rthdr head;
		uint32_t zero;
		struct in6_addr hop;
	} route = { .head = { .ip6r_len = 2, .ip6r_type = 2, .ip6r_segleft = 1 } };
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(route))];
	} control = { .head = { CMSG_LEN(sizeof(route)), IPPROTO_IPV6, IPV6_RTHDR } };
	struct iovec part = { net_data, sizeof(net_data) };
	union net_address to;
	struct msghdr message = {
		.msg_name = &to,
		.msg_namelen = net_declared(place, "::1", &to),
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd = net_socket(AF_INET6, SOCK_DGRAM, 0);

	inet_pton(AF_INET6, "fd00:7720::1", &route.hop);
	memcpy(CMSG_DATA(&control.head), &route, sizeof(route));
	return net_done(fd, sendmsg(fd, &message, 0));
}

/* To the declared address, by a source route in the socket's options, which needs CAP_NET_RAW. */
static int send_by_source_route(const struct place *place)
{
	static const unsigned char route[] = { 131, 7, 4, 192, 0, 2, 1, 1 };
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);
	union net_address to;
	socklen_t len = net_declared(place, "127.0.0.1", &to);

	if (setsockopt(fd, IPPROTO_IP, IP_OPTIONS, route, sizeof(route)) < 0)
		return net_done(fd, -1);
	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, &to.any, len));
}

/* To hear what is sent to it, which the network is asked for. */
static int join_group(const struct place *place)
{
	struct ip_mreqn group = { .imr_ifindex = (int)if_nametoindex(NET_DEVICE) };
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);

	(void)place;
	inet_pton(AF_INET, NET_GROUP, &group.imr_multiaddr);
	return net_done(fd, setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group)));
}

static int join_group_six(const struct place *place)
{
	struct ipv6_mreq group = { .ipv6mr_interface = if_nametoindex(NET_DEVICE) };
	int fd = net_socket(AF_INET6, SOCK_DGRAM, 0);

	(void)place;
	inet_pton(AF_INET6, NET_GROUP6, &group.ipv6mr_multiaddr);
	return net_done(fd, setsockopt(fd, IPPROTO_IPV6, IPV6_JOIN_GROUP, &group, sizeof(group)));
}

#define GRANT(id, host)                                                                            \
	static void id(const struct place *place)                                                  \
	{                                                                                          \
		net_grant(place, host);                                                            \
	}

GRANT(grant_alias, "127.77.20.1")
GRANT(grant_nat64, "64:ff9b::7f00:1")
GRANT(grant_6to4, "2002:7f00:1::1")
GRANT(grant_link_local, NET_LINK_LOCAL)
GRANT(grant_metadata, NET_METADATA)
GRANT(grant_metadata_six, NET_METADATA6)
GRANT(grant_broadcast, NET_BROADCAST)
GRANT(grant_broadcast_lo, "127.255.255.255")
GRANT(grant_group, NET_GROUP)
GRANT(grant_group_six, NET_GROUP6)

/* 0.0.0.0 and :: are no other name of the loopback addresses: the twin uses those. */
#define TCP(words, how, what) NET_ROW(words, how), .op = "connect", .grants = (what)
#define UDP(words, how, what) NET_ROW(words, how), .op = "send", .grants = (what)

#define JOIN(words, how)                                                                           \
	.name = (words), .surface = "egress", .prepare = net_interface, .try = (how),              \
	.hidden = { ROAD_SUCCEEDS }, .flags = ROAD_LEAKS,                                          \
	.why = "the kernel tells the local network which group it is"

#define COPIED(words, how, what)                                                                   \
	.name = (words), .surface = "egress", .try = (how), .prepare = net_interface,              \
	.outside = net_listen, .grants = (what), .hidden = { ECONNREFUSED },                       \
	.flags = ROAD_CHANGES | ROAD_PACKETS | ROAD_OWN_COPY,                                      \
	.why = "no packet filter of Linux is asked for the copy of an IPv4 broadcast or "          \
	       "multicast datagram that its sender's host gets, only for the one that leaves"

static const struct road net_address_rows[] = {
	{ TCP("connect to 0.0.0.0", connect_zero, net_grant_four), .twin = connect_four },
	{ TCP("connect to ::", connect_zero_six, net_grant_six), .twin = connect_six },
	{ TCP("connect to ::ffff:0.0.0.0", connect_zero_mapped, net_grant_four),
	  .twin = connect_four },
	{ UDP("sendto 0.0.0.0", send_zero, net_grant_four), .twin = send_four },
	{ UDP("sendto ::", send_zero_six, net_grant_six), .twin = send_six },
	{ TCP("connect to another address of 127.0.0.0/8", connect_alias, grant_alias) },
	{ UDP("sendto another address of 127.0.0.0/8", send_alias, grant_alias) },
	{ TCP("connect to a NAT64 address (64:ff9b::127.0.0.1)", connect_nat64, grant_nat64),
	  .prepare = net_interface },
	{ TCP("connect to a 6to4 address (2002:7f00:1::1)", connect_6to4, grant_6to4),
	  .prepare = net_interface },
	{ TCP("connect to the metadata service of a cloud", connect_metadata, grant_metadata),
	  .prepare = net_interface },
	{ TCP("connect to the metadata service of a cloud by ::ffff:a.b.c.d",
	      connect_metadata_mapped, grant_metadata),
	  .prepare = net_interface },
	{ TCP("connect to the metadata service of a cloud by IPv6", connect_metadata_six,
	      grant_metadata_six),
	  .prepare = net_interface },
	{ TCP("connect to a link-local address in its zone", connect_link_local, grant_link_local),
	  .prepare = net_interface },
	{ UDP("sendto a link-local address in its zone", send_link_local, grant_link_local),
	  .prepare = net_interface },
	{ UDP("sendto a link-local address of a socket bound to a device", send_bound_to_device,
	      grant_link_local),
	  .prepare = net_interface },
	{ COPIED("sendto a broadcast address", send_broadcast, grant_broadcast), .op = "send" },
	{ UDP("sendto the broadcast address of 127.0.0.0/8", send_broadcast_lo,
	      grant_broadcast_lo) },
	{ COPIED("sendto an IPv4 multicast address", send_group, grant_group), .op = "send" },
	{ UDP("sendto an IPv6 multicast address", send_group_six, grant_group_six),
	  .prepare = net_interface },
	{ COPIED("connect UDP to a broadcast address, then splice", splice_to_all,
		 grant_broadcast) },
	{ COPIED("connect UDP to an IPv4 multicast address, then splice", splice_to_group,
		 grant_group) },
	{ NET_ROW("connect UDP to an IPv6 multicast address, then splice", splice_to_group_six),
	  .op = "send", .grants = grant_group_six, .prepare = net_interface },
	{
		.name = "sendmsg to a declared address with an IPv6 routing header",
		.surface = "egress",
		.op = "send",
		.prepare = net_interface,
		.outside = net_tap_routed,
		.try = send_by_way_of,
		.twin = send_six,
		.grants = net_grant_six,
		.hidden = { EPERM },
		.flags = ROAD_NO_EVENT | ROAD_CHANGES | ROAD_PACKETS,
		.why = "no hook sees the route; the packet filter drops the packet, counts it as a "
		       "violation without an event, and the run ends with 3",
	},
	{
		.name = "IP_OPTIONS with a source route, then sendto a declared address",
		.surface = "kernel",
		.op = "capability",
		.prepare = net_interface,
		.outside = net_tap_routed,
		.try = send_by_source_route,
		.twin = send_four,
		.grants = net_grant_four,
		.hidden = { EPERM },
		.walled = { EPERM },
		.flags = ROAD_CHANGES | ROAD_PACKETS,
	},
	{ JOIN("join an IPv4 multicast group", join_group) },
	{ JOIN("join an IPv6 multicast group", join_group_six) },
};
ROADS(net_address_rows);
