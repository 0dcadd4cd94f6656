// SPDX-License-Identifier: Apache-2.0
/*
 * What do the entries of a soyapack.v0 block grant? The words of the code and of the specification
 * differ only in their keys and in the protocols; both are read from decoded values.
 */
#include "manifest/block.h"
#include "manifest/grant.h"
#include "manifest/map.h"
#include "manifest/upstream.h"

static int read_paths(struct comet_report *report, const struct comet_value *list,
		      int (*grant)(struct comet_report *, const struct comet_node *, const char *,
				   size_t))
{
	bool good;
	int r;

	if (!list->node)
		return 0;
	r = comet_grant_check_whole(report, list->node, &good);
	if (r == 0 && good)
		r = comet_grant_check_count(report, list->node, list->n_items, &good);
	if (r < 0 || !good)
		return r;
	for (size_t i = 0; i < list->n_items; i++) {
		const struct comet_value *item = &list->items[i];

		r = comet_grant_check_whole(report, item->node, &good);
		if (r == 0 && good)
			r = grant(report, item->node, item->text, item->size);
		if (r < 0)
			return r;
	}
	return 0;
}

/* Keys of a rule that nobody knows, or that nothing enforces. */
static int check_rule_keys(struct comet_report *report, const struct comet_value *rule)
{
	static const char *const known[] = { "host", "port", "proto", "pin", "quota_per_call" };
	struct comet_map map;
	char quoted[120];
	int r;

	r = comet_map_read(report, rule->node, &map);
	for (size_t i = 0; r == 0 && i < map.n_pairs; i++) {
		const struct comet_node *key = map.pairs[i].key;
		const char *near;

		if (comet_node_is(key, "pin") || comet_node_is(key, "quota_per_call"))
			r = comet_report_warn(report, key, "not enforced by this build: %s",
					      key->text);
		else if (!comet_node_is(key, "host") && !comet_node_is(key, "port") &&
			 !comet_node_is(key, "proto")) {
			near = comet_suggest(key->text, key->size, known, COMET_ARRAY_SIZE(known));
			comet_quote(key->text, key->size, quoted, sizeof(quoted));
			r = comet_report_warn(report, key,
					      "\"%s\" means nothing in an egress entry%s%s%s",
					      quoted, near ? " (did you mean \"" : "",
					      near ? near : "", near ? "\"?)" : "");
		}
	}
	return r;
}

/* Upstream has checked its own dialect; the words of the specification are checked here. */
static int check_rule(struct comet_report *report, const struct comet_value *rule, bool is_spec,
		      enum comet_protocol *protocol)
{
	static const char *const go_words[] = { "http", "https", "grpc", "quic", NULL };
	static const char *const spec_words[] = { "http", "https", "tcp", "udp", NULL };
	const struct comet_value *host = comet_value_field(rule, "host");
	const struct comet_value *port = comet_value_field(rule, "port");
	const struct comet_value *proto = comet_value_field(rule, "proto");
	char quoted[120];

	if (comet_value_is_empty(host))
		return comet_report_fail(report, rule->node, "expected a host, found none");
	if (port->integer < 1 || port->integer > 65535)
		return comet_report_fail(report, port->node ? port->node : rule->node,
					 "expected a port from 1 to 65535, found %lld",
					 (long long)port->integer);
	if (!comet_value_is_among(proto, is_spec ? spec_words : go_words))
		return comet_report_fail(
			report, proto->node ? proto->node : rule->node,
			"expected a proto of %s, found \"%s\"",
			is_spec ? "http, https, tcp, udp" : "http, https, grpc, quic",
			comet_quote(proto->text, proto->size, quoted, sizeof(quoted)));
	return comet_protocol_from_str(proto->text, protocol);
}

static int read_egress(struct comet_report *report, const struct comet_value *list, bool is_spec)
{
	bool good;
	int r;

	if (!list->node)
		return 0;
	r = comet_grant_check_whole(report, list->node, &good);
	if (r == 0 && good)
		r = comet_grant_check_count(report, list->node, list->n_items, &good);
	if (r < 0 || !good)
		return r;
	for (size_t i = 0; i < list->n_items; i++) {
		const struct comet_value *rule = &list->items[i];
		const struct comet_value *host = comet_value_field(rule, "host");
		const struct comet_value *port = comet_value_field(rule, "port");
		const struct comet_value *proto = comet_value_field(rule, "proto");
		enum comet_protocol protocol;

		r = check_rule(report, rule, is_spec, &protocol);
		if (r == 0)
			r = check_rule_keys(report, rule);
		if (r == 0)
			r = comet_grant_check_whole(report, rule->node, &good);
		if (r == 0 && good)
			r = comet_grant_check_whole(report, host->node, &good);
		if (r == 0 && good)
			r = comet_grant_check_whole(report, port->node, &good);
		if (r == 0 && good)
			r = comet_grant_check_whole(report, proto->node, &good);
		if (r == 0 && good)
			r = comet_grant_egress(report, host->node, host->text, host->size,
					       (unsigned int)port->integer, protocol);
		if (r < 0)
			return r;
	}
	return 0;
}

/*
 * A list of allowed calls that is not held to would grant all the others. The key is the
 * specification's own, so the manifest is valid in each dialect that has it, but not to be run.
 */
static int refuse_syscalls(struct comet_report *report, const struct comet_node *node)
{
	bool accepts = report->upstream_accepts;
	int r;

	report->upstream_accepts = true;
	r = comet_report_refuse(report, node,
				"this build cannot hold an agent to syscalls: take the list out");
	report->upstream_accepts = accepts;
	return r;
}

/* Said once each, and only where the pack counts on it: an empty list asks for nothing. */
static int warn_not_enforced(struct comet_report *report, const struct comet_value *block)
{
	static const char *const lists[] = { "syscalls",    "llm",     "mcp_tools",
					     "mcp.tools",   "memory",  "storage_nas",
					     "storage.nas", "storage", "secrets" };
	static const char *const numbers[] = { "cpu", "ram_mb", "gpu" };
	const struct comet_value *resources = comet_value_field(block, "resources");
	int r = 0;

	for (size_t i = 0; r == 0 && i < COMET_ARRAY_SIZE(lists); i++) {
		const struct comet_value *value = comet_value_field(block, lists[i]);

		if (!value->node || !value->n_items)
			continue;
		if (strcmp(lists[i], "syscalls") == 0)
			r = refuse_syscalls(report, value->node);
		else
			r = comet_report_warn(report, value->node, "not enforced by this build: %s",
					      lists[i]);
	}
	for (size_t i = 0; r == 0 && i < COMET_ARRAY_SIZE(numbers); i++) {
		const struct comet_value *value = comet_value_field(resources, numbers[i]);

		if (value->integer)
			r = comet_report_warn(report, value->node,
					      "not enforced by this build: resources.%s",
					      numbers[i]);
	}
	return r;
}

/* The keys that mean the same in every dialect. */
int comet_block_read_shared(struct comet_report *report, const struct comet_value *block)
{
	const struct comet_value *resources = comet_value_field(block, "resources");
	const struct comet_value *timeout = comet_value_field(resources, "timeout_s");
	const struct comet_value *tier = comet_value_field(block, "determinism_tier");
	struct comet_manifest *manifest = report->manifest;
	int r;

	if (!comet_value_is_empty(tier)) {
		manifest->determinism_tier =
			comet_arena_copy(report->arena, tier->text, tier->size);
		if (!manifest->determinism_tier)
			return comet_report_no_memory(report);
	}
	if (timeout->integer < 0 || timeout->integer > COMET_BUDGET_MAX) {
		r = comet_report_refuse(report, timeout->node,
					"expected a time limit of 0 to %d seconds, found %lld",
					COMET_BUDGET_MAX, (long long)timeout->integer);
		if (r < 0)
			return r;
	} else if (!manifest->budget_seconds) {
		manifest->budget_seconds = (unsigned int)timeout->integer;
	}
	r = read_paths(report, comet_value_field(block, "exec"), comet_grant_exec);
	return r < 0 ? r : warn_not_enforced(report, block);
}

int comet_block_read_typed(struct comet_report *report, const struct comet_value *block,
			   bool is_spec)
{
	int r;

	r = read_egress(report, comet_value_field(block, is_spec ? "network.out" : "network_out"),
			is_spec);
	if (r == 0)
		r = read_paths(report, comet_value_field(block, is_spec ? "fs.read" : "fs_read"),
			       comet_grant_read);
	if (r == 0)
		r = read_paths(report, comet_value_field(block, is_spec ? "fs.write" : "fs_write"),
			       comet_grant_write);
	return r < 0 ? r : comet_block_read_shared(report, block);
}
