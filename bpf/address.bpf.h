/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * May these layers reach that address? The only place that says no for sockets: address, port and
 * transport must be granted by every layer.
 */
#ifndef COMET_ADDRESS_BPF_H
#define COMET_ADDRESS_BPF_H

#include "bpf/member.bpf.h"
#include "bpf/report.bpf.h"

/* include/linux/net.h, include/uapi/linux/in.h */
#define SOCK_TYPE_MASK 0xf

/* Longest first part of a sockaddr that is read: sockaddr_in6. */
#define COMET_SOCKADDR_BYTES 28

static __always_inline bool comet_socket_allowed(int family, int type, int protocol)
{
	switch (family) {
	case AF_UNIX:
		return true;
	case AF_NETLINK: /* interface and address listings; changes need CAP_NET_ADMIN */
		return protocol == NETLINK_ROUTE;
	case AF_INET:
	case AF_INET6:
		if (type == SOCK_STREAM)
			return protocol == 0 || protocol == IPPROTO_TCP ||
			       protocol == IPPROTO_MPTCP;
		return type == SOCK_DGRAM && (protocol == 0 || protocol == IPPROTO_UDP);
	default:
		return false;
	}
}

/* from: kernel memory. Too short an address reads as family 0xffff, which nothing grants. */
static __always_inline void comet_read_addr_as(struct comet_addr *addr, const void *from, int len,
					       __u16 family)
{
	struct sockaddr_in6 in6 = {};
	struct sockaddr_in *in = (struct sockaddr_in *)&in6;

	addr->family = family;
	if (family == AF_INET && len >= (int)sizeof(struct sockaddr_in)) {
		if (bpf_probe_read_kernel(in, sizeof(*in), from))
			addr->family = 0xffff;
		addr->port = bpf_ntohs(in->sin_port);
		__builtin_memcpy(addr->addr, &in->sin_addr, 4);
	} else if (family == AF_INET6 && len >= 24) { /* SIN6_LEN_RFC2133 */
		if (bpf_probe_read_kernel(&in6, 24, from))
			addr->family = 0xffff;
		if (len >= (int)sizeof(in6))
			bpf_probe_read_kernel(&addr->scope_id, 4, from + 24);
		addr->port = bpf_ntohs(in6.sin6_port);
		__builtin_memcpy(addr->addr, &in6.sin6_addr, 16);
	} else if (family == AF_INET || family == AF_INET6) {
		addr->family = 0xffff;
	}
}

static __always_inline void comet_read_addr(struct comet_addr *addr, const void *from, int len)
{
	__u16 family = 0xffff;

	if (len >= 2)
		bpf_probe_read_kernel(&family, sizeof(family), from);
	comet_read_addr_as(addr, from, len, family);
}

/* fe80::/10 is another network behind each interface. */
static __always_inline bool comet_is_link_local(const struct comet_addr *addr)
{
	return addr->family == AF_INET6 && addr->addr[0] == 0xfe && (addr->addr[1] & 0xc0) == 0x80;
}

/* The zone of a link-local address: named in it, or the interface that the socket is bound to. */
static __always_inline void comet_read_zone(struct comet_addr *addr, struct sock *sk)
{
	if (comet_is_link_local(addr) && !addr->scope_id)
		addr->scope_id = sk->__sk_common.skc_bound_dev_if;
}

/* Where a connected datagram socket sends to. False: nowhere. */
static __always_inline bool comet_read_peer(struct comet_addr *addr, struct sock *sk)
{
	addr->family = sk->__sk_common.skc_family;
	addr->port = bpf_ntohs(sk->__sk_common.skc_dport);
	if (addr->family == AF_INET) {
		__u32 peer = sk->__sk_common.skc_daddr;

		__builtin_memcpy(addr->addr, &peer, 4);
	} else {
		/* Also of a socket that is connected to an IPv4 address: its mapped form. */
		bpf_probe_read_kernel(addr->addr, 16, &sk->__sk_common.skc_v6_daddr);
	}
	/* Not by the address: port 0, and :: for the local host, can be connected to. */
	return sk->__sk_common.skc_state == TCP_ESTABLISHED;
}

/* Where a socket is bound to, as far as it is. */
static __always_inline void comet_read_local(struct comet_addr *addr, struct sock *sk)
{
	addr->family = sk->__sk_common.skc_family;
	addr->type = sk->sk_type;
	addr->protocol = sk->sk_protocol;
	addr->port = sk->__sk_common.skc_num;
	if (addr->family == AF_INET) {
		__u32 local = sk->__sk_common.skc_rcv_saddr;

		__builtin_memcpy(addr->addr, &local, 4);
	} else if (addr->family == AF_INET6) {
		bpf_probe_read_kernel(addr->addr, 16, &sk->__sk_common.skc_v6_rcv_saddr);
	}
}

static __always_inline __u8 comet_transport(const struct comet_addr *addr)
{
	switch (addr->protocol) {
	case IPPROTO_TCP:
	case IPPROTO_MPTCP:
		return IPPROTO_TCP;
	case IPPROTO_UDP:
		return IPPROTO_UDP;
	default:
		return 0;
	}
}

static __always_inline __u32 comet_net_lookup(struct comet_net_key *key, __u16 port)
{
	struct comet_net *rule;

	key->port = port;
	rule = bpf_map_lookup_elem(&comet_nets, key);
	if (rule && rule->verdict != COMET_NET_DENY)
		return rule->verdict;
	key->port = 0; /* rules for every port */
	rule = bpf_map_lookup_elem(&comet_nets, key);
	return rule ? rule->verdict : 0;
}

/* 0 when nothing matches: no grant. A zone stands where such addresses have zeros (RFC 4291). */
static __always_inline __u32 comet_net_verdict(__u32 policy, const struct comet_addr *addr)
{
	struct comet_net_key key = {
		.prefixlen = COMET_NET_FIXED_BITS + 128,
		.policy = policy,
		.transport = comet_transport(addr),
	};

	if (!key.transport)
		return 0;
	if (addr->family == AF_INET) {
		key.addr[10] = 0xff;
		key.addr[11] = 0xff;
		__builtin_memcpy(key.addr + 12, addr->addr, 4);
	} else if (addr->family == AF_INET6) {
		__builtin_memcpy(key.addr, addr->addr, 16);
	} else {
		return 0;
	}
	if (comet_is_link_local(addr)) {
		__u32 verdict;
		__u32 zone = bpf_htonl(addr->scope_id);

		/* What is there already would pass for a zone. */
		if (key.addr[4] | key.addr[5] | key.addr[6] | key.addr[7])
			return 0;
		__builtin_memcpy(key.addr + 4, &zone, 4);
		verdict = comet_net_lookup(&key, addr->port);
		if (verdict == COMET_NET_ALLOW)
			return verdict;
		__builtin_memset(key.addr + 4, 0, 4); /* a rule for every zone */
	}
	return comet_net_lookup(&key, addr->port);
}

static __always_inline bool comet_may_serve(__u32 policy, const struct comet_addr *addr)
{
	struct comet_net_key key = {
		.prefixlen = COMET_NET_FIXED_BITS,
		.policy = policy,
		.transport = comet_transport(addr),
		.use = COMET_NET_SERVE,
		.port = addr->port,
	};

	if (!key.transport)
		return false;
	if (key.port && bpf_map_lookup_elem(&comet_nets, &key))
		return true;
	key.port = 0; /* rules for every port */
	return bpf_map_lookup_elem(&comet_nets, &key);
}

static __always_inline __s32 comet_addr_errno(__u8 surface)
{
	switch (surface) {
	case COMET_SURFACE_EGRESS:
		return ECONNREFUSED;
	case COMET_SURFACE_SERVE:
		return EACCES;
	default:
		return EPERM;
	}
}

static __noinline int comet_refuse_addr(struct comet_layers *layers, __u8 layer,
					struct comet_addr *addr, __u8 surface, __u8 op)
{
	struct comet_refusal refusal = {
		.policy = comet_layer_policy(layers, layer),
		.error = comet_addr_errno(surface),
		.detail = addr->port,
		.layer = layer,
		.surface = surface,
		.op = op,
		.severity = COMET_SEVERITY_VIOLATION,
	};
	int result;

	__builtin_memcpy(refusal.object, addr->addr, 16);
	refusal.object[2] = (__u64)addr->family << 48 | (__u64)addr->protocol << 32 |
			    addr->scope_id;
	/* A new socket has no address and no zone, a type that was not asked for no refusal. */
	if (op == COMET_OP_SOCKET)
		refusal.object[0] = addr->type;
	result = comet_treat(&refusal);
	comet_tell_addr(&refusal, addr);
	return result;
}

/*
 * 0, or the negative errno for the caller. sends_judged: this call sends nothing, and what is sent
 * later is asked again.
 */
static __noinline int comet_decide_addr(struct comet_layers *layers, struct comet_addr *addr,
					__u8 op, bool sends_judged)
{
	__u32 layer;

	if (!layers->n)
		return -EPERM;
	for (layer = 0; layer < COMET_LAYERS_MAX; layer++) {
		__u32 verdict;
		int result;

		if (layer >= layers->n)
			break;
		verdict = comet_net_verdict(layers->policy[layer], addr);
		if (verdict == COMET_NET_ALLOW)
			continue;
		if (verdict == COMET_NET_SELFTEST)
			return -ECONNREFUSED;
		if (sends_judged)
			continue;
		result = comet_refuse_addr(layers, layer, addr, COMET_SURFACE_EGRESS, op);
		if (result)
			return result;
	}
	return 0;
}

/* The same for taking what others send to the local port in addr. */
static __noinline int comet_decide_serve(struct comet_layers *layers, struct comet_addr *addr,
					 __u8 op)
{
	__u32 layer;

	if (!layers->n)
		return -EPERM;
	for (layer = 0; layer < COMET_LAYERS_MAX; layer++) {
		int result;

		if (layer >= layers->n)
			break;
		if (comet_may_serve(layers->policy[layer], addr))
			continue;
		result = comet_refuse_addr(layers, layer, addr, COMET_SURFACE_SERVE, op);
		if (result)
			return result;
	}
	return 0;
}

/* The other end is of the same run (or of one nested in it) when this layer holds it too. */
static __always_inline bool comet_holds(const struct comet_layers *layers, __u32 policy)
{
	__u32 i;

	for (i = 0; i < COMET_LAYERS_MAX; i++) {
		if (i < layers->n && layers->policy[i] == policy)
			return true;
	}
	return false;
}

static __noinline int comet_refuse_unix(const struct comet_layers *layers, __u32 layer,
					struct unix_sock *peer, __u32 granted, __u8 op)
{
	struct comet_refusal refusal = {
		.object = { (__u64)peer },
		.policy = comet_layer_policy(layers, layer),
		.error = ECONNREFUSED,
		.layer = layer,
		.surface = COMET_SURFACE_IPC,
		.op = op,
		.severity = COMET_SEVERITY_VIOLATION,
	};
	struct comet_addr addr = { .family = AF_UNIX };
	struct unix_address *name = BPF_CORE_READ(peer, addr);
	int result;

	addr.type = BPF_CORE_READ(peer, sk.sk_type);
	if ((granted & COMET_FS_MARKS) == COMET_FS_QUIET)
		refusal.severity = COMET_SEVERITY_INFO;
	if (name) {
		__u32 len = BPF_CORE_READ(name, len) - 2; /* sun_family */

		if (len > COMET_UNIX_PATH_MAX)
			len = COMET_UNIX_PATH_MAX;
		asm volatile("%0 &= 127" : "+r"(len));
		if (len > COMET_UNIX_PATH_MAX)
			len = COMET_UNIX_PATH_MAX;
		addr.path_len = len;
		bpf_probe_read_kernel(addr.path, len,
				      (void *)name +
					      bpf_core_field_offset(struct unix_address, name) + 2);
	}
	result = comet_treat(&refusal);
	comet_tell_addr(&refusal, &addr);
	return result;
}

/*
 * Within the run UNIX sockets are free. One outside is reached through its file where fs.write
 * grants that (connecting needs write permission on the file, as in unix(7)); a socket without a
 * file, abstract or unnamed, cannot be granted.
 */
static __noinline int comet_decide_unix(struct comet_layers *layers, struct sock *other, __u8 op)
{
	struct unix_sock *peer = (struct unix_sock *)other;
	struct comet_layers *theirs = comet_layers_of(other->sk_cgrp_data.cgroup);
	__u64 dentry = (__u64)BPF_CORE_READ(peer, path.dentry);
	__u64 mount = (__u64)BPF_CORE_READ(peer, path.mnt);
	__u32 layer;

	if (!layers->n)
		return -EPERM;
	for (layer = 0; layer < COMET_LAYERS_MAX; layer++) {
		__u32 policy = layers->policy[layer];
		__u32 granted = 0;
		int result;

		if (layer >= layers->n)
			break;
		if (theirs && comet_holds(theirs, policy))
			continue;
		if (dentry)
			granted = comet_rights(dentry, mount, policy, COMET_FS_WRITE);
		if (granted & COMET_FS_WRITE)
			continue;
		result = comet_refuse_unix(layers, layer, peer, granted, op);
		if (result)
			return result;
	}
	return 0;
}

#endif /* COMET_ADDRESS_BPF_H */
