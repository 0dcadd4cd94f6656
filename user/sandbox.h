/* SPDX-License-Identifier: Apache-2.0 */
/* What does a process of the run get, keep and lose before anybody else's code runs in it? */
#ifndef COMET_SANDBOX_H
#define COMET_SANDBOX_H

#include <stdbool.h>
#include <sys/types.h>

#include "manifest/error.h"
#include "user/account.h"

/*
 * Makes the run's pid 1: in its own pid, ipc and mount namespaces and, from its first instruction,
 * in the cgroup of that descriptor. Returns 0 in the new process; in the caller its pid, with
 * *pidfd (close-on-exec) set; or a negative errno.
 */
pid_t comet_sandbox_clone(int cgroup, int *pidfd, struct comet_error *error);

/*
 * Renumbers the n descriptors behind fds to 3, 4, ... (-1 stays -1), close-on-exec, and closes
 * every other one above 2. 0 or negative errno.
 */
int comet_sandbox_keep(int *const fds[], size_t n);

/* For pid 1: the kernel's help that it dies with its parent and is not looked into. */
void comet_sandbox_bind_to_parent(void);

/*
 * A session keyring of the run's own: the caller's keys are not for the agent. 0 or negative errno;
 * a kernel without keyrings is no failure.
 */
int comet_sandbox_renew_keyring(void);

/* For pid 1, once the agent was forked: keeps only the right to signal what it looks after. */
int comet_sandbox_shed(void);

/*
 * For the agent, irrevocably: groups, user, capabilities, no_new_privs, no way to type into a
 * terminal and no keyrings. *step (a constant text) names what failed.
 */
int comet_sandbox_drop(const struct comet_account *account, const char **step);

#endif /* COMET_SANDBOX_H */
