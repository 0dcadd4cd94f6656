// SPDX-License-Identifier: Apache-2.0
/* Which signals does a run take over, and how does the agent get them back as they were? */
#define _GNU_SOURCE 1

#include "user/signals.h"

#include "user/base.h"

static const int listened[] = {
	SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGWINCH, SIGTSTP, SIGCONT,
};

static const int ending[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

void comet_signals_listened(sigset_t *set)
{
	size_t i;

	sigemptyset(set);
	for (i = 0; i < COMET_ARRAY_SIZE(listened); i++)
		sigaddset(set, listened[i]);
}

void comet_signals_take(struct comet_signals *before)
{
	struct sigaction action = { .sa_handler = SIG_DFL };
	sigset_t set;

	comet_signals_listened(&set);
	/* Blocked, a background process may set the terminal's group and write its last words. */
	sigaddset(&set, SIGTTOU);
	sigprocmask(SIG_BLOCK, &set, &before->mask);
	/* Who ignores SIGCHLD gets no exit status of its children. */
	sigaction(SIGCHLD, &action, &before->child);
	action.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &action, &before->pipe);
}

void comet_signals_restore(const struct comet_signals *before)
{
	sigaction(SIGCHLD, &before->child, NULL);
	sigaction(SIGPIPE, &before->pipe, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

int comet_signals_pending(void)
{
	sigset_t set;
	size_t i;

	sigpending(&set);
	for (i = 0; i < COMET_ARRAY_SIZE(ending); i++)
		if (sigismember(&set, ending[i]))
			return ending[i];
	return 0;
}

void comet_signals_stop(int sig)
{
	struct sigaction action = { .sa_handler = SIG_DFL }, old;
	sigset_t set, mask;

	sigemptyset(&set);
	sigaddset(&set, sig);
	sigaction(sig, &action, &old);
	raise(sig);
	/* Stops here; where the process group is orphaned the kernel drops the signal instead. */
	sigprocmask(SIG_UNBLOCK, &set, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(sig, &old, NULL);
}
