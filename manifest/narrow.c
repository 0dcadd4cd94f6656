// SPDX-License-Identifier: Apache-2.0
/* Which addresses does a broad rule not reach, because nobody named them? */
#include <errno.h>
#include <string.h>

#include "manifest/address.h"
#include "manifest/rule.h"

#define SPECIALS_MAX 128

static const struct comet_prefix every_ipv4 = {
	.addr = { [10] = 0xff, [11] = 0xff },
	.bits = 96,
};

static struct comet_prefix prefix_of(const struct comet_net_rule *rule)
{
	struct comet_prefix prefix = { .bits = rule->bits };

	memcpy(prefix.addr, rule->addr, sizeof(prefix.addr));
	memcpy(prefix.zone, rule->zone, sizeof(prefix.zone));
	return prefix;
}

static int deny(struct comet_policy *policy, const struct comet_net_rule *because,
		const struct comet_prefix *prefix, struct comet_error *error)
{
	struct comet_net_rule rule = *because;

	memcpy(rule.addr, prefix->addr, sizeof(rule.addr));
	rule.bits = prefix->bits;
	rule.verdict = COMET_NET_DENY;
	return comet_policy_add_net(policy, &rule, error);
}

/* Does an address rule of the same transport and port name all of prefix literally? */
static bool is_named(const struct comet_policy *policy, size_t n, const struct comet_net_rule *rule,
		     const struct comet_prefix *prefix)
{
	for (size_t i = 0; i < n; i++) {
		const struct comet_net_rule *other = &policy->nets[i];
		struct comet_prefix named;

		if (other->kind != COMET_HOST_LITERAL || other->verdict != COMET_NET_ALLOW)
			continue;
		if (other->transport != rule->transport || other->port != rule->port)
			continue;
		named = prefix_of(other);
		if (comet_prefix_names(&named, prefix))
			return true;
	}
	return false;
}

static bool has_wildcard(const struct comet_policy *policy, size_t n,
			 const struct comet_net_rule *rule)
{
	for (size_t i = 0; i < n; i++)
		if (policy->nets[i].kind == COMET_HOST_ANY &&
		    policy->nets[i].transport == rule->transport &&
		    policy->nets[i].port == rule->port)
			return true;
	return false;
}

/* A wildcard reaches public addresses only, and what the manifest names literally. */
static int narrow_wildcard(struct comet_policy *policy, size_t n, size_t index,
			   struct comet_error *error)
{
	struct comet_prefix specials[SPECIALS_MAX];
	size_t n_specials = comet_special_prefixes(specials, SPECIALS_MAX);
	struct comet_net_rule rule = policy->nets[index];

	if (n_specials > SPECIALS_MAX)
		return comet_error_set(error, E2BIG, "the table of special ranges is too long");
	for (size_t i = 0; i < n_specials; i++) {
		int r;

		if (is_named(policy, n, &rule, &specials[i]))
			continue;
		r = deny(policy, &rule, &specials[i], error);
		if (r < 0)
			return r;
	}
	return 0;
}

/* ::/0 as a literal names the IPv6 addresses; that IPv4 stands among them is our affair. */
static int narrow_literal(struct comet_policy *policy, size_t n, size_t index,
			  struct comet_error *error)
{
	struct comet_net_rule rule = policy->nets[index];
	struct comet_prefix prefix = prefix_of(&rule);

	if (prefix.bits >= every_ipv4.bits || !comet_prefix_contains(&prefix, &every_ipv4))
		return 0;
	if (has_wildcard(policy, n, &rule) || is_named(policy, n, &rule, &every_ipv4))
		return 0;
	return deny(policy, &rule, &every_ipv4, error);
}

int comet_policy_narrow(struct comet_policy *policy, struct comet_error *error)
{
	size_t n = policy->n_nets;

	for (size_t i = 0; i < n; i++) {
		int r = 0;

		if (policy->nets[i].kind == COMET_HOST_ANY)
			r = narrow_wildcard(policy, n, i, error);
		else if (policy->nets[i].kind == COMET_HOST_LITERAL)
			r = narrow_literal(policy, n, i, error);
		if (r < 0)
			return r;
	}
	return 0;
}
