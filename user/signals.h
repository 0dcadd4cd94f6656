/* SPDX-License-Identifier: Apache-2.0 */
/* Which signals does a run take over, and how does the agent get them back as they were? */
#ifndef COMET_SIGNALS_H
#define COMET_SIGNALS_H

#include <signal.h>

struct comet_signals {
	sigset_t mask; /* as comet was started with */
	struct sigaction child;
	struct sigaction pipe;
};

/*
 * Blocks what the supervisor reads from its signalfd, and ignores SIGPIPE; for the rest of this
 * process's life, so that no signal cuts its last words short.
 */
void comet_signals_take(struct comet_signals *before);
/* For the agent, before its exec. */
void comet_signals_restore(const struct comet_signals *before);

/* What the supervisor's signalfd listens to. */
void comet_signals_listened(sigset_t *set);

/* A signal that would have ended comet and that is waiting to be read; 0: none. */
int comet_signals_pending(void);

/*
 * Stops this process by sig (SIGTSTP, SIGTTIN or SIGTTOU), as a shell with job control expects it
 * from a job. Returns when it goes on, at once where nobody could continue it.
 */
void comet_signals_stop(int sig);

#endif /* COMET_SIGNALS_H */
