// SPDX-License-Identifier: Apache-2.0
/*
 * What does a capabilities block grant? The dialect shows in its keys: network_out, fs_read (the
 * code), network.out, fs.read (the specification), egress, fs (the seed). Upstream knows only the
 * first and reads the others as if nothing had been declared.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "manifest/block.h"
#include "manifest/grant.h"
#include "manifest/map.h"
#include "manifest/scalar.h"
#include "manifest/upstream.h"

enum family {
	FAMILY_NONE, /* a key that all dialects share */
	FAMILY_GO,
	FAMILY_SPEC,
	FAMILY_SEED,
	FAMILY_UNKNOWN,
	_FAMILY_MAX,
};

static const struct {
	const char *key;
	enum family family;
} keys[] = {
	{ "network_out", FAMILY_GO }, { "fs_read", FAMILY_GO },
	{ "fs_write", FAMILY_GO },    { "mcp_tools", FAMILY_GO },
	{ "storage_nas", FAMILY_GO }, { "network.out", FAMILY_SPEC },
	{ "fs.read", FAMILY_SPEC },   { "fs.write", FAMILY_SPEC },
	{ "mcp.tools", FAMILY_SPEC }, { "storage.nas", FAMILY_SPEC },
	{ "storage", FAMILY_SPEC },   { "egress", FAMILY_SEED },
	{ "fs", FAMILY_SEED },        { "exec", FAMILY_NONE },
	{ "syscalls", FAMILY_NONE },  { "llm", FAMILY_NONE },
	{ "memory", FAMILY_NONE },    { "secrets", FAMILY_NONE },
	{ "resources", FAMILY_NONE }, { "determinism_tier", FAMILY_NONE },
	{ "serve", FAMILY_NONE },
};

static enum family family_of(const struct comet_node *key)
{
	for (size_t i = 0; i < COMET_ARRAY_SIZE(keys); i++)
		if (comet_node_is(key, keys[i].key))
			return keys[i].family;
	return FAMILY_UNKNOWN;
}

/* What nobody knows grants nothing, and its author may not have noticed. */
static int warn_unknown(struct comet_report *report, const struct comet_node *key)
{
	const char *names[COMET_ARRAY_SIZE(keys)];
	const char *near;
	char quoted[120];

	if (key->size >= 2 && memcmp(key->text, "x-", 2) == 0)
		return 0;
	for (size_t i = 0; i < COMET_ARRAY_SIZE(keys); i++)
		names[i] = keys[i].key;
	near = comet_suggest(key->text, key->size, names, COMET_ARRAY_SIZE(names));
	comet_quote(key->text, key->size, quoted, sizeof(quoted));
	if (near)
		return comet_report_warn(
			report, key,
			"\"%s\" is no capability, so it grants nothing (did you mean \"%s\"?)",
			quoted, near);
	return comet_report_warn(report, key, "\"%s\" is no capability, so it grants nothing",
				 quoted);
}

/*
 * One family per block: whoever mixes them cannot tell which half an implementation reads. Upstream
 * reads its own words, so that is what counts where it accepts the manifest.
 */
static int find_family(struct comet_report *report, const struct comet_map *map,
		       enum family *family, const struct comet_node **first)
{
	bool mixed = false;
	int r = 0;

	*family = FAMILY_NONE;
	*first = NULL;
	for (size_t i = 0; r == 0 && i < map->n_pairs; i++) {
		const struct comet_node *key = map->pairs[i].key;
		enum family found = family_of(key);

		if (found == FAMILY_UNKNOWN) {
			r = warn_unknown(report, key);
		} else if (found != FAMILY_NONE && *family == FAMILY_NONE) {
			*family = found;
			*first = key;
		} else if (found != FAMILY_NONE && found != *family && !mixed) {
			mixed = true;
			r = comet_report_refuse(
				report, key,
				"expected the keys of one dialect in the block, found \"%s\" beside \"%s\" of line %u (upstream knows only network_out, fs_read, fs_write)",
				key->text, (*first)->text, (*first)->line);
		}
	}
	if (mixed)
		*family = FAMILY_GO;
	return r;
}

static int warn_deny_all(struct comet_report *report, const struct comet_node *key)
{
	return comet_report_warn(
		report, key,
		"upstream reads this block as deny-all: it does not know \"%s\" (Comet grants what the block says; upstream's words are network_out, fs_read, fs_write)",
		key->text);
}

/* A fault of type, in our words: upstream would not have looked. */
static int decode_block(struct comet_report *report, const struct comet_node *node,
			const struct comet_type *type, struct comet_value *value)
{
	struct comet_decode_error error;
	char found[120];
	int r;

	memset(value, 0, sizeof(*value));
	r = comet_decode(report->arena, node, type, value, &error);
	if (r == 0)
		return 0;
	if (r == -ENOMEM)
		return comet_report_no_memory(report);
	if (error.expected)
		return comet_report_fail(report, error.node, "expected %s, found %s",
					 error.expected->plain,
					 comet_node_describe(error.node, found, sizeof(found)));
	return comet_report_fail(report, error.node ? error.node : node, "%s",
				 comet_decode_first(&error));
}

static int read_words(struct comet_report *report, const struct comet_node *node,
		      const struct comet_value *go, enum family family)
{
	struct comet_manifest *manifest = report->manifest;
	struct comet_value spec;
	int r;

	switch (family) {
	case FAMILY_SPEC:
		manifest->dialect = COMET_DIALECT_SPEC;
		r = decode_block(report, node, &comet_upstream_spec_capabilities, &spec);
		return r < 0 ? r : comet_block_read_typed(report, &spec, true);
	case FAMILY_SEED:
		manifest->dialect = COMET_DIALECT_SEED;
		r = comet_seed_read_grants(report, node);
		return r < 0 ? r : comet_block_read_shared(report, go);
	case FAMILY_NONE:
	case FAMILY_GO:
	case FAMILY_UNKNOWN:
	case _FAMILY_MAX:
		break;
	}
	manifest->dialect = COMET_DIALECT_GO;
	return comet_block_read_typed(report, go, false);
}

static int read_family(struct comet_report *report, const struct comet_node *node,
		       const struct comet_value *go, enum family family)
{
	int r = read_words(report, node, go, family);

	report->manifest->block = comet_report_locate(report, node);
	return r < 0 ? r : comet_block_read_serve(report, node);
}

/* In upstream's own words, where nothing else has said yet that it reads less. */
static int warn_serve(struct comet_report *report, const struct comet_map *map)
{
	const struct comet_pair *serve = comet_map_find(map, "serve");

	if (!serve)
		return 0;
	return comet_report_warn(
		report, serve->key,
		"only Comet reads \"serve\": upstream does not know it, and holds no agent to it");
}

int comet_block_read(struct comet_report *report, const struct comet_value *go)
{
	const struct comet_node *first;
	enum family family;
	struct comet_map map;
	bool whole;
	int r;

	r = comet_grant_check_whole(report, go->node, &whole);
	if (r < 0 || !whole)
		return r;
	r = comet_map_read(report, go->node, &map);
	if (r == 0)
		r = find_family(report, &map, &family, &first);
	if (r < 0)
		return r;
	if (family != FAMILY_SPEC && family != FAMILY_SEED) {
		r = warn_serve(report, &map);
		return r < 0 ? r : read_family(report, go->node, go, family);
	}

	r = warn_deny_all(report, first);
	if (r < 0)
		return r;
	/* Upstream has no opinion on the keys that it does not know, so faults there are errors. */
	report->upstream_accepts = false;
	r = read_family(report, go->node, go, family);
	report->upstream_accepts = true;
	return r;
}

int comet_block_read_file(struct comet_report *report, const struct comet_node *root)
{
	const struct comet_pair *wrapped;
	const struct comet_node *first;
	struct comet_value go;
	enum family family;
	struct comet_map map;
	bool whole;
	int r;

	r = comet_map_read(report, root, &map);
	if (r < 0)
		return r;
	wrapped = comet_map_find(&map, "capabilities");
	if (wrapped && map.n_pairs == 1) {
		root = comet_node_target(wrapped->value);
		if (comet_node_is_null(root))
			return 0;
		r = comet_grant_check_whole(report, wrapped->value, &whole);
		if (r == 0)
			r = comet_map_read(report, root, &map);
		if (r < 0)
			return r;
	}
	r = find_family(report, &map, &family, &first);
	if (r == 0)
		r = decode_block(report, root, &comet_upstream_capabilities, &go);
	if (r == 0)
		r = comet_report_warn(
			report, root,
			"upstream does not read capabilities.yml: to it the pack declares nothing");
	return r < 0 ? r : read_family(report, root, &go, family);
}
