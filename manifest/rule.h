/* SPDX-License-Identifier: Apache-2.0 */
/* What do the files that put a policy together share? */
#ifndef COMET_RULE_H
#define COMET_RULE_H

#include "manifest/policy.h"

/*
 * Leaves one of each set of rules that mean the same: that of the manifest before the others, else
 * the first. The order of the rest is kept. 0 or -ENOMEM.
 */
int comet_policy_merge(struct comet_policy *policy, struct comet_error *error);

/*
 * Adds what the rules leave out: special ranges under a wildcard, IPv4 under ::/0, unless another
 * rule names them. After merging. 0, -E2BIG or -ENOMEM.
 */
int comet_policy_narrow(struct comet_policy *policy, struct comet_error *error);

/* Puts "file:line:column: " before the sentence, where there is a place; returns code. */
int comet_error_locate(struct comet_error *error, int code, const struct comet_location *location);

#endif /* COMET_RULE_H */
