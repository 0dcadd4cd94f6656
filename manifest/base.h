/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does every run get without asking, which refused reads are ordinary probes, and which are
 * never? The base set, the quiet set and the canaries, as tables that the manual and `explain`
 * print as they stand.
 */
#ifndef COMET_BASE_SET_H
#define COMET_BASE_SET_H

#include <stddef.h>
#include <stdint.h>

#include "manifest/policy.h"

enum comet_base_scope {
	COMET_BASE_TREE, /* the object and what is below it */
	COMET_BASE_SELF, /* the object alone */
	COMET_BASE_PROC, /* the object alone, and N/ below it: the run's own procfs */
};

/*
 * access COMET_FS_STAT alone stands for a symbolic link that must not be followed when the rule is
 * resolved (/proc/self would be the resolver's own process): the grant is on the link. Every other
 * row is about what the path leads to, and about the link.
 */
struct comet_base_entry {
	const char *path; /* absolute; "~" first stands for the agent's home */
	const char *why;
	uint32_t access; /* COMET_FS_* */
	enum comet_base_scope scope;
};

/* The table of COMET_SOURCE_BASE, _QUIET or _CANARY; NULL and *n = 0 for another source. */
const struct comet_base_entry *comet_base_table(enum comet_source source, size_t *n);

#endif /* COMET_BASE_SET_H */
