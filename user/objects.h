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

/* What became of a rule. */
enum comet_outcome {
	COMET_OUTCOME_OPEN, /* not walked to its end */
	COMET_OUTCOME_DONE,
	COMET_OUTCOME_MISSING,
	COMET_OUTCOME_BY_NAME,   /* the last component is missing: granted once it is made there */
	COMET_OUTCOME_UNTRUSTED, /* past a link that may not be followed */
	COMET_OUTCOME_HIDDEN,    /* missing, and cannot be made in a root of the run's own */
};

struct comet_objects {
	struct comet_node *nodes;
	size_t n_nodes;
	struct comet_named *names;
	size_t n_names;
	unsigned char *outcomes; /* enum comet_outcome of each path rule */
	void *node_index;        /* tsearch(3) trees */
	void *name_index;
};

enum comet_trace_kind {
	COMET_TRACE_PASS,  /* what was told before does not count */
	COMET_TRACE_RULE,  /* the walk of a rule's path begins */
	COMET_TRACE_ROOT,  /* it stands at the root */
	COMET_TRACE_ENTER, /* it goes into the directory `name`, ".." too */
	COMET_TRACE_LINK,  /* it follows the link `name` to `target` */
	COMET_TRACE_FILE,  /* it ends at `name`, which is no directory */
	COMET_TRACE_HERE,  /* it ends in the directory where it stands */
	COMET_TRACE_NAME,  /* it ends at `name`, which does not exist */
};

struct comet_trace {
	enum comet_trace_kind kind;
	uint32_t rule;
	const char *name;
	const char *target;
};

/* Is told of every step; what it returns, if not 0, is the resolution's failure. */
struct comet_tracer {
	int (*trace)(void *context, const struct comet_trace *trace);
	void *context;
};

/*
 * Resolves every path rule of policy; a path whose last component alone is missing is a rule on
 * that name. Fails only for want of memory, descriptors or rights. tracer may be NULL.
 */
int comet_objects_resolve(const struct comet_policy *policy,
			  const struct comet_policy_target *target,
			  const struct comet_tracer *tracer, struct comet_objects *objects,
			  struct comet_error *error);

/* Tells through target->warn which paths were not found, but for optional rules. */
void comet_objects_warn(const struct comet_policy *policy, const struct comet_objects *objects,
			const struct comet_policy_target *target);

void comet_objects_free(struct comet_objects *objects);

/* Takes fd. The index of the node, found or made, or a negative errno. */
ssize_t comet_objects_add_node(struct comet_objects *objects, int fd);
/* The entry for a name in a directory, found or made: its index or a negative errno. */
ssize_t comet_objects_add_name(struct comet_objects *objects, size_t node, const char *name);
/* The node of what fd refers to, or NULL. */
const struct comet_node *comet_objects_find_node(const struct comet_objects *objects, int fd);

#endif /* COMET_OBJECTS_H */
