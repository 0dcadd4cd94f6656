// SPDX-License-Identifier: Apache-2.0
/* What do `egress` and `fs` of the seed's dialect grant? Types are held to the letter here. */
#include <string.h>

#include "manifest/block.h"
#include "manifest/grant.h"
#include "manifest/map.h"
#include "manifest/scalar.h"
#include "manifest/seed.h"

int comet_seed_text(struct comet_report *report, const struct comet_node *node, const char *what,
		    const struct comet_node **text)
{
	const struct comet_node *target = comet_node_target(node);
	char found[120];

	if (target->kind == COMET_NODE_SCALAR && strcmp(target->tag, COMET_TAG_STR) == 0) {
		*text = target;
		return 0;
	}
	comet_node_describe(node, found, sizeof(found));
	if (target->kind == COMET_NODE_SCALAR && !comet_node_is_null(target))
		return comet_report_fail(report, node,
					 "expected text for %s, found %s (put it in quotes)", what,
					 found);
	return comet_report_fail(report, node, "expected text for %s, found %s", what, found);
}

int comet_seed_known_key(struct comet_report *report, const struct comet_node *key,
			 const char *where, const char *const *known, size_t n_known)
{
	const char *near;
	char quoted[120];

	for (size_t i = 0; i < n_known; i++)
		if (comet_node_is(key, known[i]))
			return 0;
	near = comet_suggest(key->text, key->size, known, n_known);
	comet_quote(key->text, key->size, quoted, sizeof(quoted));
	if (near)
		return comet_report_fail(
			report, key, "expected a known key %s, found \"%s\" (did you mean \"%s\"?)",
			where, quoted, near);
	return comet_report_fail(report, key, "expected a known key %s, found \"%s\"", where,
				 quoted);
}

/* Decimal digits only: upstream's YAML would read 0443 as 291, and nobody means that. */
static int read_port(struct comet_report *report, const struct comet_node *node, unsigned int *port)
{
	const struct comet_node *target = comet_node_target(node);
	struct comet_scalar scalar;
	const char *tag;
	char found[120];
	bool is_number;

	comet_node_describe(node, found, sizeof(found));
	if (target->kind != COMET_NODE_SCALAR)
		return comet_report_fail(report, node, "expected a port from 1 to 65535, found %s",
					 found);
	comet_scalar_read(target, &scalar, &tag);
	is_number = scalar.kind == COMET_SCALAR_INT && scalar.integer >= 1 &&
		    scalar.integer <= 65535;
	if (is_number && target->text[0] != '0' &&
	    strspn(target->text, "0123456789") == target->size) {
		*port = (unsigned int)scalar.integer;
		return 0;
	}
	if (is_number)
		return comet_report_fail(
			report, node,
			"expected a port in plain decimal digits, found %s (did you mean %lld?)",
			found, (long long)scalar.integer);
	if (scalar.kind == COMET_SCALAR_TEXT && target->size &&
	    strspn(target->text, "0123456789") == target->size)
		return comet_report_fail(
			report, node,
			"expected a port from 1 to 65535, found %s (write the number without quotes)",
			found);
	return comet_report_fail(report, node, "expected a port from 1 to 65535, found %s", found);
}

static int read_protocol(struct comet_report *report, const struct comet_node *node,
			 enum comet_protocol *protocol)
{
	const struct comet_node *text;
	char found[120];
	int r;

	r = comet_seed_text(report, node, "protocol", &text);
	if (r < 0)
		return r;
	if (strlen(text->text) == text->size &&
	    comet_protocol_from_str(text->text, protocol) == 0 && *protocol != COMET_PROTOCOL_ANY)
		return 0;
	return comet_report_fail(
		report, node, "expected a protocol of http, https, grpc, tcp, quic, udp, found %s",
		comet_node_describe(node, found, sizeof(found)));
}

static int missing_field(struct comet_report *report, const struct comet_map *map,
			 const char *field)
{
	return comet_report_fail(
		report, map->node,
		"expected an egress entry with host, port and protocol, found none for %s", field);
}

static int read_rule(struct comet_report *report, const struct comet_node *node)
{
	static const char *const known[] = { "host", "port", "protocol" };
	const struct comet_pair *pairs[COMET_ARRAY_SIZE(known)];
	const struct comet_node *host;
	enum comet_protocol protocol;
	struct comet_map map;
	unsigned int port = 0;
	bool whole;
	int r;

	r = comet_grant_check_whole(report, node, &whole);
	if (r == 0)
		r = comet_map_read(report, node, &map);
	for (size_t i = 0; r == 0 && i < map.n_pairs; i++)
		r = comet_seed_known_key(report, map.pairs[i].key, "in an egress entry", known,
					 COMET_ARRAY_SIZE(known));
	if (r < 0)
		return r;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(known); i++) {
		pairs[i] = comet_map_find(&map, known[i]);
		if (!pairs[i])
			return missing_field(report, &map, known[i]);
		r = comet_grant_check_whole(report, pairs[i]->value, &whole);
		if (r < 0)
			return r;
	}
	r = comet_seed_text(report, pairs[0]->value, "host", &host);
	if (r == 0)
		r = read_port(report, pairs[1]->value, &port);
	if (r == 0)
		r = read_protocol(report, pairs[2]->value, &protocol);
	if (r == 0)
		r = comet_grant_egress(report, pairs[0]->value, host->text, host->size, port,
				       protocol);
	return r;
}

static int read_list(struct comet_report *report, const struct comet_node *node, const char *what,
		     const struct comet_node **list)
{
	const struct comet_node *target = comet_node_target(node);
	char found[120];
	bool fits;
	int r;

	comet_node_describe(node, found, sizeof(found));
	if (target->kind == COMET_NODE_SCALAR && comet_node_is_null(target))
		return comet_report_fail(
			report, node, "expected a list for %s, found nothing (write [] for none)",
			what);
	if (target->kind != COMET_NODE_SEQUENCE)
		return comet_report_fail(report, node, "expected a list for %s, found %s", what,
					 found);
	*list = target;
	r = comet_grant_check_whole(report, node, &fits);
	return r < 0 ? r : comet_grant_check_count(report, node, target->n_children, &fits);
}

/* `egress: ["*"]`, the black box, is the one entry that is no map. */
static int read_egress(struct comet_report *report, const struct comet_node *node)
{
	const struct comet_node *list;
	const struct comet_node *only;
	int r;

	r = read_list(report, node, "egress", &list);
	if (r < 0)
		return r;
	only = list->n_children ? comet_node_target(list->children[0]) : NULL;
	if (list->n_children == 1 && only->kind == COMET_NODE_SCALAR && comet_node_is(only, "*"))
		return comet_grant_egress(report, list->children[0], "*", 1, 0, COMET_PROTOCOL_ANY);
	for (size_t i = 0; i < list->n_children; i++) {
		const struct comet_node *item = list->children[i];
		char found[120];

		if (comet_node_target(item)->kind != COMET_NODE_MAPPING)
			return comet_report_fail(
				report, item,
				"expected an egress entry {host, port, protocol}, found %s%s",
				comet_node_describe(item, found, sizeof(found)),
				comet_node_is(comet_node_target(item), "*")
					? " (\"*\" must be the only entry)"
					: "");
		r = read_rule(report, item);
		if (r < 0)
			return r;
	}
	return 0;
}

static int read_paths(struct comet_report *report, const struct comet_node *node, const char *what,
		      int (*grant)(struct comet_report *, const struct comet_node *, const char *,
				   size_t))
{
	const struct comet_node *list;
	int r;

	r = read_list(report, node, what, &list);
	for (size_t i = 0; r == 0 && i < list->n_children; i++) {
		const struct comet_node *text;
		bool whole;

		r = comet_seed_text(report, list->children[i], "a path", &text);
		if (r == 0)
			r = comet_grant_check_whole(report, list->children[i], &whole);
		if (r == 0)
			r = grant(report, list->children[i], text->text, text->size);
	}
	return r;
}

static int read_fs(struct comet_report *report, const struct comet_node *node)
{
	static const char *const known[] = { "read", "write" };
	struct comet_map map;
	bool whole;
	int r;

	r = comet_grant_check_whole(report, node, &whole);
	if (r == 0)
		r = comet_map_read(report, node, &map);
	for (size_t i = 0; r == 0 && i < map.n_pairs; i++)
		r = comet_seed_known_key(report, map.pairs[i].key, "in fs", known,
					 COMET_ARRAY_SIZE(known));
	for (size_t i = 0; r == 0 && i < map.n_pairs; i++) {
		const struct comet_pair *pair = &map.pairs[i];

		if (comet_node_is(pair->key, "read"))
			r = read_paths(report, pair->value, "fs.read", comet_grant_read);
		else
			r = read_paths(report, pair->value, "fs.write", comet_grant_write);
	}
	return r;
}

int comet_seed_read_grants(struct comet_report *report, const struct comet_node *block)
{
	const struct comet_pair *egress;
	const struct comet_pair *fs;
	struct comet_map map;
	bool whole;
	int r;

	r = comet_grant_check_whole(report, block, &whole);
	if (r == 0)
		r = comet_map_read(report, block, &map);
	if (r < 0)
		return r;
	egress = comet_map_find(&map, "egress");
	fs = comet_map_find(&map, "fs");
	if (egress)
		r = read_egress(report, egress->value);
	if (r == 0 && fs)
		r = read_fs(report, fs->value);
	return r;
}
