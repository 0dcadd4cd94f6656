/* SPDX-License-Identifier: Apache-2.0 */
/* Where does one path of a policy lead? Internal to the resolution of a policy's paths. */
#ifndef COMET_RESOLVE_WALK_H
#define COMET_RESOLVE_WALK_H

#include <limits.h>
#include <sys/types.h>

#include "user/objects.h"

/* A symbolic link that was met: where, and which. */
struct comet_link {
	size_t node;
	dev_t dev;
	ino_t ino;
};

struct comet_links {
	struct comet_link *all;
	size_t n;
};

/* 0 or -ENOMEM. */
int comet_links_add(struct comet_links *links, const struct comet_link *link);

/* State of one path's walk; what a caller sets comes first. */
struct comet_path_walk {
	struct comet_objects *objects;
	struct comet_links *followed;
	const struct comet_links *refused;
	const struct comet_policy_target *target;
	const struct comet_tracer *tracer; /* NULL: nobody wants to know */
	int root;
	const struct comet_path_rule *rule;
	uint32_t index; /* of the rule */

	size_t at;               /* node of the directory that was reached */
	char rest[2 * PATH_MAX]; /* what is still to be walked */
	int links;
};

/* Walks the rule's path and grants what it leads to. An enum comet_outcome, or a negative errno. */
int comet_path_walk(struct comet_path_walk *walk);

#endif /* COMET_RESOLVE_WALK_H */
