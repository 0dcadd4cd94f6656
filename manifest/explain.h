/* SPDX-License-Identifier: Apache-2.0 */
/* What does a policy grant, in words, and by which line? */
#ifndef COMET_EXPLAIN_H
#define COMET_EXPLAIN_H

#include <stdbool.h>
#include <stdio.h>

#include "manifest/error.h"
#include "manifest/manifest.h"
#include "manifest/policy.h"

/* The answer to one question. Strings are owned; NULL where there is nothing to say. */
struct comet_answer {
	enum comet_surface surface;
	char *resource; /* as understood: the path cleaned, the host in lower case */
	bool allowed;
	char *matched;                  /* the entry that decides; NULL: no match */
	enum comet_source source;       /* of matched */
	struct comet_location location; /* of matched; file belongs to the manifest */
	uint32_t mark;         /* refused read: COMET_FS_QUIET or _CANARY of the nearest mark */
	char *note;            /* sentences on how the answer came about */
	char *fix;             /* refused: the YAML that would allow it */
	const char *unfixable; /* refused: why there is no such YAML; static */
};

/*
 * Is the access allowed? surface is fs.read, fs.write, egress, exec or serve (or the manifest's key
 * for it), resource a path, host:port/protocol, a program or port/protocol. Paths are asked for as
 * text and, where they exist here, as what they lead to. -EINVAL with a sentence for a question
 * that has no answer, -ENOMEM; the answer is then unchanged. To be cleared with
 * comet_answer_clear().
 */
int comet_explain_query(const struct comet_manifest *manifest, const struct comet_policy *policy,
			const char *surface, const char *resource, struct comet_answer *answer,
			struct comet_error *error);

void comet_answer_clear(struct comet_answer *answer);

/* The manual's word for a surface that can be asked about: "fs.read"; NULL for another. */
const char *comet_explain_surface(enum comet_surface surface);

/* Prints for a reader, in colour only on a terminal and where they are wanted. */
void comet_explain_print(FILE *out, const struct comet_manifest *manifest,
			 const struct comet_policy *policy);
void comet_answer_print(FILE *out, const struct comet_manifest *manifest,
			const struct comet_answer *answer);

#endif /* COMET_EXPLAIN_H */
