/* SPDX-License-Identifier: Apache-2.0 */
/* Which object does one path mean? Walks it by hand, one component at a time. */
#ifndef COMET_PATH_WALK_H
#define COMET_PATH_WALK_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "manifest/policy.h"
#include "user/objects.h"

/* A symbolic link that was met: in which directory, and which. */
struct comet_link {
	size_t node;
	dev_t dev;
	ino_t ino;
};

struct comet_links {
	struct comet_link *all; /* malloc'ed; zeroed is empty */
	size_t n;
};

int comet_links_add(struct comet_links *links, const struct comet_link *link);

enum comet_step {
	COMET_STEP_ON, /* the walk goes on; never its end */
	COMET_STEP_DONE,
	COMET_STEP_MISSING,   /* grants nothing */
	COMET_STEP_BY_NAME,   /* not there: granted to what will have that name */
	COMET_STEP_UNTRUSTED, /* through a link that is not to be followed: grants nothing */
};

/* State of one path's walk; the caller fills the first part. */
struct comet_path_walk {
	int root;                          /* the directory that "/" means */
	struct comet_objects *objects;     /* gets nodes and names */
	struct comet_links *followed;      /* gets the links on the way */
	const struct comet_links *refused; /* links that must not be followed */
	const struct comet_path_rule *rule;
	uint32_t index; /* of the rule in its policy */

	size_t at;               /* node of the directory that was reached */
	char rest[2 * PATH_MAX]; /* what is still to be walked */
	int links;
};

/* How it ended (enum comet_step), or a negative errno for want of memory, descriptors or rights. */
int comet_path_walk(struct comet_path_walk *walk);

#endif /* COMET_PATH_WALK_H */
