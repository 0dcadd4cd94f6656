// SPDX-License-Identifier: Apache-2.0
/* What do rows on the network share? */
#include "tests/coverage/net.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char net_data[5] = "data";

static socklen_t address_at(const char *host, unsigned port, union net_address *to)
{
	char text[64];
	char *zone;

	memset(to, 0, sizeof(*to));
	if (inet_pton(AF_INET, host, &to->four.sin_addr) == 1) {
		to->four.sin_family = AF_INET;
		to->four.sin_port = htons((uint16_t)port);
		return sizeof(to->four);
	}
	snprintf(text, sizeof(text), "%s", host);
	zone = strchr(text, '%');
	if (zone) {
		*zone = '\0';
		to->six.sin6_scope_id = if_nametoindex(zone + 1);
	}
	if (inet_pton(AF_INET6, text, &to->six.sin6_addr) != 1)
		road_broken("no address: %s", host);
	to->six.sin6_family = AF_INET6;
	to->six.sin6_port = htons((uint16_t)port);
	return sizeof(to->six);
}

socklen_t net_address(const struct place *place, const char *host, union net_address *to)
{
	return address_at(host, place->port, to);
}

socklen_t net_target(const struct place *place, const char *host, const char *transport,
		     union net_address *to)
{
	socklen_t len = net_address(place, host, to);
	char text[64], zone[IF_NAMESIZE];

	/* IPv4 in its IPv6 form is told as IPv4. */
	if (to->any.sa_family == AF_INET)
		snprintf(text, sizeof(text), "%s", host);
	else if (IN6_IS_ADDR_V4MAPPED(&to->six.sin6_addr))
		inet_ntop(AF_INET, &to->six.sin6_addr.s6_addr[12], text, sizeof(text));
	else
		inet_ntop(AF_INET6, &to->six.sin6_addr, text, sizeof(text));
	if (strchr(text, ':') && if_indextoname(to->six.sin6_scope_id, zone))
		place_names(place, "[%s%%%s]:%u/%s", text, zone, place->port, transport);
	else
		place_names(place, strchr(text, ':') ? "[%s]:%u/%s" : "%s:%u/%s", text, place->port,
			    transport);
	return len;
}

socklen_t net_declared(const struct place *place, const char *host, union net_address *to)
{
	return address_at(host, place->port + 2 * (ROAD_DECLARED - place->side), to);
}

int net_socket(int family, int type, int protocol)
{
	return (int)road_must(socket(family, type | SOCK_CLOEXEC, protocol), "socket");
}

int net_done(int fd, long result)
{
	int answer = road_result(result);

	close(fd);
	return answer;
}

static int listener(const struct place *place, int family, int type)
{
	const char *every = family == AF_INET ? "0.0.0.0" : "::";
	static const int on = 1;
	int fd = net_socket(family, type | SOCK_NONBLOCK, 0);
	union net_address here;
	socklen_t len = net_address(place, every, &here);

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
	road_must(bind(fd, &here.any, len), "bind");
	if (type == SOCK_STREAM)
		road_must(listen(fd, 16), "listen");
	return fd;
}

/* Only where net_interface() made it: the others need no groups. */
static void join_groups(int four, int six)
{
	struct ip_mreqn group = { .imr_ifindex = (int)if_nametoindex(NET_DEVICE) };
	struct ipv6_mreq group6 = { .ipv6mr_interface = if_nametoindex(NET_DEVICE) };

	if (!group.imr_ifindex)
		return;
	inet_pton(AF_INET, NET_GROUP, &group.imr_multiaddr);
	inet_pton(AF_INET6, NET_GROUP6, &group6.ipv6mr_multiaddr);
	road_must(setsockopt(four, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof(group)), "join");
	road_must(setsockopt(six, IPPROTO_IPV6, IPV6_JOIN_GROUP, &group6, sizeof(group6)), "join");
}

void net_listen(const struct place *place)
{
	struct pollfd some[4];
	char text[65536];

	for (int i = 0; i < 4; i++)
		some[i] = (struct pollfd){
			.fd = listener(place, i & 1 ? AF_INET6 : AF_INET,
				       i & 2 ? SOCK_DGRAM : SOCK_STREAM),
			.events = POLLIN,
		};
	join_groups(some[2].fd, some[3].fd);
	road_ready(place);
	for (;;) {
		poll(some, 4, -1);
		for (int i = 0; i < 4; i++) {
			int got = i & 2 ? (int)recv(some[i].fd, text, sizeof(text), 0)
					: accept(some[i].fd, NULL, NULL);

			/* Not closed: whose first data came with the SYN would be told of it. */
			if (got >= 0)
				place_happened(place);
		}
	}
}

/* The UDP port that the packet goes to, or -1. */
static int port_of(const unsigned char *packet, ssize_t size, bool *routed)
{
	ssize_t at;

	if (size < 28)
		return -1;
	if (packet[0] >> 4 == 4) {
		at = (packet[0] & 0xf) * 4;
		*routed = at > 20;
		if (packet[9] != IPPROTO_UDP)
			return -1;
	} else {
		*routed = packet[6] == IPPROTO_ROUTING;
		at = *routed ? 40 + (packet[41] + 1) * 8 : 40;
		if (packet[*routed ? 40 : 6] != IPPROTO_UDP)
			return -1;
	}
	return at + 4 <= size ? packet[at + 2] << 8 | packet[at + 3] : -1;
}

static void tap(const struct place *place, bool routes)
{
	int fd = net_socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
	struct sockaddr_ll lo = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex = 1 };
	unsigned char packet[256];
	union net_address to;

	net_declared(place, "127.0.0.1", &to);
	road_must(bind(fd, (void *)&lo, sizeof(lo)), "bind");
	road_ready(place);
	for (;;) {
		bool routed = false;
		int port = port_of(packet, recv(fd, packet, sizeof(packet), 0), &routed);

		if (routed == routes && port == (routes ? ntohs(to.four.sin_port) : 0))
			place_happened(place);
	}
}

void net_tap_routed(const struct place *place)
{
	if (place->side == ROAD_DECLARED)
		net_listen(place);
	tap(place, true);
}

void net_tap_port_zero(const struct place *place)
{
	if (place->side == ROAD_DECLARED)
		net_listen(place);
	tap(place, false);
}

void net_fast_open(const struct place *place)
{
	const char *setting = "/proc/sys/net/ipv4/tcp_fastopen";
	int fd = open(setting, O_WRONLY | O_CLOEXEC);

	place_default(place);
	road_must(fd, setting);
	road_must(write(fd, "1543", 4), setting); /* 0x607 */
	close(fd);
}

void net_interface(const struct place *place)
{
	static const char commands[] =
		"ip link add " NET_DEVICE " type dummy && ip link set " NET_DEVICE " up && "
		"ip addr add 192.0.2.1/24 broadcast " NET_BROADCAST " dev " NET_DEVICE " && "
		"ip addr add fd00:7720::1/64 dev " NET_DEVICE " nodad && "
		"ip addr add " NET_LINK_LOCAL "/64 dev " NET_DEVICE " nodad && "
		"ip addr add " NET_METADATA "/32 dev " NET_DEVICE " && "
		"ip addr add " NET_METADATA6 "/128 dev " NET_DEVICE " nodad && "
		"ip -6 route add local 64:ff9b::/96 dev lo && "
		"ip -6 route add local 2002::/16 dev lo";

	place_default(place);
	if (!if_nametoindex(NET_DEVICE) && system(commands) != 0)
		road_broken("an interface cannot be made");
}

void net_grant(const struct place *place, const char *host)
{
	road_grant("egress %s %u http", host, place->port);
	road_grant("egress %s %u quic", host, place->port);
}

void net_grant_four(const struct place *place)
{
	net_grant(place, "127.0.0.1");
}

void net_grant_six(const struct place *place)
{
	net_grant(place, "::1");
}
