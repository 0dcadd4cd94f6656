/* SPDX-License-Identifier: Apache-2.0 */
/* What do the two halves of programs share? */
#ifndef COMET_PROGRAMS_INTERNAL_H
#define COMET_PROGRAMS_INTERNAL_H

#include "user/programs.h"

/* O_PATH descriptor of an absolute path in the run, or negative errno. */
int comet_programs_open(const struct comet_programs *programs, const char *path);

/* path, from the agent's directory where it is relative; malloc'ed, NULL: no memory. */
char *comet_programs_absolute(const struct comet_programs *programs, const char *path);

#endif /* COMET_PROGRAMS_INTERNAL_H */
