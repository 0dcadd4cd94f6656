// SPDX-License-Identifier: Apache-2.0
/* How do resolved objects and network rules become map entries of one policy? */
#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <net/if.h>
#include <netinet/in.h>

#include "manifest/rule.h"
#include "user/base.h"
#include "user/enforcer.h"
#include "user/rules.h"

static const size_t key_sizes[] = {
	[COMET_MAP_OBJECTS] = sizeof(struct comet_object_key),
	[COMET_MAP_NAMES] = sizeof(struct comet_name_key),
	[COMET_MAP_NETS] = sizeof(struct comet_net_key),
};

static int keep_key(struct comet_keys *keys, const void *key, size_t size)
{
	/* The array doubles at powers of two. */
	if (!(keys->n & (keys->n - 1))) {
		char *more = reallocarray(keys->all, keys->n ? 2 * keys->n : 1, size);

		if (!more)
			return -ENOMEM;
		keys->all = more;
	}
	memcpy(keys->all + keys->n++ * size, key, size);
	return 0;
}

/* The key is kept first: what is in a map, remove_keys() finds. */
static int put(struct comet_set *set, struct comet_rules *rules, enum comet_map map,
	       const void *key, const void *value, bool is_new, struct comet_error *error)
{
	struct comet_keys *keys[] = {
		[COMET_MAP_OBJECTS] = &rules->objects,
		[COMET_MAP_NAMES] = &rules->names,
		[COMET_MAP_NETS] = &rules->nets,
	};

	if (is_new && keep_key(keys[map], key, key_sizes[map]))
		return comet_error_set(error, ENOMEM, "no memory");
	if (bpf_map_update_elem(set->maps[map], key, value, BPF_ANY))
		return comet_set_not_added(set, map, errno, error);
	return 0;
}

/* Two paths may mean one inode (bind mounts): rights add up. */
static int merge_object(struct comet_set *set, struct comet_rules *rules,
			const struct comet_identity *identity, const struct comet_object *more,
			struct comet_error *error)
{
	struct comet_object_key key = { .inode = identity->inode, .policy = rules->policy };
	struct comet_object object = {};
	bool is_new = bpf_map_lookup_elem(set->maps[COMET_MAP_OBJECTS], &key, &object);

	if (is_new) {
		object.dev = identity->dev;
		object.ino = identity->ino;
		object.generation = identity->generation;
		object.rule = more->rule;
	}
	object.subtree |= more->subtree;
	object.self |= more->self;
	object.flags |= more->flags;
	return put(set, rules, COMET_MAP_OBJECTS, &key, &object, is_new, error);
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

static int add_name(struct comet_set *set, struct comet_rules *rules, __u64 dir, const char *name,
		    const struct comet_name *more, struct chain *chain, struct comet_error *error)
{
	int fd = set->maps[COMET_MAP_NAMES];
	size_t length = strlen(name);
	struct comet_name_key key;
	struct comet_name entry;
	bool is_new;
	int r;

	for (; length > COMET_NAME_CHUNK; name += COMET_NAME_CHUNK, length -= COMET_NAME_CHUNK) {
		memset(&entry, 0, sizeof(entry));
		name_key(&key, dir, rules->policy, name, length);
		if (bpf_map_lookup_elem(fd, &key, &entry)) {
			entry.next = ++chain->last;
			r = put(set, rules, COMET_MAP_NAMES, &key, &entry, true, error);
			if (r)
				return r;
		}
		dir = entry.next;
	}
	memset(&entry, 0, sizeof(entry));
	name_key(&key, dir, rules->policy, name, length);
	is_new = bpf_map_lookup_elem(fd, &key, &entry);
	if (is_new)
		entry.rule = more->rule;
	entry.subtree |= more->subtree;
	entry.self |= more->self;
	entry.inode |= more->inode;
	return put(set, rules, COMET_MAP_NAMES, &key, &entry, is_new, error);
}

static int gone(struct comet_error *error)
{
	return comet_error_set(error, EIO,
			       "the kernel did not tell the identity of a granted object");
}

static int add_nodes(struct comet_set *set, struct comet_rules *rules,
		     const struct comet_objects *objects, const struct comet_identities *identities,
		     struct comet_error *error)
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
		r = merge_object(set, rules, identity, &object, error);
		if (r)
			return r;
	}
	return 0;
}

static int add_names(struct comet_set *set, struct comet_rules *rules,
		     const struct comet_objects *objects, const struct comet_identities *identities,
		     struct comet_error *error)
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
		r = add_name(set, rules, dir->inode, named->name, &rule, &chain, error);
		if (r)
			return r;
	}
	return 0;
}

int comet_rules_add_objects(struct comet_set *set, struct comet_rules *rules,
			    const struct comet_objects *objects, struct comet_error *error)
{
	struct comet_identities identities;
	int r;

	r = comet_identities_read(set->dump_program, &identities);
	if (r)
		return comet_error_set(error, -r, "cannot read identities from the kernel: %s",
				       strerror(-r));
	r = add_nodes(set, rules, objects, &identities, error);
	if (!r)
		r = add_names(set, rules, objects, &identities, error);
	comet_identities_free(&identities);
	return r;
}

int comet_rules_add_object(struct comet_set *set, struct comet_rules *rules,
			   const struct comet_identity *identity, __u32 access,
			   struct comet_error *error)
{
	struct comet_object object = { .self = access };

	return merge_object(set, rules, identity, &object, error);
}

static int add_serve(struct comet_set *set, struct comet_rules *rules,
		     const struct comet_serve_rule *rule, __u32 index, struct comet_error *error)
{
	struct comet_net_key key = { .prefixlen = COMET_NET_FIXED_BITS,
				     .policy = rules->policy,
				     .transport = rule->port.transport,
				     .use = COMET_NET_SERVE,
				     .port = (__u16)rule->port.number };
	struct comet_net net = { .verdict = COMET_NET_ALLOW, .rule = index };

	return put(set, rules, COMET_MAP_NETS, &key, &net, true, error);
}

/* As in the kernel's keys: where link-local addresses have zeros. */
static int put_zone(__u8 addr[static 16], const struct comet_net_rule *rule,
		    struct comet_error *error)
{
	unsigned int index = if_nametoindex(rule->zone);
	__u32 zone = htonl(index);

	if (!index)
		return comet_error_locate(error,
					  comet_error_set(error, ENODEV,
							  "there is no network interface \"%s\"",
							  rule->zone),
					  &rule->location);
	memcpy(addr + 4, &zone, sizeof(zone));
	return 0;
}

static int add_net(struct comet_set *set, struct comet_rules *rules,
		   const struct comet_net_rule *rule, __u32 index, struct comet_error *error)
{
	struct comet_net_key key = { .prefixlen = COMET_NET_FIXED_BITS + rule->bits,
				     .policy = rules->policy,
				     .transport = rule->transport,
				     .use = COMET_NET_EGRESS,
				     .port = rule->port };
	struct comet_net net = { .verdict = rule->verdict, .rule = index };

	memcpy(key.addr, rule->addr, sizeof(key.addr));
	if (rule->zone[0]) {
		int r = put_zone(key.addr, rule, error);

		if (r)
			return r;
	}
	return put(set, rules, COMET_MAP_NETS, &key, &net, true, error);
}

/* The address that the self-test connects to is refused under every policy. */
static int add_selftest_net(struct comet_set *set, struct comet_rules *rules,
			    struct comet_error *error)
{
	struct comet_net_rule rule = { .bits = 128,
				       .transport = IPPROTO_UDP,
				       .port = COMET_SELFTEST_PORT,
				       .verdict = COMET_NET_SELFTEST };

	rule.addr[10] = 0xff;
	rule.addr[11] = 0xff;
	inet_pton(AF_INET, COMET_SELFTEST_ADDR, rule.addr + 12);
	return add_net(set, rules, &rule, UINT32_MAX, error);
}

int comet_rules_add_nets(struct comet_set *set, struct comet_rules *rules,
			 const struct comet_policy *source, struct comet_error *error)
{
	size_t i;
	int r;

	for (i = 0; i < source->n_nets; i++) {
		const struct comet_net_rule *rule = &source->nets[i];

		/* Names have no address; what they resolve to stands in rules of their own. */
		if (rule->kind != COMET_HOST_LITERAL && rule->kind != COMET_HOST_ANY)
			continue;
		r = add_net(set, rules, rule, (__u32)i, error);
		if (r)
			return r;
	}
	for (i = 0; i < source->n_serves; i++) {
		r = add_serve(set, rules, &source->serves[i], (__u32)i, error);
		if (r)
			return r;
	}
	return add_selftest_net(set, rules, error);
}

static void remove_keys(struct comet_set *set, enum comet_map map, struct comet_keys *keys)
{
	size_t i;

	for (i = 0; i < keys->n; i++)
		bpf_map_delete_elem(set->maps[map], keys->all + i * key_sizes[map]);
	keys->n = 0;
	free(keys->all);
	keys->all = NULL;
}

void comet_rules_remove(struct comet_set *set, struct comet_rules *rules)
{
	remove_keys(set, COMET_MAP_OBJECTS, &rules->objects);
	remove_keys(set, COMET_MAP_NAMES, &rules->names);
	remove_keys(set, COMET_MAP_NETS, &rules->nets);
}

void comet_rules_free(struct comet_rules *rules)
{
	free(rules->objects.all);
	free(rules->names.all);
	free(rules->nets.all);
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

void comet_rules_remove_all(struct comet_set *set, __u32 policy)
{
	REMOVE_KEYS(set->maps[COMET_MAP_OBJECTS], struct comet_object_key, policy);
	REMOVE_KEYS(set->maps[COMET_MAP_NAMES], struct comet_name_key, policy);
	REMOVE_KEYS(set->maps[COMET_MAP_NETS], struct comet_net_key, policy);
}
