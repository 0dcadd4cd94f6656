// SPDX-License-Identifier: Apache-2.0
/* Which rule decides on one destination? */
#define _GNU_SOURCE 1

#include "manifest/ask.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "manifest/address.h"
#include "manifest/target.h"

static int refuse_pattern(const struct comet_target *target, struct comet_error *error)
{
	return comet_error_set(error, EINVAL,
			       "a question names one host, not a pattern or a range as \"%s\"",
			       target->host);
}

static const char *transport_str(uint8_t transport)
{
	return transport == IPPROTO_UDP ? "UDP" : "TCP";
}

/* "host:port/protocol" of a rule; the rule knows only the transport of the protocol. */
static int match(struct comet_answer *answer, const struct comet_net_rule *rule)
{
	const char *transport = rule->transport == IPPROTO_UDP ? "udp" : "tcp";
	bool brackets = strchr(rule->host, ':');
	char port[8];
	char *text;
	int r;

	snprintf(port, sizeof(port), "%u", rule->port);
	r = asprintf(&text, "%s%s%s:%s/%s", brackets ? "[" : "", rule->host, brackets ? "]" : "",
		     rule->port ? port : "*", transport);
	if (r < 0)
		return -ENOMEM;
	r = comet_answer_set_match(answer, text, rule->source, &rule->location);
	free(text);
	return r;
}

static int note_refused(struct comet_answer *answer)
{
	return comet_answer_add_note(answer, "It answers ECONNREFUSED, and to try is a violation.");
}

static int ask_address(const struct comet_policy *policy, uint8_t transport, unsigned int port,
		       const struct comet_prefix *address, struct comet_answer *answer)
{
	const struct comet_special *special = comet_special_find(address->addr);
	const struct comet_net_rule *rule;
	int r;

	rule = comet_policy_net_lookup(policy, transport, (uint16_t)port, address);
	if (rule && rule->verdict == COMET_NET_ALLOW) {
		answer->allowed = true;
		return match(answer, rule);
	}
	if (rule && rule->kind == COMET_HOST_ANY) {
		r = comet_answer_add_note(
			answer,
			"A wildcard reaches public addresses only; this one is in %s (%s) and must be named.",
			special ? special->text : "a special range",
			special ? special->why : "not public");
		if (r < 0)
			return r;
	}
	return note_refused(answer);
}

/* What is in force comes first: the name itself, then the wildcard, then a pattern. */
static int rank(const struct comet_net_rule *rule)
{
	if (rule->kind == COMET_HOST_NAME)
		return 0;
	return rule->kind == COMET_HOST_ANY ? 1 : 2;
}

static const struct comet_net_rule *find_name(const struct comet_policy *policy, uint8_t transport,
					      unsigned int port, const char *name)
{
	const struct comet_net_rule *best = NULL;

	for (size_t i = 0; i < policy->n_nets; i++) {
		const struct comet_net_rule *rule = &policy->nets[i];

		if (rule->verdict != COMET_NET_ALLOW || rule->transport != transport)
			continue;
		if (rule->port != 0 && rule->port != port)
			continue;
		if (!comet_host_covers(rule->kind, rule->host, name))
			continue;
		if (!best || rank(rule) < rank(best))
			best = rule;
	}
	return best;
}

/* The name is declared, but not for this port and transport. */
static int note_other_ports(const struct comet_policy *policy, const char *name,
			    struct comet_answer *answer)
{
	for (size_t i = 0; i < policy->n_nets; i++) {
		const struct comet_net_rule *rule = &policy->nets[i];

		if (rule->verdict != COMET_NET_ALLOW ||
		    !comet_host_covers(rule->kind, rule->host, name))
			continue;
		return comet_answer_add_note(
			answer, "The host is declared for port %u by %s, not for this.", rule->port,
			transport_str(rule->transport));
	}
	return 0;
}

static bool is_localhost(const char *name)
{
	return strcasecmp(name, "localhost") == 0 ||
	       comet_host_covers(COMET_HOST_SUFFIX, "*.localhost", name);
}

/* Names are looked up when a run starts, and the names behind a pattern cannot be listed. */
static int note_pattern(const struct comet_net_rule *rule, struct comet_answer *answer)
{
	int r = comet_answer_add_note(
		answer,
		"%s covers the name, but this build looks names up when a run starts and cannot follow a pattern: the host must be named.",
		rule->host);

	return r < 0 ? r : note_refused(answer);
}

static int ask_name(const struct comet_policy *policy, uint8_t transport,
		    const struct comet_target *target, struct comet_answer *answer)
{
	static const struct comet_prefix loopback = {
		.addr = { [10] = 0xff, 0xff, 127, 0, 0, 1 },
		.bits = 128,
	};
	const struct comet_net_rule *rule =
		find_name(policy, transport, target->port, target->host);
	int r;

	if (rule && rule->kind == COMET_HOST_ANY && is_localhost(target->host))
		return ask_address(policy, transport, target->port, &loopback, answer);
	if (rule && rule->kind == COMET_HOST_SUFFIX)
		return note_pattern(rule, answer);
	if (rule) {
		answer->allowed = true;
		r = match(answer, rule);
		if (r == 0 && rule->kind == COMET_HOST_ANY)
			r = comet_answer_add_note(
				answer,
				"Through a wildcard only its public addresses are reached.");
		return r;
	}
	r = note_other_ports(policy, target->host, answer);
	return r < 0 ? r : note_refused(answer);
}

int comet_ask_egress(const struct comet_policy *policy, const char *text,
		     struct comet_answer *answer, struct comet_error *error)
{
	struct comet_target target;
	struct comet_prefix prefix;
	enum comet_host kind;
	uint8_t transport;
	bool brackets;
	int r;

	r = comet_target_parse(text, &target, error);
	if (r == 0)
		r = comet_host_parse(target.host, &kind, &prefix, error);
	if (r < 0)
		return r;
	if (kind == COMET_HOST_ANY || kind == COMET_HOST_SUFFIX || strchr(target.host, '/'))
		return refuse_pattern(&target, error);
	transport = (uint8_t)comet_protocol_transport(target.protocol);
	brackets = strchr(target.host, ':');
	r = asprintf(&answer->resource, "%s%s%s:%u/%s", brackets ? "[" : "", target.host,
		     brackets ? "]" : "", target.port, comet_protocol_to_str(target.protocol));
	if (r < 0) {
		answer->resource = NULL;
		return -ENOMEM;
	}
	if (kind == COMET_HOST_LITERAL)
		return ask_address(policy, transport, target.port, &prefix, answer);
	return ask_name(policy, transport, &target, answer);
}
