/* SPDX-License-Identifier: Apache-2.0 */
/* Which rule decides on one path, destination, program or port? The parts of explain.h. */
#ifndef COMET_ASK_H
#define COMET_ASK_H

#include "manifest/explain.h"

/*
 * Each fills everything of an answer but surface (given), fix and unfixable. -EINVAL with a
 * sentence, -ENOMEM; the answer is to be cleared in each case.
 */
int comet_ask_path(const struct comet_policy *policy, const char *path, struct comet_answer *answer,
		   struct comet_error *error);
int comet_ask_egress(const struct comet_policy *policy, const char *target,
		     struct comet_answer *answer, struct comet_error *error);
int comet_ask_exec(const struct comet_policy *policy, const char *program,
		   struct comet_answer *answer, struct comet_error *error);
int comet_ask_serve(const struct comet_policy *policy, const char *port,
		    struct comet_answer *answer, struct comet_error *error);

/* Appends a sentence to the answer's note. 0 or -ENOMEM. */
int comet_answer_add_note(struct comet_answer *answer, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Names the rule that decides. 0 or -ENOMEM. */
int comet_answer_set_match(struct comet_answer *answer, const char *text, enum comet_source source,
			   const struct comet_location *location);

/*
 * What path leads to: its longest part that exists here with all links followed, then the rest.
 * NULL with errno: ENOMEM, or what kept it from being looked at. The caller frees.
 */
char *comet_path_resolve(const char *path);

#endif /* COMET_ASK_H */
