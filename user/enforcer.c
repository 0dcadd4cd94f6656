// SPDX-License-Identifier: Apache-2.0
/* How does a policy get into force, and out again? */
#include <bpf/bpf.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/enforcer.h"
#include "user/fault.h"
#include "user/identity.h"
#include "user/instance.h"
#include "user/objects.h"
#include "user/pins.h"
#include "user/reap.h"
#include "user/rules.h"

/* A policy of this process: what keeps its objects' identities and its ring alive. */
struct held {
	uint32_t id;
	int ring;
	int filter; /* link of the packet filter */
	struct comet_rules rules;
	struct comet_objects objects;
	int *extra; /* descriptors from comet_enforcer_add_object() */
	size_t n_extra;
	struct held *next;
};

struct comet_enforcer {
	struct comet_set set;
	struct held *held;
};

int comet_enforcer_open(struct comet_enforcer **enforcer, struct comet_error *error)
{
	struct comet_enforcer *e = calloc(1, sizeof(*e));
	_cleanup_close_ int lock = -1;
	int r;

	if (!e)
		return comet_error_set(error, ENOMEM, "no memory");
	comet_set_init(&e->set);
	lock = comet_set_lock(error);
	comet_fault_at("locked", NULL);
	r = lock < 0 ? lock : comet_set_adopt(&e->set);
	if (r == -ENOENT)
		r = comet_set_load(&e->set, error);
	if (r) {
		free(e);
		return r;
	}
	comet_reap_dead(&e->set);
	*enforcer = e;
	return 0;
}

int comet_enforcer_pin(struct comet_enforcer *enforcer, int bpffs, struct comet_error *error)
{
	const struct comet_set *set = &enforcer->set;
	unsigned int i;
	int r = 0;

	for (i = 0; !r && i < set->n_links; i++) {
		char name[16];

		snprintf(name, sizeof(name), "link%u", i);
		r = comet_pins_add(bpffs, name, set->links[i], error);
	}
	return r;
}

static void free_held(struct held *held)
{
	size_t i;

	for (i = 0; i < held->n_extra; i++)
		comet_close_fd(&held->extra[i]);
	free(held->extra);
	comet_objects_free(&held->objects);
	comet_rules_free(&held->rules);
	comet_close_fd(&held->filter);
	comet_close_fd(&held->ring);
	free(held);
}

void comet_enforcer_close(struct comet_enforcer *enforcer)
{
	if (!enforcer)
		return;
	while (enforcer->held) {
		struct held *held = enforcer->held;

		enforcer->held = held->next;
		free_held(held);
	}
	comet_set_close(&enforcer->set);
	free(enforcer);
}

static struct held *find_held(struct comet_enforcer *enforcer, uint32_t id)
{
	struct held *held = enforcer->held;

	while (held && held->id != id)
		held = held->next;
	return held;
}

static int new_policy_id(struct comet_set *set, uint32_t *id, struct comet_error *error)
{
	_cleanup_close_ int lock = comet_set_lock(error);
	int r;

	if (lock < 0)
		return lock;
	r = comet_set_next_policy(set, id);
	if (r)
		return comet_error_set(error, -r, "cannot number the policy: %s", strerror(-r));
	return 0;
}

static int add_state(struct comet_set *set, uint32_t id, uint32_t flags, struct comet_error *error)
{
	struct comet_policy_state state = { .flags = flags };
	struct comet_counters counters = {};

	comet_reap_own(&state);
	if (bpf_map_update_elem(set->maps[COMET_MAP_POLICIES], &id, &state, BPF_NOEXIST))
		return comet_set_not_added(set, COMET_MAP_POLICIES, errno, error);
	if (bpf_map_update_elem(set->maps[COMET_MAP_COUNTERS], &id, &counters, BPF_NOEXIST))
		return comet_set_not_added(set, COMET_MAP_COUNTERS, errno, error);
	return 0;
}

static int add_ring(struct comet_set *set, struct held *held, struct comet_error *error)
{
	held->ring =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "comet_ring", 0, 0, COMET_RING_BYTES, NULL);
	if (held->ring < 0)
		return comet_error_set(error, errno, "cannot make the ring buffer: %s",
				       strerror(errno));
	if (bpf_map_update_elem(set->maps[COMET_MAP_RINGS], &held->id, &held->ring, BPF_NOEXIST))
		return comet_set_not_added(set, COMET_MAP_RINGS, errno, error);
	return 0;
}

static int fill(struct comet_enforcer *enforcer, struct held *held,
		const struct comet_policy *policy, const struct comet_policy_target *target,
		struct comet_error *error)
{
	struct comet_set *set = &enforcer->set;
	int r;

	r = add_state(set, held->id, target->flags, error);
	if (!r)
		r = add_ring(set, held, error);
	comet_fault_at("policy-numbered", NULL);
	if (!r)
		r = comet_objects_resolve(policy, target, NULL, &held->objects, error);
	if (!r)
		comet_objects_warn(policy, &held->objects, target);
	comet_fault_at("paths-resolved", NULL);
	if (!r)
		r = comet_rules_add_objects(set, &held->rules, &held->objects, error);
	comet_fault_at("objects-added", NULL);
	if (!r)
		r = comet_rules_add_nets(set, &held->rules, policy, error);
	return r;
}

int comet_enforcer_add(struct comet_enforcer *enforcer, const struct comet_policy *policy,
		       const struct comet_policy_target *target, uint32_t *id,
		       struct comet_error *error)
{
	struct held *held = calloc(1, sizeof(*held));
	int r;

	if (!held)
		return comet_error_set(error, ENOMEM, "no memory");
	held->ring = -1;
	held->filter = -1;
	r = new_policy_id(&enforcer->set, &held->id, error);
	held->rules.policy = held->id;
	if (!r)
		r = fill(enforcer, held, policy, target, error);
	if (r) {
		comet_rules_remove(&enforcer->set, &held->rules);
		if (held->id)
			comet_reap_state(&enforcer->set, held->id);
		free_held(held);
		return r;
	}
	held->next = enforcer->held;
	enforcer->held = held;
	*id = held->id;
	return 0;
}

/* Keeps a duplicate; negative errno. */
static int keep_extra(struct held *held, int fd)
{
	int *more = reallocarray(held->extra, held->n_extra + 1, sizeof(*more));
	int copy;

	if (!more)
		return -ENOMEM;
	held->extra = more;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (copy < 0)
		return -errno;
	held->extra[held->n_extra++] = copy;
	return copy;
}

int comet_enforcer_add_object(struct comet_enforcer *enforcer, uint32_t id, int fd, uint32_t access,
			      struct comet_error *error)
{
	struct held *held = find_held(enforcer, id);
	const struct comet_identity *identity;
	struct comet_identities identities;
	struct stat st;
	int copy, r;

	if (!held)
		return comet_error_set(error, ENOENT, "no policy %u", id);
	if (fstat(fd, &st))
		return comet_error_set(error, errno, "cannot stat a descriptor: %s",
				       strerror(errno));
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return 0; /* without a path, or known to the run by its descriptor alone */
	copy = keep_extra(held, fd);
	if (copy < 0)
		return comet_error_set(error, -copy, "cannot keep a descriptor: %s",
				       strerror(-copy));
	r = comet_identities_read(enforcer->set.dump_program, &identities);
	if (r)
		return comet_error_set(error, -r, "cannot read identities from the kernel: %s",
				       strerror(-r));
	identity = comet_identities_find(&identities, copy);
	if (identity)
		r = comet_rules_add_object(&enforcer->set, &held->rules, identity, access, error);
	else
		r = comet_error_set(error, EIO, "the kernel did not tell a descriptor's identity");
	comet_identities_free(&identities);
	return r;
}

int comet_enforcer_bind(struct comet_enforcer *enforcer, uint32_t id, uint64_t cgroup_id,
			struct comet_error *error)
{
	struct comet_layers layers = { .n = 1, .policy = { id } };
	struct comet_policy_state state;
	struct comet_set *set = &enforcer->set;

	if (bpf_map_lookup_elem(set->maps[COMET_MAP_POLICIES], &id, &state))
		return comet_error_set(error, ENOENT, "no policy %u", id);
	state.cgroup = cgroup_id;
	if (bpf_map_update_elem(set->maps[COMET_MAP_POLICIES], &id, &state, BPF_EXIST))
		return comet_error_set(error, errno, "cannot bind the policy to its cgroup: %s",
				       strerror(errno));
	if (bpf_map_update_elem(set->maps[COMET_MAP_LAYERS], &cgroup_id, &layers, BPF_NOEXIST))
		return comet_set_not_added(set, COMET_MAP_LAYERS, errno, error);
	comet_fault_at("bound", NULL);
	return 0;
}

int comet_enforcer_filter(struct comet_enforcer *enforcer, uint32_t id, int cgroup_fd, int bpffs,
			  struct comet_error *error)
{
	struct held *held = find_held(enforcer, id);

	if (!held)
		return comet_error_set(error, ENOENT, "no policy %u", id);
	if (comet_fault("no-packet-filter"))
		return 0;
	held->filter = bpf_link_create(enforcer->set.packet_program, cgroup_fd,
				       BPF_CGROUP_INET_EGRESS, NULL);
	if (held->filter < 0)
		return comet_error_set(error, errno, "cannot attach the packet filter: %s",
				       strerror(errno));
	return bpffs < 0 ? 0 : comet_pins_add(bpffs, "filter", held->filter, error);
}

void comet_enforcer_counters(struct comet_enforcer *enforcer, uint32_t id,
			     struct comet_counters *counters)
{
	if (bpf_map_lookup_elem(enforcer->set.maps[COMET_MAP_COUNTERS], &id, counters))
		memset(counters, 0, sizeof(*counters));
}

int comet_enforcer_ring(struct comet_enforcer *enforcer, uint32_t id)
{
	struct held *held = find_held(enforcer, id);

	return held ? held->ring : -1;
}

void comet_enforcer_remove(struct comet_enforcer *enforcer, uint32_t id)
{
	struct held **at = &enforcer->held;

	comet_reap_unbind(&enforcer->set, id);
	while (*at && (*at)->id != id)
		at = &(*at)->next;
	if (*at) {
		struct held *held = *at;

		*at = held->next;
		comet_rules_remove(&enforcer->set, &held->rules);
		free_held(held);
	}
	comet_reap_state(&enforcer->set, id);
}
