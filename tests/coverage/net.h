/* SPDX-License-Identifier: Apache-2.0 */
/* What do rows on the network share? Addresses, and a listener outside that hears everything. */
#ifndef COMET_NET_H
#define COMET_NET_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "tests/coverage/road.h"

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP 262
#endif

union net_address {
	struct sockaddr any;
	struct sockaddr_in four;
	struct sockaddr_in6 six;
};

/* The host at the place's own port; returns the length. A host with %ZONE is in that zone. */
socklen_t net_address(const struct place *place, const char *host, union net_address *to);
/* The same, and that the event must name it so, by "tcp" or "udp". */
socklen_t net_target(const struct place *place, const char *host, const char *transport,
		     union net_address *to);
/* The same host at the port of the row's declared side. */
socklen_t net_declared(const struct place *place, const char *host, union net_address *to);
int net_socket(int family, int type, int protocol);
/* result as an errno, after closing fd. */
int net_done(int fd, long result);

/* Outside: TCP and UDP of both families at the place's port, at every address of the host. */
void net_listen(const struct place *place);

/*
 * The same for the declared side. On others: what no listener hears, a packet on its way through lo
 * with a route in it to the row's declared port, or one to port 0.
 */
void net_tap_routed(const struct place *place);
void net_tap_port_zero(const struct place *place);

/* Before: TCP Fast Open for both sides, without cookies. */
void net_fast_open(const struct place *place);
/* Before: interface road0 with the addresses below; NAT64 and 6to4 addresses lead to lo. */
void net_interface(const struct place *place);
#define NET_DEVICE "road0"
#define NET_BROADCAST "192.0.2.255"
#define NET_GROUP "239.77.20.1"
#define NET_GROUP6 "ff02::7720"
#define NET_LINK_LOCAL "fe80::7720"
/* Where a cloud hands its machines keys. */
#define NET_METADATA "169.254.169.254"
#define NET_METADATA6 "fd00:ec2::254"

/* What the twin needs: the host at the place's port, by TCP and UDP. */
void net_grant_four(const struct place *place); /* 127.0.0.1 */
void net_grant_six(const struct place *place);  /* ::1 */
void net_grant(const struct place *place, const char *host);

#define NET_ROW(words, how)                                                                        \
	.name = (words), .surface = "egress", .try = (how), .outside = net_listen,                 \
	.hidden = { ECONNREFUSED }, .flags = ROAD_CHANGES | ROAD_PACKETS

extern char net_data[5];

#endif /* COMET_NET_H */
