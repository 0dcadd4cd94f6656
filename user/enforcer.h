/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How do the BPF programs get into the kernel, and a policy into their maps?
 *
 * All runs on a host share one set of programs and maps (an ungoverned process pays once, not once
 * per run). Each comet process holds descriptors on every link and map, the first one loads them,
 * the later ones adopt them by id, and they go with the last. Nothing is pinned where a path leads,
 * but each run has the links pinned in a bpffs of its own mount namespace: so they hold its last
 * task, too, when every process that has descriptors was killed.
 */
#ifndef COMET_ENFORCER_H
#define COMET_ENFORCER_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/wire.h"
#include "manifest/error.h"
#include "manifest/policy.h"

struct comet_enforcer;

/*
 * Adopts the programs that are in force, or loads and attaches them, and removes what dead owners
 * left in the maps. Needs CAP_SYS_ADMIN. On failure a negative errno and one sentence with the
 * remedy; no program of a half-made set stays attached.
 */
int comet_enforcer_open(struct comet_enforcer **enforcer, struct comet_error *error);

/*
 * Pins every link in that bpffs (a descriptor of its root, which need not be mounted): the programs
 * stay attached as long as it exists.
 */
int comet_enforcer_pin(struct comet_enforcer *enforcer, int bpffs, struct comet_error *error);

/* Drops this process's hold. Policies that were not removed stay until the next open reaps them. */
void comet_enforcer_close(struct comet_enforcer *enforcer);

/* Called for each rule that could not be bound to an object as written; text is one sentence. */
typedef void (*comet_warn_fn)(void *context, const struct comet_location *location,
			      const char *text);

struct comet_policy_target {
	int mount_ns;       /* descriptor of the mount namespace in which paths are meant */
	uint32_t flags;     /* COMET_POLICY_* */
	bool by_mount;      /* a file that is mounted alone is granted as an object, too */
	comet_warn_fn warn; /* may be NULL */
	void *warn_context;
};

/*
 * Puts policy into the maps under a new id, not yet bound to any cgroup: it holds nobody. The
 * enforcer keeps an O_PATH descriptor on each object. All or nothing: on failure no entry stays.
 */
int comet_enforcer_add(struct comet_enforcer *enforcer, const struct comet_policy *policy,
		       const struct comet_policy_target *target, uint32_t *id,
		       struct comet_error *error);

/*
 * Grants access (COMET_FS_*) on the very object that fd refers to: for descriptors that the
 * operator hands to the run (standard streams, terminal), and for the self-test's canary. The
 * enforcer duplicates fd. Objects without a path (pipes, sockets) need no grant and are skipped.
 */
int comet_enforcer_add_object(struct comet_enforcer *enforcer, uint32_t id, int fd, uint32_t access,
			      struct comet_error *error);

/* From here on every task of the cgroup and of cgroups made below it is held to the policy. */
int comet_enforcer_bind(struct comet_enforcer *enforcer, uint32_t id, uint64_t cgroup_id,
			struct comet_error *error);

/*
 * The second wall: the packet filter on the cgroup itself, which drops what the socket hooks
 * would have refused. It holds sockets made in the cgroup or below it, while this enforcer lives
 * or the bpffs exists, in which its link is pinned (-1: none).
 */
int comet_enforcer_filter(struct comet_enforcer *enforcer, uint32_t id, int cgroup_fd, int bpffs,
			  struct comet_error *error);

/* Exact at the moment of reading; never fails once the policy was added (zeros after removal). */
void comet_enforcer_counters(struct comet_enforcer *enforcer, uint32_t id,
			     struct comet_counters *counters);

/* Descriptor of the policy's own ring buffer map; owned by the enforcer. */
int comet_enforcer_ring(struct comet_enforcer *enforcer, uint32_t id);

/* Unbinds and removes every entry of the policy. Safe to call twice, and from another process. */
void comet_enforcer_remove(struct comet_enforcer *enforcer, uint32_t id);

/* Address and port of the self-test's connect: refused under every policy, never reported. */
#define COMET_SELFTEST_ADDR "240.0.0.1"
#define COMET_SELFTEST_PORT 9

#endif /* COMET_ENFORCER_H */
