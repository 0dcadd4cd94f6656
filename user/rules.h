/* SPDX-License-Identifier: Apache-2.0 */
/* How do resolved objects and network rules become map entries of one policy? */
#ifndef COMET_RULES_H
#define COMET_RULES_H

#include "manifest/policy.h"
#include "user/identity.h"
#include "user/instance.h"
#include "user/objects.h"

/* Keys in one map. */
struct comet_keys {
	char *all;
	size_t n;
};

/* What stands in the maps for one policy, so that it is found again without a search. */
struct comet_rules {
	__u32 policy;
	struct comet_keys objects;
	struct comet_keys names;
	struct comet_keys nets;
};

/*
 * Each adds to what the policy has; entries stay on failure, for comet_rules_remove(). The ports to
 * listen on are among the nets.
 */
int comet_rules_add_objects(struct comet_set *set, struct comet_rules *rules,
			    const struct comet_objects *objects, struct comet_error *error);
int comet_rules_add_nets(struct comet_set *set, struct comet_rules *rules,
			 const struct comet_policy *source, struct comet_error *error);
/* access (COMET_FS_*) on the object alone. */
int comet_rules_add_object(struct comet_set *set, struct comet_rules *rules,
			   const struct comet_identity *identity, __u32 access,
			   struct comet_error *error);

/* Takes them out of the maps. Safe to call twice, and where another process did it. */
void comet_rules_remove(struct comet_set *set, struct comet_rules *rules);
void comet_rules_free(struct comet_rules *rules);

/* The same for a policy of which only the number is known: looks through all policies' entries. */
void comet_rules_remove_all(struct comet_set *set, __u32 policy);

#endif /* COMET_RULES_H */
