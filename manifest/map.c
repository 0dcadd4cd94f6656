// SPDX-License-Identifier: Apache-2.0
/* Which keys does a map have, its merges included? */
#include <string.h>

#include "manifest/map.h"
#include "manifest/scalar.h"

#define MERGES_MAX 100 /* maps merged into one, and how deep */

struct reading {
	struct comet_report *report;
	struct comet_map *map;
	unsigned int n_merges;
};

static int read_pairs(struct reading *reading, const struct comet_node *node, bool own);

static const struct comet_pair *find(const struct comet_map *map, const char *text, size_t size)
{
	for (size_t i = 0; i < map->n_pairs; i++)
		if (map->pairs[i].key->size == size &&
		    memcmp(map->pairs[i].key->text, text, size) == 0)
			return &map->pairs[i];
	return NULL;
}

static int merge_from(struct reading *reading, const struct comet_node *from)
{
	const struct comet_node *target = comet_node_target(from);
	char found[120];

	if (++reading->n_merges > MERGES_MAX)
		return comet_report_fail(reading->report, from,
					 "expected at most %d merged maps, found more", MERGES_MAX);
	if (target->kind != COMET_NODE_MAPPING)
		return comet_report_fail(reading->report, from,
					 "expected a map behind the merge key \"<<\", found %s",
					 comet_node_describe(from, found, sizeof(found)));
	return read_pairs(reading, target, false);
}

static int merge(struct reading *reading, const struct comet_node *from)
{
	if (from->kind != COMET_NODE_SEQUENCE)
		return merge_from(reading, from);
	for (size_t i = 0; i < from->n_children; i++) {
		int r = merge_from(reading, from->children[i]);

		if (r < 0)
			return r;
	}
	return 0;
}

static int add_pair(struct reading *reading, const struct comet_node *key,
		    const struct comet_node *value, bool own)
{
	const struct comet_node *target = comet_node_target(key);
	struct comet_map *map = reading->map;
	const struct comet_pair *twin;
	char text[200];

	if (target->kind != COMET_NODE_SCALAR)
		return comet_report_fail(reading->report, key, "expected a key, found %s",
					 comet_node_describe(key, text, sizeof(text)));
	twin = find(map, target->text, target->size);
	if (twin && own)
		return comet_report_fail(
			reading->report, key,
			"expected each key once, found \"%s\" again (it stands at line %u too)",
			comet_quote(target->text, target->size, text, sizeof(text)),
			twin->key->line);
	if (twin)
		return 0;
	if (map->n_pairs == COMET_MAP_KEYS_MAX)
		return comet_report_fail(reading->report, key,
					 "expected at most %d keys in a map, found more",
					 COMET_MAP_KEYS_MAX);
	map->pairs[map->n_pairs].key = target;
	map->pairs[map->n_pairs].value = value;
	map->n_pairs++;
	return 0;
}

static int read_pairs(struct reading *reading, const struct comet_node *node, bool own)
{
	const struct comet_node *from = NULL;
	int r;

	for (size_t i = 0; i < node->n_children; i += 2) {
		if (comet_node_is_merge(node->children[i])) {
			from = node->children[i + 1];
			continue;
		}
		r = add_pair(reading, node->children[i], node->children[i + 1], own);
		if (r < 0)
			return r;
	}
	return from ? merge(reading, from) : 0;
}

int comet_map_read(struct comet_report *report, const struct comet_node *node,
		   struct comet_map *map)
{
	/* Merges make the number of pairs unknown before they are read. */
	struct comet_pair pairs[COMET_MAP_KEYS_MAX];
	struct reading reading = { .report = report, .map = map };
	const struct comet_node *target = comet_node_target(node);
	char found[120];
	int r;

	memset(map, 0, sizeof(*map));
	map->node = node;
	map->pairs = pairs;
	if (target->kind != COMET_NODE_MAPPING)
		return comet_report_fail(report, node, "expected a map, found %s",
					 comet_node_describe(node, found, sizeof(found)));
	r = read_pairs(&reading, target, true);
	if (r < 0)
		return r;
	map->pairs = comet_arena_array(report->arena, map->n_pairs, sizeof(*map->pairs));
	if (!map->pairs)
		return comet_report_no_memory(report);
	if (map->n_pairs)
		memcpy(map->pairs, pairs, map->n_pairs * sizeof(*map->pairs));
	return 0;
}

const struct comet_pair *comet_map_find(const struct comet_map *map, const char *key)
{
	return find(map, key, strlen(key));
}
