/* SPDX-License-Identifier: Apache-2.0 */
/* What does the run's pid 1 do? It mounts, starts the agent, reaps, passes signals on, reports. */
#ifndef COMET_INIT_H
#define COMET_INIT_H

#include <stdbool.h>

#include "user/account.h"
#include "user/mounts.h"
#include "user/signals.h"

/* What pid 1 is told at its birth; the rest comes in messages. */
struct comet_init {
	int control;        /* its end of the control pair */
	int terminal;       /* the controlling terminal, or -1 */
	bool foreground;    /* the agent takes the terminal at once */
	int output, errors; /* the agent's standard output and error; -1: comet's own */
	struct comet_mounts mounts;
	const struct comet_account *account;
	char *const *argv;
	char **environment; /* PWD is set to the directory at the start */
	const struct comet_signals *signals;
};

/*
 * Runs in the process that comet_sandbox_clone() made and never returns. Its end is the end of
 * every process of the run: the kernel sees to that.
 */
void comet_init_main(struct comet_init *init) __attribute__((noreturn));

#endif /* COMET_INIT_H */
