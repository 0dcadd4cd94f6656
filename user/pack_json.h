/* SPDX-License-Identifier: Apache-2.0 */
/* What do the answers of `comet pack` look like as JSON? */
#ifndef COMET_PACK_JSON_H
#define COMET_PACK_JSON_H

#include <jansson.h>

#include "manifest/explain.h"

/* All return a new reference, NULL: no memory. Bytes that are not UTF-8 become U+FFFD. */

/*
 * manifest NULL: it did not load. fault NULL: it is valid. refused NULL: and `comet run` takes it,
 * else why not.
 */
json_t *comet_pack_json_validate(const struct comet_manifest *manifest, const char *fault,
				 const char *refused);

/* manifest and policy as comet_explain_print() shows them; home NULL: unknown. */
json_t *comet_pack_json_explain(const struct comet_manifest *manifest,
				const struct comet_policy *policy, const char *home);

json_t *comet_pack_json_answer(const struct comet_answer *answer);

#endif /* COMET_PACK_JSON_H */
