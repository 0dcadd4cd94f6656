/* SPDX-License-Identifier: Apache-2.0 */
/* What does the agent's process do before it becomes the agent? */
#ifndef COMET_AGENT_H
#define COMET_AGENT_H

#include "user/init.h"

/*
 * Runs in the child that pid 1 forked: process group, terminal, directory, output, user, rights,
 * signals, then the exec. Each failure is reported as a message; never returns.
 */
void comet_agent_main(const struct comet_init *init, const char *program, const char *directory)
	__attribute__((noreturn));

#endif /* COMET_AGENT_H */
