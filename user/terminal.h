/* SPDX-License-Identifier: Apache-2.0 */
/* Who may read from the terminal, and how is it left behind? */
#ifndef COMET_TERMINAL_H
#define COMET_TERMINAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

/*
 * The agent is a job of its own, as under a shell. It gets the terminal at once where its input and
 * output are the terminal (then it may be a shell or an editor); in a pipeline or in the background
 * the terminal stays with comet's own group until the agent asks for it.
 */
struct comet_terminal {
	int fd;               /* the controlling terminal, -1: none */
	bool eager;           /* the agent gets it at its start */
	bool given;           /* it is the agent's at the moment */
	struct termios modes; /* as found, and so are these */
	int discipline;
	int exclusive;
};

void comet_terminal_open(struct comet_terminal *terminal);

/* Is comet's own process group in the foreground? */
bool comet_terminal_is_ours(const struct comet_terminal *terminal);

/* Makes group the foreground group. */
void comet_terminal_give(struct comet_terminal *terminal, pid_t group);

/* After the run: back to comet's group; modes too where the agent could not restore them. */
void comet_terminal_close(struct comet_terminal *terminal, bool reset_modes);

#endif /* COMET_TERMINAL_H */
