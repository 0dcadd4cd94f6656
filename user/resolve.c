// SPDX-License-Identifier: Apache-2.0
/* Which addresses do the manifest's host names stand for when the run starts? */
#define _GNU_SOURCE 1

#include "user/resolve.h"

#include <netinet/in.h>

#include "user/base.h"
#include "user/text.h"

struct names {
	const char **list; /* the policy's own texts, each once */
	size_t n;
	struct comet_addresses *found;
};

static void free_names(struct names *names)
{
	size_t i;

	for (i = 0; names->found && i < names->n; i++)
		free(names->found[i].list);
	free(names->found);
	free(names->list);
}

static size_t find_name(const struct names *names, const char *host)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (streq(names->list[i], host))
			break;
	return i;
}

static int collect(const struct comet_policy *policy, struct names *names)
{
	size_t i;

	names->list = calloc(policy->n_nets + 1, sizeof(*names->list));
	names->found = calloc(policy->n_nets + 1, sizeof(*names->found));
	if (!names->list || !names->found)
		return -ENOMEM;
	for (i = 0; i < policy->n_nets; i++) {
		const struct comet_net_rule *rule = &policy->nets[i];

		if (rule->kind == COMET_HOST_NAME && find_name(names, rule->host) == names->n)
			names->list[names->n++] = rule->host;
	}
	return 0;
}

static void say(comet_warn_fn warn, void *context, const struct comet_net_rule *rule,
		const char *what)
{
	_cleanup_free_ char *quoted = comet_text_quote(rule->host, strlen(rule->host));
	struct comet_error text;

	if (!warn)
		return;
	comet_error_set(&text, 0, "%s %s", quoted ? quoted : "?", what);
	warn(context, &rule->location, text.text);
}

static int add_addresses(struct comet_policy *policy, const struct comet_net_rule *name,
			 const struct comet_addresses *addresses, struct comet_error *error)
{
	struct comet_net_rule rule = *name;
	size_t i;
	int err = 0;

	rule.kind = COMET_HOST_LITERAL;
	rule.bits = 128;
	for (i = 0; err == 0 && i < addresses->n; i++) {
		memcpy(rule.addr, addresses->list[i], sizeof(rule.addr));
		err = comet_policy_add_net(policy, &rule, error);
	}
	return err;
}

static int add_all(struct comet_policy *policy, const struct names *names, comet_warn_fn warn,
		   void *context, struct comet_error *error)
{
	size_t n = policy->n_nets;
	size_t i;
	int err = 0;

	for (i = 0; err == 0 && i < n; i++) {
		/* By value: adding moves the array. */
		struct comet_net_rule rule = policy->nets[i];
		size_t name;

		if (rule.kind == COMET_HOST_SUFFIX)
			say(warn, context, &rule,
			    "grants nothing yet: this build has no resolver for wildcard names");
		if (rule.kind != COMET_HOST_NAME)
			continue;
		name = find_name(names, rule.host);
		if (names->found[name].n == 0)
			say(warn, context, &rule, "does not resolve: grants nothing");
		err = add_addresses(policy, &rule, &names->found[name], error);
	}
	return err;
}

int comet_resolve_policy(struct comet_policy *policy, comet_warn_fn warn, void *warn_context,
			 struct comet_error *error)
{
	_cleanup_(free_names) struct names names = { 0 };
	int err = collect(policy, &names);

	if (err == 0 && names.n > 0)
		err = comet_resolve_names(names.list, names.n, COMET_RESOLVE_TIMEOUT_MS,
					  names.found);
	if (err < 0)
		return comet_error_set(error, -err, "cannot look up the manifest's host names: %s",
				       strerror(-err));
	return add_all(policy, &names, warn, warn_context, error);
}
