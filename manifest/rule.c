// SPDX-License-Identifier: Apache-2.0
/* How does a policy hold its rules, and what may a rule be? */
#include "manifest/policy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/address.h"
#include "manifest/path.h"
#include "manifest/rule.h"
#include "manifest/util.h"

#define QUOTE_SIZE 160

static const char *const source_str[] = {
	[COMET_SOURCE_MANIFEST] = "manifest", [COMET_SOURCE_BASE] = "base",
	[COMET_SOURCE_QUIET] = "quiet",       [COMET_SOURCE_CANARY] = "canary",
	[COMET_SOURCE_RUN] = "run",
};
_Static_assert(sizeof(source_str) / sizeof(source_str[0]) == _COMET_SOURCE_MAX,
	       "a string for every source");

const char *comet_source_to_str(enum comet_source source)
{
	if ((unsigned int)source >= _COMET_SOURCE_MAX)
		return NULL;
	return source_str[source];
}

int comet_error_locate(struct comet_error *error, int code, const struct comet_location *location)
{
	if (!location->file || location->line == 0)
		return code;
	return comet_error_wrap(error, code, "%s:%u:%u", location->file, location->line,
				location->column);
}

/*
 * Makes room for one element more. The capacity is always the next power of two, so that it need
 * not be stored.
 */
static int reserve(void **array, size_t n, size_t size, const char *kind, struct comet_error *error)
{
	void *grown;

	if (n >= COMET_POLICY_RULES_MAX)
		return comet_error_set(
			error, E2BIG,
			"this is the first %s rule over the limit of %d in one policy, base set included",
			kind, COMET_POLICY_RULES_MAX);
	if ((n & (n - 1)) != 0)
		return 0;
	grown = reallocarray(*array, n ? 2 * n : 1, size);
	if (!grown)
		return comet_error_set(error, ENOMEM, "out of memory");
	*array = grown;
	return 0;
}

static int check_path(const char *path, struct comet_error *error)
{
	char text[QUOTE_SIZE];

	comet_quote(path, strlen(path), text, sizeof(text));
	if (path[0] != '/')
		return comet_error_set(error, EINVAL,
				       "\"%s\" is a relative path; write an absolute one", text);
	if (strlen(path) >= COMET_PATH_MAX)
		return comet_error_set(error, ENAMETOOLONG,
				       "the path \"%s\" has %zu bytes, the limit is %d", text,
				       strlen(path), COMET_PATH_MAX - 1);
	while (*path) {
		size_t len;

		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (len > COMET_NAME_MAX)
			return comet_error_set(
				error, ENAMETOOLONG,
				"a name in the path \"%s\" has %zu bytes, the limit is %d", text,
				len, COMET_NAME_MAX);
		path += len;
	}
	return 0;
}

/* The rule's own copy of the path, cleaned. */
static int copy_path(const char *path, char **copy, struct comet_error *error)
{
	int r = check_path(path, error);

	if (r < 0)
		return r;
	*copy = comet_path_clean(path);
	if (!*copy)
		return comet_error_set(error, ENOMEM, "out of memory");
	return 0;
}

int comet_policy_add_path(struct comet_policy *policy, const struct comet_path_rule *rule,
			  struct comet_error *error)
{
	struct comet_path_rule copy = *rule;
	int r;

	r = reserve((void **)&policy->paths, policy->n_paths, sizeof(*policy->paths), "path",
		    error);
	if (r == 0)
		r = copy_path(rule->path, &copy.path, error);
	if (r < 0)
		return comet_error_locate(error, r, &rule->location);
	policy->paths[policy->n_paths++] = copy;
	return 0;
}

int comet_policy_add_net(struct comet_policy *policy, const struct comet_net_rule *rule,
			 struct comet_error *error)
{
	struct comet_net_rule copy = *rule;
	int r;

	if (rule->bits > 128)
		return comet_error_set(error, EINVAL, "a prefix has at most 128 bits");
	r = reserve((void **)&policy->nets, policy->n_nets, sizeof(*policy->nets), "network",
		    error);
	if (r < 0)
		return comet_error_locate(error, r, &rule->location);
	copy.host = strdup(rule->host);
	if (!copy.host)
		return comet_error_set(error, ENOMEM, "out of memory");
	policy->nets[policy->n_nets++] = copy;
	return 0;
}

/* A bare name is looked up once, at the start; anything with a slash must say the whole path. */
static int copy_program(const char *program, char **copy, struct comet_error *error)
{
	char text[QUOTE_SIZE];
	int r = 0;

	comet_quote(program, strlen(program), text, sizeof(text));
	if (program[0] == '\0')
		r = comet_error_set(error, EINVAL, "the program's name is empty");
	else if (strcmp(program, ".") == 0 || strcmp(program, "..") == 0 ||
		 program[strlen(program) - 1] == '/')
		r = comet_error_set(error, EINVAL, "\"%s\" is a directory, not a program", text);
	else if (program[0] != '/' && strchr(program, '/'))
		r = comet_error_set(
			error, EINVAL,
			"\"%s\" is a relative path; write the program's name alone or its absolute path",
			text);
	else if (program[0] != '/' && strlen(program) > COMET_NAME_MAX)
		r = comet_error_set(error, ENAMETOOLONG,
				    "the program's name has %zu bytes, the limit is %d",
				    strlen(program), COMET_NAME_MAX);
	if (r < 0)
		return r;
	if (program[0] == '/')
		return copy_path(program, copy, error);
	*copy = strdup(program);
	return *copy ? 0 : comet_error_set(error, ENOMEM, "out of memory");
}

int comet_policy_add_exec(struct comet_policy *policy, const struct comet_exec_rule *rule,
			  struct comet_error *error)
{
	struct comet_exec_rule copy = *rule;
	int r;

	r = reserve((void **)&policy->execs, policy->n_execs, sizeof(*policy->execs), "exec",
		    error);
	if (r == 0)
		r = copy_program(rule->program, &copy.program, error);
	if (r < 0)
		return comet_error_locate(error, r, &rule->location);
	policy->execs[policy->n_execs++] = copy;
	return 0;
}

int comet_policy_add_serve(struct comet_policy *policy, const struct comet_serve_rule *rule,
			   struct comet_error *error)
{
	struct comet_serve_rule copy = *rule;
	char text[COMET_PORT_TEXT];
	int r;

	if (rule->port.number > COMET_PORT_MAX)
		r = comet_error_set(error, EINVAL, "port %u is above %d", rule->port.number,
				    COMET_PORT_MAX);
	else
		r = reserve((void **)&policy->serves, policy->n_serves, sizeof(*policy->serves),
			    "serve", error);
	if (r < 0)
		return comet_error_locate(error, r, &rule->location);
	copy.text = strdup(comet_port_format(&rule->port, text));
	if (!copy.text)
		return comet_error_set(error, ENOMEM, "out of memory");
	policy->serves[policy->n_serves++] = copy;
	return 0;
}

const struct comet_serve_rule *comet_policy_serve_lookup(const struct comet_policy *policy,
							 const struct comet_port *port)
{
	const struct comet_serve_rule *every = NULL;

	for (size_t i = 0; i < policy->n_serves; i++) {
		const struct comet_serve_rule *rule = &policy->serves[i];

		if (rule->port.transport != port->transport)
			continue;
		if (rule->port.number == port->number)
			return rule;
		if (rule->port.number == 0)
			every = rule;
	}
	return every;
}

/* The narrowest address rule of exactly this port; ALLOW wins over DENY of the same prefix. */
static const struct comet_net_rule *longest(const struct comet_policy *policy, uint8_t transport,
					    uint16_t port, const struct comet_prefix *host)
{
	const struct comet_net_rule *best = NULL;

	for (size_t i = 0; i < policy->n_nets; i++) {
		const struct comet_net_rule *rule = &policy->nets[i];
		struct comet_prefix prefix = { .bits = rule->bits };

		if (rule->kind != COMET_HOST_LITERAL && rule->kind != COMET_HOST_ANY)
			continue;
		if (rule->transport != transport || rule->port != port)
			continue;
		memcpy(prefix.addr, rule->addr, sizeof(prefix.addr));
		memcpy(prefix.zone, rule->zone, sizeof(prefix.zone));
		if (!comet_prefix_contains(&prefix, host))
			continue;
		if (best && (rule->bits < best->bits ||
			     (rule->bits == best->bits && rule->verdict != COMET_NET_ALLOW)))
			continue;
		best = rule;
	}
	return best;
}

const struct comet_net_rule *comet_policy_net_lookup(const struct comet_policy *policy,
						     uint8_t transport, uint16_t port,
						     const struct comet_prefix *address)
{
	const struct comet_net_rule *exact, *every;

	exact = longest(policy, transport, port, address);
	if (exact && exact->verdict == COMET_NET_ALLOW)
		return exact;
	every = longest(policy, transport, 0, address);
	if (every && every->verdict == COMET_NET_ALLOW)
		return every;
	return exact ? exact : every;
}

void comet_policy_free(struct comet_policy *policy)
{
	if (!policy)
		return;
	for (size_t i = 0; i < policy->n_paths; i++)
		free(policy->paths[i].path);
	for (size_t i = 0; i < policy->n_nets; i++)
		free(policy->nets[i].host);
	for (size_t i = 0; i < policy->n_execs; i++)
		free(policy->execs[i].program);
	for (size_t i = 0; i < policy->n_serves; i++)
		free(policy->serves[i].text);
	free(policy->paths);
	free(policy->nets);
	free(policy->execs);
	free(policy->serves);
	free(policy->pack);
	free(policy);
}
