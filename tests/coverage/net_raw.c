// SPDX-License-Identifier: Apache-2.0
/* On which roads does a packet leave that the agent wrote itself, headers and all? */
#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <netinet/ip.h>
#include <netinet/udp.h>
#include <string.h>
#include <unistd.h>

#include "tests/coverage/net.h"

struct datagram {
	struct udphdr udp;
	char data[sizeof(net_data)];
};

struct packet {
	struct iphdr ip;
	struct datagram rest;
};

/* A checksum of 0 is none. */
static struct datagram datagram_to(const struct place *place)
{
	struct datagram datagram = {
		.udp = {
			.source = htons(9),
			.dest = htons((uint16_t)place->port),
			.len = htons(sizeof(datagram)),
		},
	};

	memcpy(datagram.data, net_data, sizeof(net_data));
	return datagram;
}

static uint16_t checksum(const struct iphdr *ip)
{
	const uint16_t *words = (const uint16_t *)(const void *)ip;
	uint32_t sum = 0;

	for (size_t i = 0; i < sizeof(*ip) / 2; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t) ~(sum + (sum >> 16));
}

static struct packet packet_to(const struct place *place, const char *from, const char *to)
{
	struct packet packet = {
		.ip = {
			.version = 4,
			.ihl = 5,
			.ttl = 64,
			.protocol = IPPROTO_UDP,
			.tot_len = htons(sizeof(packet)),
			.saddr = inet_addr(from),
			.daddr = inet_addr(to),
		},
		.rest = datagram_to(place),
	};

	packet.ip.check = checksum(&packet.ip);
	return packet;
}

/* The socket is what is tried, and where it can be made, what it is for. */
static int raw_socket(const struct place *place, int family, int type, int protocol)
{
	place_names(place, "family %d type %d", family, type);
	return socket(family, type | SOCK_CLOEXEC, protocol);
}

static int send_udp(const struct place *place)
{
	struct datagram datagram = datagram_to(place);
	union net_address to;
	socklen_t len = net_address(place, "127.0.0.1", &to);
	int fd = raw_socket(place, AF_INET, SOCK_RAW, IPPROTO_UDP);

	if (fd < 0)
		return -errno;
	return net_done(fd, sendto(fd, &datagram, sizeof(datagram), 0, &to.any, len));
}

static int send_udp_six(const struct place *place)
{
	struct datagram datagram = datagram_to(place);
	int fd = raw_socket(place, AF_INET6, SOCK_RAW, IPPROTO_UDP);
	int checksum_at = offsetof(struct udphdr, check);
	union net_address to;
	socklen_t len = net_address(place, "::1", &to);

	if (fd < 0)
		return -errno;
	to.six.sin6_port = 0;
	road_must(setsockopt(fd, IPPROTO_IPV6, IPV6_CHECKSUM, &checksum_at, sizeof(checksum_at)),
		  "IPV6_CHECKSUM");
	return net_done(fd, sendto(fd, &datagram, sizeof(datagram), 0, &to.any, len));
}

static int send_packet(const struct place *place)
{
	struct packet packet = packet_to(place, "127.0.0.1", "127.0.0.1");
	union net_address to;
	socklen_t len = net_address(place, "127.0.0.1", &to);
	int fd = raw_socket(place, AF_INET, SOCK_RAW, IPPROTO_RAW);

	if (fd < 0)
		return -errno;
	return net_done(fd, sendto(fd, &packet, sizeof(packet), 0, &to.any, len));
}

/* With the address of a declared packet, and another one in the packet itself. */
static int send_other_packet(const struct place *place)
{
	struct packet packet = packet_to(place, "127.0.0.1", "127.0.0.1");
	union net_address to;
	socklen_t len = net_declared(place, "127.0.0.1", &to);
	int fd = raw_socket(place, AF_INET, SOCK_RAW, IPPROTO_RAW);

	if (fd < 0)
		return -errno;
	return net_done(fd, sendto(fd, &packet, sizeof(packet), 0, &to.any, len));
}

/* Past IP altogether, from a neighbour that does not exist. */
static int send_frame(const struct place *place)
{
	struct packet packet = packet_to(place, "192.0.2.77", "192.0.2.1");
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_IP),
		.sll_ifindex = 1,
		.sll_halen = ETH_ALEN,
	};
	int fd = raw_socket(place, AF_PACKET, SOCK_DGRAM, 0);

	if (fd < 0)
		return -errno;
	return net_done(fd, sendto(fd, &packet, sizeof(packet), 0, (void *)&to, sizeof(to)));
}

/* What a manifest can grant: the same datagram by a UDP socket. */
static int send_lawfully(const struct place *place, const char *host)
{
	union net_address to;
	socklen_t len = net_address(place, host, &to);
	int fd = net_socket(to.any.sa_family, SOCK_DGRAM, 0);

	return net_done(fd, sendto(fd, net_data, sizeof(net_data), 0, &to.any, len));
}

static int send_four(const struct place *place)
{
	return send_lawfully(place, "127.0.0.1");
}

static int send_six(const struct place *place)
{
	return send_lawfully(place, "::1");
}

#define RAW(words, how, like, grant)                                                               \
	.name = (words), .surface = "kernel", .op = "socket", .try = (how), .twin = (like),        \
	.grants = (grant), .outside = net_listen, .hidden = { EPERM }

static const struct road net_raw[] = {
	{ RAW("send UDP of one's own by a raw IPv4 socket", send_udp, send_four, net_grant_four),
	  .flags = ROAD_CHANGES | ROAD_PACKETS },
	{ RAW("send UDP of one's own by a raw IPv6 socket", send_udp_six, send_six, net_grant_six),
	  .flags = ROAD_CHANGES | ROAD_PACKETS },
	{ RAW("send a packet of one's own by a raw IPv4 socket", send_packet, send_four,
	      net_grant_four),
	  .flags = ROAD_CHANGES | ROAD_PACKETS },
	{ RAW("send a packet of one's own to a declared address, with another one in it",
	      send_other_packet, send_four, net_grant_four),
	  .flags = ROAD_CHANGES | ROAD_PACKETS },
	{ RAW("send a frame by a packet socket", send_frame, send_four, net_grant_four),
	  .prepare = net_interface, .flags = ROAD_CHANGES },
};
ROADS(net_raw);
