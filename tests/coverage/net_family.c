// SPDX-License-Identifier: Apache-2.0
/* Which sockets can be made that speak to somebody outside past every rule? No manifest grants one.
 */
#include <linux/netlink.h>
#include <sys/socket.h>

#include "tests/coverage/net.h"

/* Newer than the headers, or gone from the kernel. */
#define PROTOCOL_SMC 256
#define PROTOCOL_L2TP 115
#define FAMILY_MCTP 45
#define FAMILY_IEEE802154 36
#define FAMILY_PHONET 35
#define FAMILY_CAIF 37

static int make(const struct place *place, int family, int type, int protocol)
{
	/* AF_INET with SOCK_PACKET is another name of AF_PACKET. */
	place_names(place, "family %d type %d", type == SOCK_PACKET ? AF_PACKET : family, type);
	return road_fd(socket(family, type | SOCK_CLOEXEC, protocol));
}

static int make_udp(const struct place *place)
{
	(void)place;
	return road_fd(socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP));
}

static int make_route(const struct place *place)
{
	(void)place;
	return road_fd(socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE));
}

/* id, words, family, type, protocol, twin */
#define SOCKETS(X)                                                                                 \
	X(raw_tcp, "a raw IPv4 socket for TCP", AF_INET, SOCK_RAW, IPPROTO_TCP, udp)               \
	X(raw_udp, "a raw IPv4 socket for UDP", AF_INET, SOCK_RAW, IPPROTO_UDP, udp)               \
	X(raw_icmp, "a raw IPv4 socket for ICMP", AF_INET, SOCK_RAW, IPPROTO_ICMP, udp)            \
	X(raw_own, "a raw IPv4 socket with headers of one's own", AF_INET, SOCK_RAW, IPPROTO_RAW,  \
	  udp)                                                                                     \
	X(raw_six, "a raw IPv6 socket", AF_INET6, SOCK_RAW, IPPROTO_RAW, udp)                      \
	X(raw_icmp_six, "a raw IPv6 socket for ICMPv6", AF_INET6, SOCK_RAW, IPPROTO_ICMPV6, udp)   \
	X(ping, "a ping socket", AF_INET, SOCK_DGRAM, IPPROTO_ICMP, udp)                           \
	X(ping_six, "a ping socket by IPv6", AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6, udp)            \
	X(udplite, "a UDP-Lite socket", AF_INET, SOCK_DGRAM, IPPROTO_UDPLITE, udp)                 \
	X(udplite_six, "a UDP-Lite socket by IPv6", AF_INET6, SOCK_DGRAM, IPPROTO_UDPLITE, udp)    \
	X(sctp, "an SCTP socket", AF_INET, SOCK_STREAM, IPPROTO_SCTP, udp)                         \
	X(sctp_many, "an SCTP socket for many peers", AF_INET6, SOCK_SEQPACKET, IPPROTO_SCTP, udp) \
	X(dccp, "a DCCP socket", AF_INET, SOCK_DCCP, IPPROTO_DCCP, udp)                            \
	X(l2tp, "an L2TP socket", AF_INET, SOCK_DGRAM, PROTOCOL_L2TP, udp)                         \
	X(smc_protocol, "an SMC socket by AF_INET", AF_INET, SOCK_STREAM, PROTOCOL_SMC, udp)       \
	X(old_packet, "a packet socket by AF_INET", AF_INET, SOCK_PACKET, 0x300, udp)              \
	X(packet, "a packet socket", AF_PACKET, SOCK_RAW, 0x300, udp)                              \
	X(packet_dgram, "a packet socket without headers", AF_PACKET, SOCK_DGRAM, 0, udp)          \
	X(xdp, "an AF_XDP socket", AF_XDP, SOCK_RAW, 0, udp)                                       \
	X(vsock, "a vsock socket", AF_VSOCK, SOCK_STREAM, 0, udp)                                  \
	X(vsock_dgram, "a vsock datagram socket", AF_VSOCK, SOCK_DGRAM, 0, udp)                    \
	X(alg, "an AF_ALG socket", AF_ALG, SOCK_SEQPACKET, 0, udp)                                 \
	X(tipc, "a TIPC socket", AF_TIPC, SOCK_RDM, 0, udp)                                        \
	X(kcm, "a KCM socket", AF_KCM, SOCK_SEQPACKET, 0, udp)                                     \
	X(rds, "an RDS socket", AF_RDS, SOCK_SEQPACKET, 0, udp)                                    \
	X(smc, "an SMC socket", AF_SMC, SOCK_STREAM, 0, udp)                                       \
	X(rxrpc, "an RxRPC socket", AF_RXRPC, SOCK_DGRAM, AF_INET, udp)                            \
	X(pppox, "a PPPoX socket", AF_PPPOX, SOCK_STREAM, 0, udp)                                  \
	X(llc, "an LLC socket", AF_LLC, SOCK_STREAM, 0, udp)                                       \
	X(bluetooth, "a Bluetooth socket", AF_BLUETOOTH, SOCK_SEQPACKET, 0, udp)                   \
	X(can, "a CAN socket", AF_CAN, SOCK_RAW, 1, udp)                                           \
	X(x25, "an X.25 socket", AF_X25, SOCK_SEQPACKET, 0, udp)                                   \
	X(ax25, "an AX.25 socket", AF_AX25, SOCK_DGRAM, 0, udp)                                    \
	X(rose, "a Rose socket", AF_ROSE, SOCK_SEQPACKET, 0, udp)                                  \
	X(netrom, "a NET/ROM socket", AF_NETROM, SOCK_SEQPACKET, 0, udp)                           \
	X(ipx, "an IPX socket", AF_IPX, SOCK_DGRAM, 0, udp)                                        \
	X(appletalk, "an AppleTalk socket", AF_APPLETALK, SOCK_DGRAM, 0, udp)                      \
	X(atm, "an ATM socket", AF_ATMPVC, SOCK_DGRAM, 0, udp)                                     \
	X(iucv, "an IUCV socket", AF_IUCV, SOCK_STREAM, 0, udp)                                    \
	X(isdn, "an ISDN socket", AF_ISDN, SOCK_RAW, 0, udp)                                       \
	X(nfc, "an NFC socket", AF_NFC, SOCK_SEQPACKET, 0, udp)                                    \
	X(qrtr, "a Qualcomm IPC router socket", AF_QIPCRTR, SOCK_DGRAM, 0, udp)                    \
	X(infiniband, "an InfiniBand socket", AF_IB, SOCK_STREAM, 0, udp)                          \
	X(mpls, "an MPLS socket", AF_MPLS, SOCK_STREAM, 0, udp)                                    \
	X(phonet, "a Phonet socket", FAMILY_PHONET, SOCK_DGRAM, 0, udp)                            \
	X(caif, "a CAIF socket", FAMILY_CAIF, SOCK_SEQPACKET, 0, udp)                              \
	X(ieee802154, "an IEEE 802.15.4 socket", FAMILY_IEEE802154, SOCK_DGRAM, 0, udp)            \
	X(mctp, "an MCTP socket", FAMILY_MCTP, SOCK_DGRAM, 0, udp)                                 \
	X(key, "a PF_KEY socket", AF_KEY, SOCK_RAW, 2, udp)                                        \
	X(nobody, "a socket of family 0", AF_UNSPEC, SOCK_DGRAM, 0, udp)                           \
	X(usersock, "a netlink socket between processes", AF_NETLINK, SOCK_RAW, NETLINK_USERSOCK,  \
	  route)                                                                                   \
	X(sock_diag, "a netlink socket for socket listings", AF_NETLINK, SOCK_RAW,                 \
	  NETLINK_SOCK_DIAG, route)                                                                \
	X(xfrm, "a netlink socket for IPsec", AF_NETLINK, SOCK_RAW, NETLINK_XFRM, route)           \
	X(selinux, "a netlink socket for SELinux", AF_NETLINK, SOCK_RAW, NETLINK_SELINUX, route)   \
	X(audit, "a netlink socket for audit", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT, route)         \
	X(connector, "a netlink socket for process events", AF_NETLINK, SOCK_DGRAM,                \
	  NETLINK_CONNECTOR, route)                                                                \
	X(netfilter, "a netlink socket for netfilter", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER,    \
	  route)                                                                                   \
	X(uevent, "a netlink socket for device events", AF_NETLINK, SOCK_DGRAM,                    \
	  NETLINK_KOBJECT_UEVENT, route)                                                           \
	X(generic, "a generic netlink socket", AF_NETLINK, SOCK_RAW, NETLINK_GENERIC, route)       \
	X(crypto, "a netlink socket for ciphers", AF_NETLINK, SOCK_RAW, NETLINK_CRYPTO, route)

#define FUNCTION(id, words, family, type, protocol, like)                                          \
	static int make_##id##_socket(const struct place *place)                                   \
	{                                                                                          \
		return make(place, family, type, protocol);                                        \
	}
SOCKETS(FUNCTION)

#define ROW(id, words, family, type, protocol, like)                                               \
	{ .name = "make " words,                                                                   \
	  .surface = "kernel",                                                                     \
	  .op = "socket",                                                                          \
	  .try = make_##id##_socket,                                                               \
	  .twin = make_##like,                                                                     \
	  .hidden = { EPERM } },

static const struct road net_family[] = { SOCKETS(ROW) };
ROADS(net_family);
