/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which maps are there? In the order in which a decision meets them: who am I, what may I, what is
 * said about a refusal. Defined in maps.bpf.c, declared to every other object.
 */
#ifndef COMET_MAPS_BPF_H
#define COMET_MAPS_BPF_H

#include "bpf/kernel.bpf.h"
#include "bpf/wire.h"

#ifndef COMET_MAP
#define COMET_MAP extern
#endif

/* Membership: cgroup id -> layers. No preallocation: most hosts have few governed cgroups. */
COMET_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 65536);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u64);
	__type(value, struct comet_layers);
} comet_layers SEC(".maps");

/* Rules: objects, exact names, addresses. */
COMET_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4 * COMET_RULES_MAX); /* a rule also marks the directories on its way */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct comet_object_key);
	__type(value, struct comet_object);
} comet_objects SEC(".maps");

COMET_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COMET_RULES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct comet_name_key);
	__type(value, struct comet_name);
} comet_names SEC(".maps");

COMET_MAP struct {
	__uint(type, BPF_MAP_TYPE_LPM_TRIE);
	__uint(max_entries, COMET_RULES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct comet_net_key);
	__type(value, struct comet_net);
} comet_nets SEC(".maps");

/* Refusals: how the policy wants them treated, its counters, what is being folded, its ring. */
COMET_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COMET_POLICIES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct comet_policy_state);
} comet_policies SEC(".maps");

COMET_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, COMET_POLICIES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__type(value, struct comet_counters);
} comet_counters SEC(".maps");

struct comet_fold_key {
	__u64 object[3]; /* see struct comet_refusal */
	__u32 policy;
	__u32 pid;
	__u16 detail; /* port */
	__u8 surface;
	__u8 op;
	__u32 padding;
};

struct comet_fold {
	__u64 since; /* CLOCK_BOOTTIME of the last event for this key */
	__u64 pending;
};

COMET_MAP struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct comet_fold_key);
	__type(value, struct comet_fold);
} comet_folds SEC(".maps");

/* Each policy has a ring of its own, so that one noisy agent cannot starve another's reader. */
struct comet_ring {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, COMET_RING_BYTES);
};

COMET_MAP struct {
	__uint(type, BPF_MAP_TYPE_HASH_OF_MAPS);
	__uint(max_entries, COMET_POLICIES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, __u32);
	__array(values, struct comet_ring);
} comet_rings SEC(".maps");

/* The loaded set as a whole: how a later comet process finds and adopts it. One entry. */
COMET_MAP struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct comet_instance);
} comet_instance SEC(".maps");

#endif /* COMET_MAPS_BPF_H */
