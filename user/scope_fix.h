/* SPDX-License-Identifier: Apache-2.0 */
/* What would have allowed it? The words of an event's `fix`. */
#ifndef COMET_SCOPE_FIX_H
#define COMET_SCOPE_FIX_H

#include <stdbool.h>

#include "user/scope.h"

/*
 * The YAML that would have allowed what v reports, in the dialect of the run's manifest, or, where
 * no manifest can, one sentence that says why. is_yaml (may be NULL) tells which. malloc'ed; NULL:
 * no memory.
 */
char *comet_scope_fix(const struct comet_scope_run *run, const struct comet_violation *v,
		      bool *is_yaml);

#endif /* COMET_SCOPE_FIX_H */
