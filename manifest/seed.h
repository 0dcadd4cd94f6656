/* SPDX-License-Identifier: Apache-2.0 */
/* What do the files that read the seed's dialect share? */
#ifndef COMET_SEED_H
#define COMET_SEED_H

#include "manifest/report.h"

/* node must be text, quoted or not; what names it in the message. *text follows an alias. */
int comet_seed_text(struct comet_report *report, const struct comet_node *node, const char *what,
		    const struct comet_node **text);

/* Fails with a hint unless key is one of the known; where says which map this is. */
int comet_seed_known_key(struct comet_report *report, const struct comet_node *key,
			 const char *where, const char *const *known, size_t n_known);

#endif /* COMET_SEED_H */
