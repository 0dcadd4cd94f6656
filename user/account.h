/* SPDX-License-Identifier: Apache-2.0 */
/* As whom does the agent run, and with which environment? */
#ifndef COMET_ACCOUNT_H
#define COMET_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "manifest/error.h"

#define COMET_DEFAULT_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

struct comet_account {
	uid_t uid;
	gid_t gid;
	gid_t *groups; /* supplementary ones; owned */
	size_t n_groups;
	char *name, *home, *shell; /* owned; NULL where the user database does not tell */
	bool other;                /* not the user that comet itself runs as */
};

/*
 * user is NAME|UID[:GROUP|GID]; NULL: the real user of this process, or where that is root under
 * sudo, the one behind it. 0, or -EINVAL with a sentence.
 */
int comet_account_find(const char *user, struct comet_account *account, struct comet_error *error);
void comet_account_free(struct comet_account *account);

/*
 * The agent's environment: host (NULL-terminated), or nothing of it with clear; HOME, USER, LOGNAME
 * and SHELL of account where it is another user's; a PATH in any case; then the n entries of set.
 * malloc'ed as a whole, NULL-terminated; NULL: no memory.
 */
char **comet_environment_make(const struct comet_account *account, char *const *host, bool clear,
			      const char *const *set, size_t n);
/* Changes name to value, NULL: removes it; does nothing where it is not set. 0 or -ENOMEM. */
int comet_environment_replace(char **environment, const char *name, const char *value);
void comet_environment_free(char **environment);

/* The value of name, or NULL. */
const char *comet_environment_get(char *const *environment, const char *name);

/* May account execute a file of this mode and owner, by the mode bits? */
bool comet_account_may_execute(const struct comet_account *account, uid_t uid, gid_t gid,
			       mode_t mode);

#endif /* COMET_ACCOUNT_H */
