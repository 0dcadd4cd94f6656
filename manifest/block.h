/* SPDX-License-Identifier: Apache-2.0 */
/* What does a capabilities block grant, in whichever of the three dialects it is written? */
#ifndef COMET_BLOCK_H
#define COMET_BLOCK_H

#include "manifest/decode.h"
#include "manifest/report.h"

#define COMET_BUDGET_MAX 2147483647 /* seconds that a run may be given */

/*
 * Reads the block of a soyapack.v0 manifest. go is what upstream makes of it: the same node,
 * decoded in the words of the code. Sets the dialect and warns where upstream would read less.
 */
int comet_block_read(struct comet_report *report, const struct comet_value *go);

/* The same for the block in a file of its own, which upstream does not read at all. */
int comet_block_read_file(struct comet_report *report, const struct comet_node *root);

/*
 * Reads a whole soyapack.v0 manifest: upstream's verdict, then the sandbox and the block.
 * *has_block tells whether there was one.
 */
int comet_soyapack_read(struct comet_report *report, const struct comet_document *document,
			bool *has_block);

/* The same for a manifest in the seed's dialect, whose block is required. */
int comet_seed_read(struct comet_report *report, const struct comet_document *document);

/* The grants of a decoded block, and the keys that all dialects share; is_spec: dotted keys. */
int comet_block_read_typed(struct comet_report *report, const struct comet_value *block,
			   bool is_spec);
/* `serve`, which only Comet reads; in the words of the dialect that was found before. */
int comet_block_read_serve(struct comet_report *report, const struct comet_node *block);
/* Only the keys that all dialects share: exec, resources, determinism_tier, ... */
int comet_block_read_shared(struct comet_report *report, const struct comet_value *block);

/* Speaks up where the file goes on after the document that is read. */
int comet_report_rest(struct comet_report *report, const struct comet_document *document);

/* egress and fs of the seed's dialect; other keys of the block are left alone. */
int comet_seed_read_grants(struct comet_report *report, const struct comet_node *block);

#endif /* COMET_BLOCK_H */
