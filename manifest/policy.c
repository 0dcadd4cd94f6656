// SPDX-License-Identifier: Apache-2.0
/* What does a manifest grant, rule by rule? */
#define _GNU_SOURCE 1

#include "manifest/policy.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "manifest/address.h"
#include "manifest/base.h"
#include "manifest/path.h"
#include "manifest/rule.h"

#define DEFAULT_WORKDIR "/workdir"
#define DNS_PORT 53

static const uint8_t transports[] = { IPPROTO_TCP, IPPROTO_UDP };

#define N_TRANSPORTS (sizeof(transports) / sizeof(transports[0]))

static int out_of_memory(struct comet_error *error)
{
	return comet_error_set(error, ENOMEM, "out of memory");
}

/* Where a row of the tables stands for this home; *path is the caller's, NULL for none. */
static int resolve_home(const char *row, const char *home, char **path, struct comet_error *error)
{
	int r;

	*path = NULL;
	if (row[0] == '~' && !home)
		return 0;
	if (row[0] == '~')
		r = asprintf(path, "%s%s", home, row + 1);
	else
		r = asprintf(path, "%s", row);
	if (r < 0) {
		*path = NULL;
		return out_of_memory(error);
	}
	return 0;
}

static int add_row(struct comet_policy *policy, const struct comet_base_entry *row,
		   enum comet_source source, const char *home, struct comet_error *error)
{
	struct comet_path_rule rule = {
		.access = row->access,
		.self_only = row->scope != COMET_BASE_TREE,
		.proc = row->scope == COMET_BASE_PROC,
		.optional = true,
		.source = source,
	};
	int r;

	r = resolve_home(row->path, home, &rule.path, error);
	if (r < 0 || !rule.path)
		return r;
	/* The agent's own home is no other user's: its quiet marks must hold. */
	if (source != COMET_SOURCE_CANARY || !home || strcmp(rule.path, home) != 0)
		r = comet_policy_add_path(policy, &rule, error);
	free(rule.path);
	return r;
}

static int add_tables(struct comet_policy *policy, const char *home, struct comet_error *error)
{
	static const enum comet_source sources[] = {
		COMET_SOURCE_BASE,
		COMET_SOURCE_QUIET,
		COMET_SOURCE_CANARY,
	};

	for (size_t i = 0; i < sizeof(sources) / sizeof(sources[0]); i++) {
		size_t n;
		const struct comet_base_entry *rows = comet_base_table(sources[i], &n);

		for (size_t row = 0; row < n; row++) {
			int r = add_row(policy, &rows[row], sources[i], home, error);

			if (r < 0)
				return r;
		}
	}
	return 0;
}

static int add_workdir(struct comet_policy *policy, const char *workdir, struct comet_error *error)
{
	struct comet_path_rule rule = {
		.path = (char *)(workdir ? workdir : DEFAULT_WORKDIR),
		.access = COMET_FS_READ,
		.optional = true,
		.source = COMET_SOURCE_BASE,
	};

	return comet_policy_add_path(policy, &rule, error);
}

static int add_entries(struct comet_policy *policy, const struct comet_entry *entries, size_t n,
		       uint32_t access, struct comet_error *error)
{
	for (size_t i = 0; i < n; i++) {
		struct comet_path_rule rule = {
			.path = entries[i].text,
			.access = access,
			.source = COMET_SOURCE_MANIFEST,
			.location = entries[i].location,
		};
		int r = comet_policy_add_path(policy, &rule, error);

		if (r < 0)
			return r;
	}
	return 0;
}

static int add_paths(struct comet_policy *policy, const struct comet_manifest *manifest,
		     const struct comet_policy_options *options, struct comet_error *error)
{
	char *home = NULL;
	int r;

	if (options->home) {
		home = comet_path_clean(options->home);
		if (!home && errno == EINVAL)
			return comet_error_set(error, EINVAL,
					       "the home directory is no absolute path");
		if (!home)
			return out_of_memory(error);
	}
	r = add_tables(policy, home, error);
	free(home);
	if (r == 0)
		r = add_workdir(policy, options->workdir, error);
	if (r == 0)
		r = add_entries(policy, manifest->fs_read, manifest->n_fs_read, COMET_FS_READ,
				error);
	/* Writing does not imply reading. */
	if (r == 0)
		r = add_entries(policy, manifest->fs_write, manifest->n_fs_write, COMET_FS_WRITE,
				error);
	return r;
}

/* One entry gives a rule for each transport that its protocol stands for. */
static int add_egress(struct comet_policy *policy, const struct comet_egress *egress,
		      struct comet_error *error)
{
	struct comet_net_rule rule = {
		.host = egress->host,
		.port = (uint16_t)egress->port,
		.verdict = COMET_NET_ALLOW,
		.source = COMET_SOURCE_MANIFEST,
		.location = egress->location,
	};
	int transport = comet_protocol_transport(egress->protocol);
	struct comet_prefix prefix;
	int r;

	if (egress->port > UINT16_MAX)
		r = comet_error_set(error, EINVAL, "port %u is above 65535", egress->port);
	else
		r = comet_host_parse(egress->host, &rule.kind, &prefix, error);
	if (r < 0)
		return comet_error_locate(error, r, &egress->location);
	memcpy(rule.addr, prefix.addr, sizeof(rule.addr));
	rule.bits = prefix.bits;
	memcpy(rule.zone, prefix.zone, sizeof(rule.zone));
	for (size_t i = 0; i < N_TRANSPORTS; i++) {
		if (transport != 0 && transport != transports[i])
			continue;
		rule.transport = transports[i];
		r = comet_policy_add_net(policy, &rule, error);
		if (r < 0)
			return r;
	}
	return 0;
}

/* A zone, as resolv.conf may have one, plays no part in the match. */
static int add_nameserver(struct comet_policy *policy, const char *text, struct comet_error *error)
{
	struct comet_net_rule rule = {
		.kind = COMET_HOST_LITERAL,
		.port = DNS_PORT,
		.verdict = COMET_NET_ALLOW,
		.source = COMET_SOURCE_BASE,
	};
	struct comet_prefix prefix;
	int r;

	rule.host = strndup(text, strcspn(text, "%"));
	if (!rule.host)
		return out_of_memory(error);
	r = comet_address_parse(rule.host, &prefix, error);
	if (r < 0)
		r = comet_error_wrap(error, r, "name server");
	for (size_t i = 0; r == 0 && i < N_TRANSPORTS; i++) {
		memcpy(rule.addr, prefix.addr, sizeof(rule.addr));
		rule.bits = prefix.bits;
		rule.transport = transports[i];
		r = comet_policy_add_net(policy, &rule, error);
	}
	free(rule.host);
	return r;
}

static int add_nets(struct comet_policy *policy, const struct comet_manifest *manifest,
		    const struct comet_policy_options *options, struct comet_error *error)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < manifest->n_egress; i++)
		r = add_egress(policy, &manifest->egress[i], error);
	for (const char *const *server = options->nameservers; r == 0 && server && *server;
	     server++)
		r = add_nameserver(policy, *server, error);
	return r;
}

static int add_execs(struct comet_policy *policy, const struct comet_manifest *manifest,
		     struct comet_error *error)
{
	for (size_t i = 0; i < manifest->n_exec; i++) {
		struct comet_exec_rule rule = {
			.program = manifest->exec[i].text,
			.source = COMET_SOURCE_MANIFEST,
			.location = manifest->exec[i].location,
		};
		int r = comet_policy_add_exec(policy, &rule, error);

		if (r < 0)
			return r;
	}
	return 0;
}

static int add_serves(struct comet_policy *policy, const struct comet_manifest *manifest,
		      struct comet_error *error)
{
	for (size_t i = 0; i < manifest->n_serve; i++) {
		struct comet_serve_rule rule = {
			.port = manifest->serve[i].port,
			.source = COMET_SOURCE_MANIFEST,
			.location = manifest->serve[i].location,
		};
		int r = comet_policy_add_serve(policy, &rule, error);

		if (r < 0)
			return r;
	}
	return 0;
}

int comet_policy_compile(const struct comet_manifest *manifest,
			 const struct comet_policy_options *options, struct comet_policy **policy,
			 struct comet_error *error)
{
	static const struct comet_policy_options none;
	struct comet_policy *made = calloc(1, sizeof(*made));
	int r;

	if (!made)
		return out_of_memory(error);
	if (!options)
		options = &none;
	if (asprintf(&made->pack, "%s@%s", manifest->name, manifest->version) < 0) {
		made->pack = NULL;
		comet_policy_free(made);
		return out_of_memory(error);
	}
	r = add_paths(made, manifest, options, error);
	if (r == 0)
		r = add_nets(made, manifest, options, error);
	if (r == 0)
		r = add_execs(made, manifest, error);
	if (r == 0)
		r = add_serves(made, manifest, error);
	if (r == 0)
		r = comet_policy_merge(made, error);
	if (r == 0)
		r = comet_policy_narrow(made, error);
	if (r < 0) {
		comet_policy_free(made);
		return r;
	}
	*policy = made;
	return 0;
}
