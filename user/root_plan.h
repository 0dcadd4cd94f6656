/* SPDX-License-Identifier: Apache-2.0 */
/* What is to stand where in a root of the run's own (isolation container)? */
#ifndef COMET_ROOT_PLAN_H
#define COMET_ROOT_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "manifest/error.h"
#include "manifest/policy.h"
#include "user/enforcer.h"

enum comet_place_kind {
	COMET_PLACE_WAY,   /* a directory on the way, made anew */
	COMET_PLACE_LINK,  /* a copy of a symbolic link */
	COMET_PLACE_SHOWN, /* the host's object itself, with all below it */
	COMET_PLACE_PROC,  /* the run's own /proc */
	COMET_PLACE_PTS,   /* pseudo terminals of the run's own */
	COMET_PLACE_DECOY_DIRECTORY,
	COMET_PLACE_DECOY_FILE,
	COMET_PLACE_DECOY_SOCKET,
};

struct comet_place {
	char *name;
	enum comet_place_kind kind;
	bool passed;   /* WAY: on the way to what the policy grants, not only to a decoy */
	bool meant;    /* itself the end of a rule's path */
	bool base;     /* SHOWN: for the base set alone */
	bool writable; /* SHOWN: the manifest declares it for writing */
	char *target;  /* LINK: its text; SHOWN: path of the object if it is another; or NULL */
	struct comet_place *parent;
	struct comet_place **children; /* by name */
	size_t n_children;
};

/* A root without anything in it; NULL: no memory. */
struct comet_place *comet_place_new_root(void);
void comet_place_free(struct comet_place *place);
/* Its path from the root, malloc'ed; NULL: no memory. */
char *comet_place_path(const struct comet_place *place);
/* Is it, or is it below, what is not made of further places: shown, mounted, no directory? */
bool comet_place_is_inside(const struct comet_place *place);

/* The child of that name, or NULL. */
struct comet_place *comet_place_find(const struct comet_place *place, const char *name);
/* The same, made as a WAY where there is none; NULL: no memory. */
struct comet_place *comet_place_add(struct comet_place *place, const char *name);

/*
 * Walks to an absolute path by names, following the plan's own links, and makes what is missing on
 * the way; stops where it gets inside, see above. NULL with errno.
 */
struct comet_place *comet_place_reach(struct comet_place *root, const char *path);

/*
 * What policy grants, as it lies in the mount namespace of target now, whose warn is told what is
 * not there. Rules that would let the agent make what is missing, in a place that will not be the
 * host's, lose their rights: what it wrote there would be lost. private_tmp: its /tmp is the run's
 * own. NULL with a sentence.
 */
struct comet_place *comet_root_plan(struct comet_policy *policy,
				    const struct comet_policy_target *target, bool private_tmp,
				    struct comet_error *error);

#endif /* COMET_ROOT_PLAN_H */
