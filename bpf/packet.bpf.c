// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * What if a packet finds a road past the socket hooks? A second wall on the run's cgroup, with no
 * code of the first: it drops what no grant covers, by the addresses in the packet itself.
 *
 * Roads that end here: sendfile to a connected UDP socket (before 6.5 it asks no LSM hook), source
 * routes (the packet goes to the first hop, not where the socket is connected to), subflows that
 * MPTCP opens on its own.
 *
 * TCP is held by its SYN: without one there is no connection but an accepted one.
 */
#include "bpf/address.bpf.h"
#include "bpf/member.bpf.h"

#define PASS 1
#define DROP 0

#define ETH_P_IP 0x0800
#define ETH_P_IPV6 0x86dd
#define IP_OFFSET 0x1fff /* include/net/ip.h */

/* The packet's destination as the socket hooks know one. False: nothing that may leave. */
static __always_inline bool comet_packet_addr(struct __sk_buff *skb, struct comet_addr *addr,
					      __u32 *transport_at)
{
	if (skb->protocol == bpf_htons(ETH_P_IP)) {
		struct iphdr ip;

		if (bpf_skb_load_bytes(skb, 0, &ip, sizeof(ip)))
			return false;
		/* Only a raw socket sends fragments by itself; the kernel's are made later. */
		if (ip.frag_off & bpf_htons(IP_OFFSET))
			return false;
		addr->family = AF_INET;
		addr->protocol = ip.protocol;
		__builtin_memcpy(addr->addr, &ip.daddr, 4);
		*transport_at = ip.ihl * 4;
		return true;
	}
	if (skb->protocol == bpf_htons(ETH_P_IPV6)) {
		struct ipv6hdr ip;

		if (bpf_skb_load_bytes(skb, 0, &ip, sizeof(ip)))
			return false;
		/* Extension headers (a route among them) are no transport: refused below. */
		addr->family = AF_INET6;
		addr->protocol = ip.nexthdr;
		addr->scope_id = skb->ifindex;
		__builtin_memcpy(addr->addr, &ip.daddr, 16);
		*transport_at = sizeof(ip);
		return true;
	}
	return false;
}

/*
 * Counts a packet that is dropped. What is no TCP the run itself sent past the socket hooks: a
 * violation that no event tells of. A SYN may be a subflow that MPTCP opens by itself.
 */
static __always_inline int comet_drop(__u32 policy, __u16 protocol)
{
	struct comet_counters *counters = bpf_map_lookup_elem(&comet_counters, &policy);

	if (counters)
		__sync_fetch_and_add(&counters->dropped, 1);
	if (protocol != IPPROTO_TCP)
		comet_count_untold(policy);
	return DROP;
}

/* The nearest entry above a cgroup that found no room for its own, as comet_layers_by_ancestor().
 */
static __noinline struct comet_layers *comet_packet_ancestor(struct __sk_buff *skb)
{
	struct comet_layers *nearest = NULL;
	int level;

	for (level = 1; level < COMET_ANCESTORS_MAX; level++) {
		__u64 id = bpf_skb_ancestor_cgroup_id(skb, level);
		struct comet_layers *layers;

		if (!id)
			return nearest;
		layers = bpf_map_lookup_elem(&comet_layers, &id);
		if (layers)
			nearest = layers;
	}
	return NULL;
}

SEC("cgroup_skb/egress")
int comet_packet_egress(struct __sk_buff *skb)
{
	__u64 id = bpf_skb_cgroup_id(skb);
	struct comet_layers *layers = bpf_map_lookup_elem(&comet_layers, &id);
	struct comet_policy_state *state;
	struct comet_addr addr = {};
	__u32 transport_at = 0;
	__be16 port = 0;
	__u32 layer;

	if (!layers && comet_insert_failed)
		layers = comet_packet_ancestor(skb);
	if (!layers || !layers->n)
		return DROP;
	if (!comet_packet_addr(skb, &addr, &transport_at))
		return comet_drop(layers->policy[0], addr.protocol);
	if (addr.protocol == IPPROTO_TCP) {
		__u8 flags = 0;

		/* struct tcphdr: flags in byte 13, FIN 1, SYN 2, ACK 16. */
		if (bpf_skb_load_bytes(skb, transport_at + 13, &flags, 1))
			return comet_drop(layers->policy[0], addr.protocol);
		if ((flags & 0x12) != 0x02)
			return PASS;
	}
	/* Source and destination port lead the header of TCP and UDP. */
	if (bpf_skb_load_bytes(skb, transport_at + 2, &port, sizeof(port)))
		return comet_drop(layers->policy[0], addr.protocol);
	addr.port = bpf_ntohs(port);
	for (layer = 0; layer < COMET_LAYERS_MAX; layer++) {
		__u32 policy = layers->policy[layer];

		if (layer >= layers->n)
			break;
		if (comet_net_verdict(policy, &addr) == COMET_NET_ALLOW)
			continue;
		state = bpf_map_lookup_elem(&comet_policies, &policy);
		if (state && state->flags & COMET_POLICY_AUDIT)
			continue;
		return comet_drop(policy, addr.protocol);
	}
	return PASS;
}
