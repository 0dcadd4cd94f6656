/* SPDX-License-Identifier: Apache-2.0 */
/* Which keys does a map have, its merges included? */
#ifndef COMET_MAP_H
#define COMET_MAP_H

#include "manifest/report.h"

#define COMET_MAP_KEYS_MAX 1000

struct comet_pair {
	const struct comet_node *key;   /* scalar, aliases followed */
	const struct comet_node *value; /* as written: may be an alias */
};

struct comet_map {
	const struct comet_node *node;
	struct comet_pair *pairs;
	size_t n_pairs;
};

/*
 * Lists the pairs of a map node (an alias is followed): its own first, in order, then what merges
 * add. Fails on keys that are no scalars, on a key that stands twice, and on too many of them.
 */
int comet_map_read(struct comet_report *report, const struct comet_node *node,
		   struct comet_map *map);

/* The pair with that key, NULL if there is none. */
const struct comet_pair *comet_map_find(const struct comet_map *map, const char *key);

static inline bool comet_node_is(const struct comet_node *node, const char *text)
{
	return comet_bytes_are(node->text, node->size, text);
}

#endif /* COMET_MAP_H */
