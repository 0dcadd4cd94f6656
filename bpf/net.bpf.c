// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which roads lead to the network?
 *
 * socket_create: only families and types whose every send the hooks below can judge.
 * socket_connect: TCP, MPTCP, and io_uring's connect. A UDP connect sends nothing and libc sorts
 *   addresses by it, so it passes; each send on such a socket is judged by where it goes.
 * socket_sendmsg: every UDP datagram by its own address (msg_name, whose family may be AF_UNSPEC
 *   or differ from the socket's) or else the connected one; TCP only with MSG_FASTOPEN, which
 *   opens a connection without socket_connect.
 * unix_stream_connect, unix_may_send: UNIX sockets by the object at the other end.
 * socket_listen, socket_bind: taking connections on a port, or datagrams on a fixed one.
 * socket_setsockopt: making the kernel choose that one.
 * inet_conn_request: a second wall behind socket_listen, where a connection comes in.
 */
#include "bpf/address.bpf.h"
#include "bpf/decide.bpf.h"

SEC("lsm/socket_create")
int BPF_PROG(comet_socket_create, int family, int type, int protocol, int kern, int ret)
{
	struct comet_layers *layers;
	struct comet_addr addr = { .family = family, .type = type, .protocol = protocol };

	if (ret)
		return ret;
	/* The kernel's own, such as MPTCP's subflows, made in the task that connects. */
	if (kern)
		return 0;
	layers = comet_layers_current();
	if (!layers || comet_socket_allowed(family, type & SOCK_TYPE_MASK, protocol))
		return 0;
	addr.type = type & SOCK_TYPE_MASK;
	return comet_verdict(
		comet_refuse_addr(layers, 0, &addr, COMET_SURFACE_KERNEL, COMET_OP_SOCKET));
}

/*
 * An IPv4 broadcast or multicast address: listeners on this host get a copy that is of no socket,
 * and which the packet filter is not shown (ip_mc_output). A broadcast address that does not look
 * like one needs SO_BROADCAST.
 */
static __always_inline bool comet_is_group(const struct comet_addr *addr, struct sock *sk)
{
	__u8 first = addr->addr[0];
	__u64 high = 0;
	__u32 middle = 0;

	if (addr->family == AF_INET6) {
		__builtin_memcpy(&high, addr->addr, sizeof(high));
		__builtin_memcpy(&middle, addr->addr + 8, sizeof(middle));
		if (high || middle != bpf_htonl(0xffff)) /* not ::ffff:a.b.c.d */
			return false;
		first = addr->addr[12];
	}
	return first >= 224 || (sk->__sk_common.skc_flags & (1UL << SOCK_BROADCAST));
}

SEC("lsm/socket_connect")
int BPF_PROG(comet_socket_connect, struct socket *sock, struct sockaddr *address, int addrlen,
	     int ret)
{
	struct comet_layers *layers;
	struct comet_addr addr = {};
	struct sock *sk;
	bool free;

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	sk = sock->sk;
	if (!sk)
		return -EPERM;
	addr.type = sk->sk_type;
	addr.protocol = sk->sk_protocol;
	/* Kernel memory: __sys_connect copied it before the hook. */
	comet_read_addr(&addr, address, addrlen);
	switch (addr.family) {
	case AF_UNSPEC: /* dissolves an association */
	case AF_UNIX:   /* unix_stream_connect, unix_may_send */
	case AF_NETLINK:
		return 0;
	}
	comet_read_zone(&addr, sk);
	/*
	 * A UDP socket of the run's own may be connected anywhere: libc sorts addresses by it. Not
	 * one from outside, nor to a group, where the packet filter does not stand behind the
	 * hook on sends: a thread could connect it to and fro while another sends.
	 */
	free = addr.protocol == IPPROTO_UDP && !comet_is_group(&addr, sk) &&
	       comet_held_alike(layers, comet_layers_of(sk->sk_cgrp_data.cgroup));
	return comet_verdict(comet_decide_addr(layers, &addr, COMET_OP_CONNECT, free));
}

SEC("lsm/socket_sendmsg")
int BPF_PROG(comet_socket_sendmsg, struct socket *sock, struct msghdr *msg, int size, int ret)
{
	struct comet_layers *layers;
	struct comet_addr addr = {};
	struct sock *sk;
	__u16 family;

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	sk = sock->sk;
	if (!sk)
		return -EPERM;
	family = sk->__sk_common.skc_family;
	if (family == AF_UNIX || family == AF_NETLINK)
		return 0;
	addr.type = sk->sk_type;
	addr.protocol = sk->sk_protocol;
	if (addr.type == SOCK_STREAM && !(msg->msg_flags & MSG_FASTOPEN))
		return 0; /* connected, and the address is ignored */
	/* Given by others; of these some send where they are bound to. */
	if (family != AF_INET && family != AF_INET6) {
		addr.family = family;
		return comet_verdict(comet_decide_addr(layers, &addr, COMET_OP_SEND, false));
	}
	if (msg->msg_name)
		comet_read_addr(&addr, msg->msg_name, msg->msg_namelen);
	/* An IPv4 socket takes AF_UNSPEC for AF_INET; an IPv6 one, for no address at all. */
	if (msg->msg_name && addr.family == AF_UNSPEC && family == AF_INET)
		comet_read_addr_as(&addr, msg->msg_name, msg->msg_namelen, AF_INET);
	if (!msg->msg_name || addr.family == AF_UNSPEC) {
		if (addr.type == SOCK_STREAM)
			return 0; /* MSG_FASTOPEN without an address opens nothing */
		if (!comet_read_peer(&addr, sk))
			return 0; /* not connected: the kernel answers EDESTADDRREQ */
	}
	comet_read_zone(&addr, sk);
	return comet_verdict(comet_decide_addr(layers, &addr, COMET_OP_SEND, false));
}

SEC("lsm/unix_stream_connect")
int BPF_PROG(comet_unix_stream_connect, struct sock *sock, struct sock *other, struct sock *newsk,
	     int ret)
{
	struct comet_layers *layers;

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	return comet_verdict(comet_decide_unix(layers, other, COMET_OP_CONNECT));
}

SEC("lsm/unix_may_send")
int BPF_PROG(comet_unix_may_send, struct socket *sock, struct socket *other, int ret)
{
	struct comet_layers *layers;
	struct sock *sk;

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	sk = other->sk;
	if (!sk)
		return -ECONNREFUSED;
	return comet_verdict(comet_decide_unix(layers, sk, COMET_OP_SEND));
}

/* inet_num is set once a port is taken; a socket that has none gets any: granted by "*" alone. */
SEC("lsm/socket_listen")
int BPF_PROG(comet_socket_listen, struct socket *sock, int backlog, int ret)
{
	struct comet_layers *layers;
	struct comet_addr addr = {};
	struct sock *sk;

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	sk = sock->sk;
	if (!sk)
		return -EPERM;
	comet_read_local(&addr, sk);
	if (addr.family != AF_INET && addr.family != AF_INET6)
		return 0;
	return comet_verdict(comet_decide_serve(layers, &addr, COMET_OP_LISTEN));
}

/* A stream socket takes nothing before it listens; port 0 is any that is free, known to nobody. */
SEC("lsm/socket_bind")
int BPF_PROG(comet_socket_bind, struct socket *sock, struct sockaddr *address, int addrlen, int ret)
{
	struct comet_layers *layers;
	struct comet_addr addr = {};
	struct sock *sk;
	__u16 family;

	if (ret)
		return ret;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	sk = sock->sk;
	if (!sk)
		return -EPERM;
	family = sk->__sk_common.skc_family;
	if ((family != AF_INET && family != AF_INET6) || sk->sk_type == SOCK_STREAM)
		return 0;
	addr.type = sk->sk_type;
	addr.protocol = sk->sk_protocol;
	/* An IPv4 socket takes AF_UNSPEC for its own family; a wrong one the kernel refuses. */
	comet_read_addr_as(&addr, address, addrlen, family);
	if (!addr.port && addr.family == family)
		return 0;
	return comet_verdict(comet_decide_serve(layers, &addr, COMET_OP_BIND));
}

#define IP_LOCAL_PORT_RANGE 51 /* since 6.3; for IPv6 sockets, too */

/* Of a range of one port the kernel chooses that one, also for a socket that only sends. */
SEC("lsm/socket_setsockopt")
int BPF_PROG(comet_socket_setsockopt, struct socket *sock, int level, int option, int ret)
{
	struct comet_layers *layers;

	if (ret)
		return ret;
	if (level != IPPROTO_IP || option != IP_LOCAL_PORT_RANGE)
		return 0;
	layers = comet_layers_current();
	if (!layers)
		return 0;
	return comet_verdict(comet_refuse_value(layers, COMET_SURFACE_KERNEL, COMET_OP_SETSOCKOPT,
						EPERM, option));
}

/*
 * socket_listen looks at the port without the socket's lock: another thread could give it another
 * one. Here the listener stands still. What asks is a packet, in whatever task: the listener's own
 * cgroup counts, no event tells it, and the connection is not answered.
 */
SEC("lsm/inet_conn_request")
int BPF_PROG(comet_inet_conn_request, struct sock *sk, struct sk_buff *skb,
	     struct request_sock *request, int ret)
{
	struct comet_layers *layers;
	struct comet_addr addr = {};
	__u32 layer;

	if (ret)
		return ret;
	layers = comet_layers_of(sk->sk_cgrp_data.cgroup);
	if (!layers)
		return 0;
	if (!layers->n)
		return -EACCES;
	comet_read_local(&addr, sk);
	for (layer = 0; layer < COMET_LAYERS_MAX; layer++) {
		__u32 policy = layers->policy[layer];
		struct comet_policy_state *state;

		if (layer >= layers->n)
			break;
		if (comet_may_serve(policy, &addr))
			continue;
		state = bpf_map_lookup_elem(&comet_policies, &policy);
		if (state && state->flags & COMET_POLICY_AUDIT)
			continue;
		comet_count_untold(policy);
		return -EACCES;
	}
	return 0;
}
