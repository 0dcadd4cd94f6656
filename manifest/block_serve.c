// SPDX-License-Identifier: Apache-2.0
/*
 * Which ports does `serve` let an agent listen on? A list of 8080, "8080/tcp", "53/udp", "*" or
 * {port, proto}. Upstream looks at none of it: where it accepts the manifest, no fault in here is
 * an error, and so the maps are read by hand.
 */
#include <string.h>

#include "manifest/block.h"
#include "manifest/grant.h"
#include "manifest/map.h"
#include "manifest/scalar.h"

static int refuse_port(struct comet_report *report, const struct comet_node *node)
{
	char found[120];

	return comet_report_refuse(
		report, node,
		"expected a port from 1 to 65535, with /tcp or /udp or without, or \"*\", found %s",
		comet_node_describe(node, found, sizeof(found)));
}

/* *good is set where there is a port. */
static int read_port(struct comet_report *report, const struct comet_node *node,
		     struct comet_port *port, bool *good)
{
	const struct comet_node *target = comet_node_target(node);
	struct comet_scalar scalar;
	const char *tag;
	char found[120];
	int r;

	r = comet_grant_check_whole(report, node, good);
	if (r < 0 || !*good)
		return r;
	*good = false;
	if (target->kind != COMET_NODE_SCALAR || comet_scalar_read(target, &scalar, &tag) < 0)
		return refuse_port(report, node);
	if (scalar.kind == COMET_SCALAR_INT || strcmp(target->tag, COMET_TAG_STR) == 0)
		*good = comet_port_parse(target->text, target->size, port) == 0;
	/* Upstream's YAML would read 0443 as 291, and nobody means that. */
	if (!*good && scalar.kind == COMET_SCALAR_INT && scalar.integer >= 1 &&
	    scalar.integer <= COMET_PORT_MAX)
		return comet_report_refuse(
			report, node,
			"expected a port in plain decimal digits, found %s (did you mean %lld?)",
			comet_node_describe(node, found, sizeof(found)), (long long)scalar.integer);
	return *good ? 0 : refuse_port(report, node);
}

static const char *protocol_key(const struct comet_report *report)
{
	return report->manifest->dialect == COMET_DIALECT_SEED ? "protocol" : "proto";
}

/* The values of port and proto, NULL where there is none; *good is set unless a key is wrong. */
static int find_fields(struct comet_report *report, const struct comet_node *map,
		       const struct comet_node *fields[2], bool *good)
{
	const char *const known[2] = { "port", protocol_key(report) };
	char quoted[120];

	*good = false;
	for (size_t i = 0; i < map->n_children; i += 2) {
		const struct comet_node *key = map->children[i];
		const struct comet_node *word = comet_node_target(key);
		size_t field = comet_node_is(word, known[0]) ? 0 : 1;

		if (word->kind != COMET_NODE_SCALAR || !comet_node_is(word, known[field]))
			return comet_report_refuse(
				report, key, "expected {port, %s} in a serve entry, found %s",
				known[1], comet_node_describe(key, quoted, sizeof(quoted)));
		if (fields[field])
			return comet_report_refuse(report, key,
						   "expected each key once, found \"%s\" again",
						   known[field]);
		fields[field] = map->children[i + 1];
	}
	*good = true;
	return 0;
}

static int read_protocol(struct comet_report *report, const struct comet_node *node,
			 struct comet_port *port, bool *good)
{
	const struct comet_node *target = comet_node_target(node);
	char found[120];
	int r;

	r = comet_grant_check_whole(report, node, good);
	if (r < 0 || !*good)
		return r;
	*good = target->kind == COMET_NODE_SCALAR && strcmp(target->tag, COMET_TAG_STR) == 0 &&
		comet_transport_parse(target->text, target->size, &port->transport) == 0;
	if (*good)
		return 0;
	return comet_report_refuse(report, node, "expected a %s of tcp or udp, found %s",
				   protocol_key(report),
				   comet_node_describe(node, found, sizeof(found)));
}

static int read_map(struct comet_report *report, const struct comet_node *node,
		    struct comet_port *port, bool *good)
{
	const struct comet_node *fields[2] = { NULL, NULL };
	int r;

	r = find_fields(report, comet_node_target(node), fields, good);
	if (r < 0 || !*good)
		return r;
	if (!fields[0]) {
		*good = false;
		return comet_report_refuse(report, node,
					   "expected {port, %s} in a serve entry, found no port",
					   protocol_key(report));
	}
	r = read_port(report, fields[0], port, good);
	if (r < 0 || !*good)
		return r;
	if (memchr(comet_node_target(fields[0])->text, '/', comet_node_target(fields[0])->size)) {
		*good = false;
		return refuse_port(report, fields[0]);
	}
	return fields[1] ? read_protocol(report, fields[1], port, good) : 0;
}

static int read_entry(struct comet_report *report, const struct comet_node *node)
{
	struct comet_port port;
	bool good;
	int r;

	if (comet_node_target(node)->kind == COMET_NODE_MAPPING)
		r = read_map(report, node, &port, &good);
	else
		r = read_port(report, node, &port, &good);
	return r < 0 || !good ? r : comet_grant_serve(report, node, &port);
}

int comet_block_read_serve(struct comet_report *report, const struct comet_node *block)
{
	const struct comet_node *list;
	const struct comet_pair *pair;
	struct comet_map map;
	char found[120];
	bool good;
	int r;

	r = comet_map_read(report, block, &map);
	pair = r < 0 ? NULL : comet_map_find(&map, "serve");
	if (!pair)
		return r;
	list = comet_node_target(pair->value);
	r = comet_grant_check_whole(report, pair->value, &good);
	if (r < 0 || !good)
		return r;
	if (list->kind != COMET_NODE_SEQUENCE)
		return comet_report_refuse(report, pair->value,
					   "expected a list for serve, found %s%s",
					   comet_node_describe(pair->value, found, sizeof(found)),
					   comet_node_is_null(list) ? " (write [] for none)" : "");
	r = comet_grant_check_count(report, pair->value, list->n_children, &good);
	for (size_t i = 0; r == 0 && good && i < list->n_children; i++)
		r = read_entry(report, list->children[i]);
	return r;
}
