/* SPDX-License-Identifier: Apache-2.0 */
/* Which file is the command, and which files does it take to execute it? */
#ifndef COMET_PROGRAMS_H
#define COMET_PROGRAMS_H

#include "manifest/error.h"
#include "manifest/policy.h"
#include "user/account.h"
#include "user/enforcer.h"

/* Where and as whom programs are looked for: as the agent would find them in the run. */
struct comet_programs {
	int root;              /* O_PATH descriptor of the run's root directory */
	const char *directory; /* where the agent starts */
	const char *path;      /* its PATH */
	const struct comet_account *account;
	comet_warn_fn warn; /* may be NULL */
	void *warn_context;
};

/*
 * Finds word as execvp(3) does: with a slash it is a path, relative to directory; without one it is
 * looked for in path. *found is the absolute path to execute, malloc'ed. 0, -ENOENT, -EACCES
 * (there, but not executable), or another negative errno.
 */
int comet_programs_find(const struct comet_programs *programs, const char *word, char **found);

/*
 * Adds to policy the right to execute command and the manifest's `exec` entries, each with the
 * interpreters that its first line names (`#!`, also through `env NAME`). *program is what to
 * execute for command, malloc'ed. An entry that is not found is warned of and grants nothing. 0,
 * -ENOENT or -EACCES for a command that is not there or not executable, -EINVAL when the manifest
 * declares another file of the same name; each with a sentence.
 */
int comet_programs_grant(const struct comet_programs *programs, const char *command,
			 struct comet_policy *policy, char **program, struct comet_error *error);

/*
 * The interpreter that a first line `#!...` names. line is the start of a file, len bytes of it.
 * *argument gets the rest of the line, empty when there is none. Both malloc'ed. Returns whether
 * there is one.
 */
bool comet_programs_shebang(const char *line, size_t len, char **interpreter, char **argument);

#endif /* COMET_PROGRAMS_H */
