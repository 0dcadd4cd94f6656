/* SPDX-License-Identifier: Apache-2.0 */
/* Can this entry be enforced exactly? Then it goes into the manifest; else it is refused. */
#ifndef COMET_GRANT_H
#define COMET_GRANT_H

#include <stdint.h>

#include "manifest/report.h"

/*
 * All return 0 when the entry was granted, or refused where upstream accepts the manifest; else
 * a negative errno. node is the entry, for its place; text has size bytes and may hold NUL.
 */
int comet_grant_egress(struct comet_report *report, const struct comet_node *node, const char *host,
		       size_t size, unsigned int port, enum comet_protocol protocol);
int comet_grant_read(struct comet_report *report, const struct comet_node *node, const char *text,
		     size_t size);
int comet_grant_write(struct comet_report *report, const struct comet_node *node, const char *text,
		      size_t size);
int comet_grant_exec(struct comet_report *report, const struct comet_node *node, const char *text,
		     size_t size);
int comet_grant_serve(struct comet_report *report, const struct comet_node *node,
		      const struct comet_port *port);

/* Refuses a list that is longer than a policy can hold; *fits tells whether to go on. */
int comet_grant_check_count(struct comet_report *report, const struct comet_node *list,
			    size_t count, bool *fits);
/* Refuses a word that the end of the file may have cut; *whole tells whether to go on. */
int comet_grant_check_whole(struct comet_report *report, const struct comet_node *word,
			    bool *whole);

#endif /* COMET_GRANT_H */
