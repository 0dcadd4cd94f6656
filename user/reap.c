// SPDX-License-Identifier: Apache-2.0
/* Whose is a policy, and what becomes of it when its owner is dead? */
#include "user/reap.h"

#include <bpf/bpf.h>
#include <sys/stat.h>

#include "user/base.h"
#include "user/rules.h"

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

void comet_reap_own(struct comet_policy_state *state)
{
	state->owner_pid = (uint32_t)getpid();
	state->owner_start = start_time(state->owner_pid);
}

static bool is_under(const struct comet_layers *layers, __u32 policy)
{
	__u32 i;

	for (i = 0; i < layers->n && i < COMET_LAYERS_MAX; i++) {
		if (layers->policy[i] == policy)
			return true;
	}
	return false;
}

/* A loop over keys whose entries vanish starts anew; so the next key is asked before deleting. */
static bool any_under(struct comet_set *set, __u32 policy, bool remove)
{
	int fd = set->maps[COMET_MAP_LAYERS];
	struct comet_layers layers;
	__u64 id, next;
	int r = bpf_map_get_next_key(fd, NULL, &next);

	while (!r) {
		id = next;
		r = bpf_map_get_next_key(fd, &id, &next);
		if (bpf_map_lookup_elem(fd, &id, &layers) || !is_under(&layers, policy))
			continue;
		if (!remove)
			return true;
		bpf_map_delete_elem(fd, &id);
	}
	return false;
}

void comet_reap_unbind(struct comet_set *set, __u32 policy)
{
	struct comet_policy_state state;
	struct comet_layers layers;

	/* A cgroup is removed after its children, and each takes its entry along. */
	if (bpf_map_lookup_elem(set->maps[COMET_MAP_POLICIES], &policy, &state) ||
	    bpf_map_lookup_elem(set->maps[COMET_MAP_LAYERS], &state.cgroup, &layers) == 0)
		any_under(set, policy, true);
}

void comet_reap_state(struct comet_set *set, __u32 policy)
{
	bpf_map_delete_elem(set->maps[COMET_MAP_RINGS], &policy);
	bpf_map_delete_elem(set->maps[COMET_MAP_COUNTERS], &policy);
	bpf_map_delete_elem(set->maps[COMET_MAP_POLICIES], &policy);
}

/* Of the kernel's, include/linux/proc_ns.h: the same on every host. */
#define INITIAL_PID_NS 0xeffffffcU

/* Elsewhere the numbers of owners mean other processes, or none. */
static bool knows_owners(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) == 0 && st.st_ino == INITIAL_PID_NS;
}

void comet_reap_dead(struct comet_set *set)
{
	int fd = set->maps[COMET_MAP_POLICIES];
	struct comet_policy_state state;
	__u32 policy, next;
	int r = knows_owners() ? bpf_map_get_next_key(fd, NULL, &next) : -1;

	while (!r) {
		policy = next;
		r = bpf_map_get_next_key(fd, &policy, &next);
		if (bpf_map_lookup_elem(fd, &policy, &state) ||
		    start_time(state.owner_pid) == state.owner_start ||
		    any_under(set, policy, false))
			continue;
		comet_rules_remove_all(set, policy);
		comet_reap_state(set, policy);
	}
}
