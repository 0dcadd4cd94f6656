// SPDX-License-Identifier: Apache-2.0
/* On which roads could the host's network be changed, or its sockets taken over? */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <net/route.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/coverage/net.h"

/* An address of the loopback interface that stands for the row and side. */
static struct in_addr own_address(const struct place *place)
{
	return (struct in_addr){ htonl(0x7f4d0000 | (place->number << 3) | place->side) };
}

static bool has_address(const struct place *place)
{
	struct in_addr address = own_address(place);
	struct ifaddrs *all, *each;
	bool found = false;

	road_must(getifaddrs(&all), "getifaddrs");
	for (each = all; each; each = each->ifa_next)
		if (each->ifa_addr && each->ifa_addr->sa_family == AF_INET)
			found |= ((struct sockaddr_in *)(void *)each->ifa_addr)->sin_addr.s_addr ==
				 address.s_addr;
	freeifaddrs(all);
	return found;
}

struct order {
	struct nlmsghdr head;
	char rest[256];
};

static void add_attribute(struct order *order, unsigned short type, const void *data, size_t size)
{
	struct rtattr *attribute = (void *)((char *)order + NLMSG_ALIGN(order->head.nlmsg_len));

	attribute->rta_type = type;
	attribute->rta_len = (unsigned short)RTA_LENGTH(size);
	memcpy(RTA_DATA(attribute), data, size);
	order->head.nlmsg_len = NLMSG_ALIGN(order->head.nlmsg_len) + RTA_ALIGN(RTA_LENGTH(size));
}

/* The kernel's answer to it. */
static int ask(struct order *order)
{
	int fd = net_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	struct {
		struct nlmsghdr head;
		struct nlmsgerr error;
		char rest[8192];
	} answer;

	order->head.nlmsg_flags |= NLM_F_REQUEST;
	if (send(fd, order, order->head.nlmsg_len, 0) < 0)
		return -errno;
	road_must(recv(fd, &answer, sizeof(answer), 0), "the kernel's answer");
	close(fd);
	return answer.head.nlmsg_type == NLMSG_ERROR ? answer.error.error : 0;
}

static int add_address(const struct place *place)
{
	struct order order = {
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg)),
			  .nlmsg_type = RTM_NEWADDR,
			  .nlmsg_flags = NLM_F_ACK | NLM_F_CREATE },
	};
	struct ifaddrmsg *body = NLMSG_DATA(&order.head);
	struct in_addr address = own_address(place);

	*body = (struct ifaddrmsg){ .ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = 1 };
	add_attribute(&order, IFA_LOCAL, &address, sizeof(address));
	return ask(&order);
}

static int add_route(const struct place *place)
{
	struct order order = {
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct rtmsg)),
			  .nlmsg_type = RTM_NEWROUTE,
			  .nlmsg_flags = NLM_F_ACK | NLM_F_CREATE },
	};
	struct rtmsg *body = NLMSG_DATA(&order.head);
	struct in_addr address = own_address(place);
	int lo = 1;

	*body = (struct rtmsg){ .rtm_family = AF_INET,
				.rtm_dst_len = 32,
				.rtm_table = RT_TABLE_MAIN,
				.rtm_protocol = RTPROT_BOOT,
				.rtm_scope = RT_SCOPE_LINK,
				.rtm_type = RTN_UNICAST };
	add_attribute(&order, RTA_DST, &address, sizeof(address));
	add_attribute(&order, RTA_OIF, &lo, sizeof(lo));
	return ask(&order);
}

/* By which packets would leave through the device of another host, as of a tunnel. */
static const char *own_link(const struct place *place)
{
	return road_path("r%u-%d", place->number, place->side);
}

static bool has_link(const struct place *place)
{
	return if_nametoindex(own_link(place)) != 0;
}

static int add_link(const struct place *place)
{
	struct order order = {
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifinfomsg)),
			  .nlmsg_type = RTM_NEWLINK,
			  .nlmsg_flags = NLM_F_ACK | NLM_F_CREATE },
	};
	const char *name = own_link(place);
	struct {
		struct rtattr head;
		char kind[8];
	} info = { { RTA_LENGTH(5), IFLA_INFO_KIND }, "dummy" };

	add_attribute(&order, IFLA_IFNAME, name, strlen(name) + 1);
	add_attribute(&order, IFLA_LINKINFO, &info, info.head.rta_len);
	return ask(&order);
}

static int add_rule(const struct place *place)
{
	struct order order = {
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct fib_rule_hdr)),
			  .nlmsg_type = RTM_NEWRULE,
			  .nlmsg_flags = NLM_F_ACK | NLM_F_CREATE },
	};
	struct fib_rule_hdr *body = NLMSG_DATA(&order.head);
	struct in_addr address = own_address(place);

	*body = (struct fib_rule_hdr){
		.family = AF_INET, .dst_len = 32, .table = RT_TABLE_MAIN, .action = FR_ACT_TO_TBL
	};
	add_attribute(&order, FRA_DST, &address, sizeof(address));
	return ask(&order);
}

static int add_neighbour(const struct place *place)
{
	struct order order = {
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ndmsg)),
			  .nlmsg_type = RTM_NEWNEIGH,
			  .nlmsg_flags = NLM_F_ACK | NLM_F_CREATE },
	};
	struct ndmsg *body = NLMSG_DATA(&order.head);
	struct in_addr address = own_address(place);
	static const unsigned char station[6] = { 2, 0, 0, 0, 0, 77 };

	*body = (struct ndmsg){ .ndm_family = AF_INET,
				.ndm_ifindex = (int)if_nametoindex(NET_DEVICE),
				.ndm_state = NUD_PERMANENT };
	add_attribute(&order, NDA_DST, &address, sizeof(address));
	add_attribute(&order, NDA_LLADDR, station, sizeof(station));
	return ask(&order);
}

static int list_addresses(const struct place *place)
{
	struct order order = {
		.head = { .nlmsg_len = NLMSG_LENGTH(sizeof(struct ifaddrmsg)),
			  .nlmsg_type = RTM_GETADDR,
			  .nlmsg_flags = NLM_F_DUMP },
	};

	(void)place;
	return ask(&order);
}

/* To another process, whose socket has a number that it told. */
static void hear_netlink(const struct place *place)
{
	int fd = net_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	struct sockaddr_nl here = { .nl_family = AF_NETLINK };
	socklen_t len = sizeof(here);
	char text[100];

	road_must(bind(fd, (void *)&here, len), "bind");
	road_must(getsockname(fd, (void *)&here, &len), "getsockname");
	place_tell(place, "%u", here.nl_pid);
	road_ready(place);
	if (recv(fd, text, sizeof(text), 0) >= 0)
		place_happened(place);
}

static int send_netlink(const struct place *place)
{
	struct order order = {
		.head = { .nlmsg_len = NLMSG_LENGTH(0), .nlmsg_type = NLMSG_MIN_TYPE },
	};
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	int fd = net_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	to.nl_pid = (unsigned int)strtoul(place_told(place), NULL, 10);
	return net_done(fd, sendto(fd, &order, order.head.nlmsg_len, 0, (void *)&to, sizeof(to)));
}

/* All that is sent afterwards without an address goes there. */
static int connect_netlink(const struct place *place)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	int fd = net_socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);

	to.nl_pid = (unsigned int)strtoul(place_told(place), NULL, 10);
	if (connect(fd, (void *)&to, sizeof(to)) < 0)
		return net_done(fd, -1);
	return net_done(fd, send(fd, net_data, sizeof(net_data), 0));
}

static int add_route_by_ioctl(const struct place *place)
{
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);
	struct rtentry route = { .rt_flags = RTF_UP | RTF_HOST, .rt_dev = (char[]){ "lo" } };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = own_address(place) };

	memcpy(&route.rt_dst, &address, sizeof(address));
	return net_done(fd, ioctl(fd, SIOCADDRT, &route));
}

static int set_address_by_ioctl(const struct place *place)
{
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq request = { .ifr_name = "lo:road" };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = own_address(place) };

	memcpy(&request.ifr_addr, &address, sizeof(address));
	return net_done(fd, ioctl(fd, SIOCSIFADDR, &request));
}

static int add_neighbour_by_ioctl(const struct place *place)
{
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);
	struct arpreq request = { .arp_flags = ATF_PERM | ATF_COM, .arp_dev = NET_DEVICE };
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr = own_address(place) };

	memcpy(&request.arp_pa, &address, sizeof(address));
	request.arp_ha.sa_data[0] = 2;
	return net_done(fd, ioctl(fd, SIOCSARP, &request));
}

static bool is_promiscuous(const struct place *place)
{
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq request = { .ifr_name = NET_DEVICE };

	(void)place;
	road_must(ioctl(fd, SIOCGIFFLAGS, &request), "SIOCGIFFLAGS");
	close(fd);
	return request.ifr_flags & IFF_PROMISC;
}

static int set_flags_by_ioctl(const struct place *place)
{
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq request = { .ifr_name = NET_DEVICE };

	(void)place;
	road_must(ioctl(fd, SIOCGIFFLAGS, &request), "SIOCGIFFLAGS");
	request.ifr_flags |= IFF_PROMISC;
	return net_done(fd, ioctl(fd, SIOCSIFFLAGS, &request));
}

static int get_address_by_ioctl(const struct place *place)
{
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0);
	struct ifreq request = { .ifr_name = "lo" };

	(void)place;
	return net_done(fd, ioctl(fd, SIOCGIFADDR, &request));
}

/* A connection that exists without a packet. */
static int repair(const struct place *place)
{
	int fd = net_socket(AF_INET, SOCK_STREAM, 0), on = 1;

	(void)place;
	return net_done(fd, setsockopt(fd, IPPROTO_TCP, TCP_REPAIR, &on, sizeof(on)));
}

static int set_mark(const struct place *place)
{
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0), mark = 1;

	(void)place;
	return net_done(fd, setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark)));
}

static int set_transparent(const struct place *place)
{
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0), on = 1;

	(void)place;
	return net_done(fd, setsockopt(fd, IPPROTO_IP, IP_TRANSPARENT, &on, sizeof(on)));
}

static int set_nothing_special(const struct place *place)
{
	int fd = net_socket(AF_INET, SOCK_DGRAM, 0), size = 4096;

	(void)place;
	return net_done(fd, setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)));
}

#define CHANGE(words, how, like)                                                                   \
	.name = (words), .surface = "kernel", .op = "capability", .try = (how), .twin = (like),    \
	.hidden = { EPERM }, .walled = { EPERM }

static const struct road net_change[] = {
	{ CHANGE("add an address to an interface by netlink", add_address, list_addresses),
	  .harmed = has_address },
	{ CHANGE("add a route by netlink", add_route, list_addresses) },
	{ CHANGE("add an interface by netlink", add_link, list_addresses), .harmed = has_link },
	{ CHANGE("add a rule for routes by netlink", add_rule, list_addresses) },
	{ CHANGE("add a neighbour by netlink", add_neighbour, list_addresses),
	  .prepare = net_interface },
	{ CHANGE("add a route by ioctl", add_route_by_ioctl, get_address_by_ioctl) },
	{ CHANGE("set an interface's address by ioctl", set_address_by_ioctl, get_address_by_ioctl),
	  .harmed = has_address },
	{ CHANGE("add a neighbour by ioctl", add_neighbour_by_ioctl, get_address_by_ioctl),
	  .prepare = net_interface },
	{ CHANGE("set an interface's flags by ioctl", set_flags_by_ioctl, get_address_by_ioctl),
	  .prepare = net_interface, .harmed = is_promiscuous },
	{ CHANGE("send netlink to another process", send_netlink, list_addresses),
	  .outside = hear_netlink },
	{ CHANGE("connect netlink to another process, then send", connect_netlink, list_addresses),
	  .outside = hear_netlink },
	{ CHANGE("TCP_REPAIR: a connection without a packet", repair, set_nothing_special) },
	{ CHANGE("SO_MARK: another route for a socket's packets", set_mark, set_nothing_special) },
	{ CHANGE("IP_TRANSPARENT: the address of somebody else", set_transparent,
		 set_nothing_special) },
};
ROADS(net_change);
