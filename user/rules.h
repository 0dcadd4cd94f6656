/* SPDX-License-Identifier: Apache-2.0 */
/* How do resolved objects and network rules become map entries of one policy? */
#ifndef COMET_RULES_H
#define COMET_RULES_H

#include "manifest/policy.h"
#include "user/identity.h"
#include "user/instance.h"
#include "user/objects.h"

/*
 * Each adds to what the policy has; entries stay on failure, for comet_rules_remove(). The ports to
 * listen on are among the nets.
 */
int comet_rules_add_objects(struct comet_set *set, __u32 policy,
			    const struct comet_objects *objects, struct comet_error *error);
int comet_rules_add_nets(struct comet_set *set, __u32 policy, const struct comet_policy *source,
			 struct comet_error *error);
/* access (COMET_FS_*) on the object alone. */
int comet_rules_add_object(struct comet_set *set, __u32 policy,
			   const struct comet_identity *identity, __u32 access,
			   struct comet_error *error);

/* Every object, name and net entry of the policy. */
void comet_rules_remove(struct comet_set *set, __u32 policy);

#endif /* COMET_RULES_H */
