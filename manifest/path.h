/* SPDX-License-Identifier: Apache-2.0 */
/* How do two paths relate, as text? */
#ifndef COMET_PATH_H
#define COMET_PATH_H

#include <stdbool.h>

/*
 * Folds "//", "." and ".." of an absolute path; ".." at the root stays there, a trailing slash
 * goes. NULL with errno EINVAL for a path that is not absolute, or ENOMEM. The caller frees.
 */
char *comet_path_clean(const char *path);

/* Is path the same as prefix or below it? Both cleaned; /a covers /a/b, not /ab. */
bool comet_path_covers(const char *prefix, const char *path);

#endif /* COMET_PATH_H */
