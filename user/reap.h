/* SPDX-License-Identifier: Apache-2.0 */
/* Whose is a policy, and what becomes of it when its owner is dead? */
#ifndef COMET_REAP_H
#define COMET_REAP_H

#include "user/instance.h"

/* This process, as the owner of a policy. */
void comet_reap_own(struct comet_policy_state *state);

/*
 * Removes the policies whose owner died without doing so, once no cgroup is under them any more.
 * While one is, its processes stay held: a policy is never taken off somebody who still runs.
 */
void comet_reap_dead(struct comet_set *set);

/* Entries of cgroups that are still under the policy; their processes are gone, or let go. */
void comet_reap_unbind(struct comet_set *set, __u32 policy);

/* The policy's entries but for its rules. */
void comet_reap_state(struct comet_set *set, __u32 policy);

#endif /* COMET_REAP_H */
