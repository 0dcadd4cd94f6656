/* SPDX-License-Identifier: Apache-2.0 */
/* Which objects keep a probe of a canary visible where the host's tree is not there? */
#ifndef COMET_ROOT_DECOYS_H
#define COMET_ROOT_DECOYS_H

#include "user/root_plan.h"

/*
 * Adds to the plan, at each canary of the policy, an object that no rule grants: the hooks refuse
 * it as they would the host's, with an event. What the manifest shows is left alone. The same on
 * every host, so that it tells nothing about this one. 0 or -ENOMEM, -ELOOP.
 */
int comet_root_add_decoys(struct comet_place *root, const struct comet_policy *policy);

#endif /* COMET_ROOT_DECOYS_H */
