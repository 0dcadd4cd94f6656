/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which objects do a policy's paths mean? Paths as text in, O_PATH descriptors out, opened in the
 * mount namespace in which they are meant; nothing here asks the kernel's BPF side.
 */
#ifndef COMET_OBJECTS_H
#define COMET_OBJECTS_H

#include <stdint.h>
#include <sys/types.h>

#include "manifest/policy.h"
#include "user/enforcer.h"

/* A directory (or another object) with rights of its own, or on the way to one. */
struct comet_node {
	int fd;           /* O_PATH; owned */
	uint32_t subtree; /* COMET_FS_* */
	uint32_t self;
	uint32_t flags; /* COMET_OBJECT_* */
	uint32_t rule;  /* index of the first path rule that meant it */
};

/* Rights on a name in a directory, there or not. */
struct comet_named {
	size_t node; /* index of the directory */
	char *name;
	uint32_t subtree;
	uint32_t self;
	int fd; /* the object that stands there now, for COMET_FS_EXEC; -1 else; owned */
	uint32_t rule;
};

struct comet_objects {
	struct comet_node *nodes;
	size_t n_nodes;
	struct comet_named *names;
	size_t n_names;
	void *node_index; /* tsearch(3) trees */
	void *name_index;
};

/*
 * Resolves every path rule of policy. A path that is not there is told through target->warn
 * unless its rule is optional; its last component alone missing is a rule on that name. Fails
 * only for want of memory, descriptors or rights.
 */
int comet_objects_resolve(const struct comet_policy *policy,
			  const struct comet_policy_target *target, struct comet_objects *objects,
			  struct comet_error *error);

void comet_objects_free(struct comet_objects *objects);

/* Takes fd. The index of the node, found or made, or a negative errno. */
ssize_t comet_objects_add_node(struct comet_objects *objects, int fd);
/* The entry for a name in a directory, found or made: its index or a negative errno. */
ssize_t comet_objects_add_name(struct comet_objects *objects, size_t node, const char *name);
/* The node of what fd refers to, or NULL. */
const struct comet_node *comet_objects_find_node(const struct comet_objects *objects, int fd);

#endif /* COMET_OBJECTS_H */
