// SPDX-License-Identifier: Apache-2.0
/* How do resolved objects and network rules become map entries of one policy? */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <netinet/in.h>

#include "user/base.h"
#include "user/enforcer.h"
#include "user/rules.h"

static int full(struct comet_error *error, const char *map)
{
	if (errno == E2BIG || errno == ENOSPC)
		return comet_error_set(error, errno,
				       "the map %s is full: the rules of all policies on this host "
				       "together are more than it holds (%d)",
				       map, COMET_RULES_MAX);
	return comet_error_set(error, errno, "cannot fill %s: %s", map, strerror(errno));
}

/* Two paths may mean one inode (bind mounts): rights add up. */
static int merge_object(struct comet_set *set, __u32 policy, const struct comet_identity *identity,
			const struct comet_object *more, struct comet_error *error)
{
	struct comet_object_key key = { .inode = identity->inode, .policy = policy };
	struct comet_object object = {};
	int fd = set->maps[COMET_MAP_OBJECTS];

	if (bpf_map_lookup_elem(fd, &key, &object)) {
		object.dev = identity->dev;
		object.ino = identity->ino;
		object.generation = identity->generation;
		object.rule = more->rule;
	}
	object.subtree |= more->subtree;
	object.self |= more->self;
	object.flags |= more->flags;
	if (bpf_map_update_elem(fd, &key, &object, BPF_ANY))
		return full(error, "comet_objects");
	return 0;
}

/* A number for `next` that no other name of the policy uses; below every kernel address. */
struct chain {
	__u64 last;
};

static void name_key(struct comet_name_key *key, __u64 dir, __u32 policy, const char *name,
		     size_t length)
{
	memset(key, 0, sizeof(*key));
	key->dir = dir;
	key->policy = policy;
	key->len = (__u32)length;
	memcpy(key->name, name, length < COMET_NAME_CHUNK ? length : COMET_NAME_CHUNK);
}

static int add_name(struct comet_set *set, __u32 policy, __u64 dir, const char *name,
		    const struct comet_name *more, struct chain *chain, struct comet_error *error)
{
	int fd = set->maps[COMET_MAP_NAMES];
	size_t length = strlen(name);
	struct comet_name_key key;
	struct comet_name entry;

	for (; length > COMET_NAME_CHUNK; name += COMET_NAME_CHUNK, length -= COMET_NAME_CHUNK) {
		memset(&entry, 0, sizeof(entry));
		name_key(&key, dir, policy, name, length);
		if (bpf_map_lookup_elem(fd, &key, &entry)) {
			entry.next = ++chain->last;
			if (bpf_map_update_elem(fd, &key, &entry, BPF_ANY))
				return full(error, "comet_names");
		}
		dir = entry.next;
	}
	memset(&entry, 0, sizeof(entry));
	name_key(&key, dir, policy, name, length);
	if (bpf_map_lookup_elem(fd, &key, &entry))
		entry.rule = more->rule;
	entry.subtree |= more->subtree;
	entry.self |= more->self;
	entry.inode |= more->inode;
	if (bpf_map_update_elem(fd, &key, &entry, BPF_ANY))
		return full(error, "comet_names");
	return 0;
}

static int gone(struct comet_error *error)
{
	return comet_error_set(error, EIO,
			       "the kernel did not tell the identity of a granted object");
}

static int add_nodes(struct comet_set *set, __u32 policy, const struct comet_objects *objects,
		     const struct comet_identities *identities, struct comet_error *error)
{
	size_t i;
	int r;

	for (i = 0; i < objects->n_nodes; i++) {
		const struct comet_node *node = &objects->nodes[i];
		const struct comet_identity *identity = comet_identities_find(identities, node->fd);
		struct comet_object object = { .subtree = node->subtree,
					       .self = node->self,
					       .flags = node->flags,
					       .rule = node->rule };

		if (!(node->subtree | node->self | node->flags))
			continue;
		if (!identity)
			return gone(error);
		r = merge_object(set, policy, identity, &object, error);
		if (r)
			return r;
	}
	return 0;
}

static int add_names(struct comet_set *set, __u32 policy, const struct comet_objects *objects,
		     const struct comet_identities *identities, struct comet_error *error)
{
	struct chain chain = {};
	size_t i;
	int r;

	for (i = 0; i < objects->n_names; i++) {
		const struct comet_named *named = &objects->names[i];
		const struct comet_identity *dir =
			comet_identities_find(identities, objects->nodes[named->node].fd);
		struct comet_name rule = { .subtree = named->subtree,
					   .self = named->self,
					   .rule = named->rule };

		if (!dir)
			return gone(error);
		if (named->fd >= 0) {
			const struct comet_identity *now =
				comet_identities_find(identities, named->fd);

			if (!now)
				return gone(error);
			rule.inode = now->inode;
		}
		r = add_name(set, policy, dir->inode, named->name, &rule, &chain, error);
		if (r)
			return r;
	}
	return 0;
}

int comet_rules_add_objects(struct comet_set *set, __u32 policy,
			    const struct comet_objects *objects, struct comet_error *error)
{
	struct comet_identities identities;
	int r;

	r = comet_identities_read(set->dump_program, &identities);
	if (r)
		return comet_error_set(error, -r, "cannot read identities from the kernel: %s",
				       strerror(-r));
	r = add_nodes(set, policy, objects, &identities, error);
	if (!r)
		r = add_names(set, policy, objects, &identities, error);
	comet_identities_free(&identities);
	return r;
}

int comet_rules_add_object(struct comet_set *set, __u32 policy,
			   const struct comet_identity *identity, __u32 access,
			   struct comet_error *error)
{
	struct comet_object object = { .self = access };

	return merge_object(set, policy, identity, &object, error);
}

static int add_serve(struct comet_set *set, __u32 policy, const struct comet_serve_rule *rule,
		     __u32 index, struct comet_error *error)
{
	struct comet_net_key key = { .prefixlen = COMET_NET_FIXED_BITS,
				     .policy = policy,
				     .transport = rule->port.transport,
				     .use = COMET_NET_SERVE,
				     .port = (__u16)rule->port.number };
	struct comet_net net = { .verdict = COMET_NET_ALLOW, .rule = index };

	if (bpf_map_update_elem(set->maps[COMET_MAP_NETS], &key, &net, BPF_ANY))
		return full(error, "comet_nets");
	return 0;
}

static int add_net(struct comet_set *set, __u32 policy, const struct comet_net_rule *rule,
		   __u32 index, struct comet_error *error)
{
	struct comet_net_key key = { .prefixlen = COMET_NET_FIXED_BITS + rule->bits,
				     .policy = policy,
				     .transport = rule->transport,
				     .use = COMET_NET_EGRESS,
				     .port = rule->port };
	struct comet_net net = { .verdict = rule->verdict, .rule = index };

	memcpy(key.addr, rule->addr, sizeof(key.addr));
	if (bpf_map_update_elem(set->maps[COMET_MAP_NETS], &key, &net, BPF_ANY))
		return full(error, "comet_nets");
	return 0;
}

/* The address that the self-test connects to is refused under every policy. */
static int add_selftest_net(struct comet_set *set, __u32 policy, struct comet_error *error)
{
	struct comet_net_rule rule = { .bits = 128,
				       .transport = IPPROTO_UDP,
				       .port = COMET_SELFTEST_PORT,
				       .verdict = COMET_NET_SELFTEST };

	rule.addr[10] = 0xff;
	rule.addr[11] = 0xff;
	inet_pton(AF_INET, COMET_SELFTEST_ADDR, rule.addr + 12);
	return add_net(set, policy, &rule, UINT32_MAX, error);
}

int comet_rules_add_nets(struct comet_set *set, __u32 policy, const struct comet_policy *source,
			 struct comet_error *error)
{
	size_t i;
	int r;

	for (i = 0; i < source->n_nets; i++) {
		const struct comet_net_rule *rule = &source->nets[i];

		/* Names have no address; what they resolve to stands in rules of their own. */
		if (rule->kind != COMET_HOST_LITERAL && rule->kind != COMET_HOST_ANY)
			continue;
		r = add_net(set, policy, rule, (__u32)i, error);
		if (r)
			return r;
	}
	for (i = 0; i < source->n_serves; i++) {
		r = add_serve(set, policy, &source->serves[i], (__u32)i, error);
		if (r)
			return r;
	}
	return add_selftest_net(set, policy, error);
}

/* A loop over keys whose entries vanish starts anew; so the next key is asked before deleting. */
#define REMOVE_KEYS(fd, type, id)                                                                  \
	do {                                                                                       \
		type key, next;                                                                    \
		int r = bpf_map_get_next_key(fd, NULL, &next);                                     \
		while (!r) {                                                                       \
			key = next;                                                                \
			r = bpf_map_get_next_key(fd, &key, &next);                                 \
			if (key.policy == (id))                                                    \
				bpf_map_delete_elem(fd, &key);                                     \
		}                                                                                  \
	} while (0)

void comet_rules_remove(struct comet_set *set, __u32 policy)
{
	REMOVE_KEYS(set->maps[COMET_MAP_OBJECTS], struct comet_object_key, policy);
	REMOVE_KEYS(set->maps[COMET_MAP_NAMES], struct comet_name_key, policy);
	REMOVE_KEYS(set->maps[COMET_MAP_NETS], struct comet_net_key, policy);
}
