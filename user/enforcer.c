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
#include "user/rules.h"

/* A policy of this process: what keeps its objects' identities and its ring alive. */
struct held {
	uint32_t id;
	int ring;
	int filter; /* link of the packet filter */
	struct comet_objects objects;
	int *extra; /* descriptors from comet_enforcer_add_object() */
	size_t n_extra;
	struct held *next;
};

struct comet_enforcer {
	struct comet_set set;
	struct held *held;
};

/* Field 22 of /proc/PID/stat; 0 when there is no such process. */
static uint64_t start_time(uint32_t pid)
{
	_cleanup_fclose_ FILE *file = NULL;
	char path[64], line[1024], *at;
	unsigned long long start;
	int field;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	file = fopen(path, "re");
	if (!file || !fgets(line, sizeof(line), file))
		return 0;
	/* The second field, the name, may hold anything, but its last ')' is the last one. */
	at = strrchr(line, ')');
	for (field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at || sscanf(at, "%llu", &start) != 1)
		return 0;
	return start;
}

static bool bound_somewhere(struct comet_set *set, uint32_t policy)
{
	int fd = set->maps[COMET_MAP_LAYERS];
	struct comet_layers layers;
	__u64 *at = NULL, id;

	while (!bpf_map_get_next_key(fd, at, &id)) {
		__u32 i;

		at = &id;
		if (bpf_map_lookup_elem(fd, &id, &layers))
			continue;
		for (i = 0; i < layers.n && i < COMET_LAYERS_MAX; i++) {
			if (layers.policy[i] == policy)
				return true;
		}
	}
	return false;
}

static void remove_entries(struct comet_set *set, uint32_t policy)
{
	comet_rules_remove(set, policy);
	bpf_map_delete_elem(set->maps[COMET_MAP_RINGS], &policy);
	bpf_map_delete_elem(set->maps[COMET_MAP_COUNTERS], &policy);
	bpf_map_delete_elem(set->maps[COMET_MAP_POLICIES], &policy);
}

/*
 * Policies whose owner died without removing them, once no cgroup is under them any more. While
 * one is, its processes stay held: a policy is never taken off somebody who still runs.
 */
static void reap(struct comet_set *set)
{
	int fd = set->maps[COMET_MAP_POLICIES];
	struct comet_policy_state state;
	uint32_t policy, next;
	int r = bpf_map_get_next_key(fd, NULL, &next);

	while (!r) {
		policy = next;
		r = bpf_map_get_next_key(fd, &policy, &next);
		if (bpf_map_lookup_elem(fd, &policy, &state) ||
		    start_time(state.owner_pid) == state.owner_start ||
		    bound_somewhere(set, policy))
			continue;
		remove_entries(set, policy);
	}
}

int comet_enforcer_open(struct comet_enforcer **enforcer, struct comet_error *error)
{
	struct comet_enforcer *e = calloc(1, sizeof(*e));
	_cleanup_close_ int lock = -1;
	int r;

	if (!e)
		return comet_error_set(error, ENOMEM, "no memory");
	comet_set_init(&e->set);
	lock = comet_set_lock(error);
	r = lock < 0 ? lock : comet_set_adopt(&e->set);
	if (r == -ENOENT)
		r = comet_set_load(&e->set, error);
	if (r) {
		free(e);
		return r;
	}
	reap(&e->set);
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
	struct comet_policy_state state = { .flags = flags,
					    .owner_pid = (uint32_t)getpid(),
					    .owner_start = start_time((uint32_t)getpid()) };
	struct comet_counters counters = {};

	if (bpf_map_update_elem(set->maps[COMET_MAP_POLICIES], &id, &state, BPF_NOEXIST) ||
	    bpf_map_update_elem(set->maps[COMET_MAP_COUNTERS], &id, &counters, BPF_NOEXIST))
		return comet_error_set(error, errno,
				       errno == E2BIG ? "more than %d policies on this host"
						      : "cannot add a policy (of at most %d)",
				       COMET_POLICIES_MAX);
	return 0;
}

static int add_ring(struct comet_set *set, struct held *held, struct comet_error *error)
{
	held->ring =
		bpf_map_create(BPF_MAP_TYPE_RINGBUF, "comet_ring", 0, 0, COMET_RING_BYTES, NULL);
	if (held->ring < 0 ||
	    bpf_map_update_elem(set->maps[COMET_MAP_RINGS], &held->id, &held->ring, BPF_NOEXIST))
		return comet_error_set(error, errno, "cannot make the ring buffer: %s",
				       strerror(errno));
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
	if (!r)
		r = comet_objects_resolve(policy, target, NULL, &held->objects, error);
	if (!r)
		comet_objects_warn(policy, &held->objects, target);
	if (!r)
		r = comet_rules_add_objects(set, held->id, &held->objects, error);
	if (!r)
		r = comet_rules_add_nets(set, held->id, policy, error);
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
	if (!r)
		r = fill(enforcer, held, policy, target, error);
	if (r) {
		if (held->id)
			remove_entries(&enforcer->set, held->id);
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
		r = comet_rules_add_object(&enforcer->set, id, identity, access, error);
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
	if (bpf_map_update_elem(set->maps[COMET_MAP_POLICIES], &id, &state, BPF_EXIST) ||
	    bpf_map_update_elem(set->maps[COMET_MAP_LAYERS], &cgroup_id, &layers, BPF_NOEXIST))
		return comet_error_set(error, errno, "cannot bind the policy to its cgroup: %s",
				       strerror(errno));
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

/* Entries of cgroups under this policy; their processes are gone, or are to be let go. */
static void unbind(struct comet_set *set, uint32_t policy)
{
	int fd = set->maps[COMET_MAP_LAYERS];
	struct comet_layers layers;
	__u64 id, next;
	int r = bpf_map_get_next_key(fd, NULL, &next);

	while (!r) {
		__u32 i;

		id = next;
		r = bpf_map_get_next_key(fd, &id, &next);
		if (bpf_map_lookup_elem(fd, &id, &layers))
			continue;
		for (i = 0; i < layers.n && i < COMET_LAYERS_MAX; i++) {
			if (layers.policy[i] == policy)
				bpf_map_delete_elem(fd, &id);
		}
	}
}

void comet_enforcer_remove(struct comet_enforcer *enforcer, uint32_t id)
{
	struct held **at = &enforcer->held;

	unbind(&enforcer->set, id);
	remove_entries(&enforcer->set, id);
	while (*at && (*at)->id != id)
		at = &(*at)->next;
	if (*at) {
		struct held *held = *at;

		*at = held->next;
		free_held(held);
	}
}
