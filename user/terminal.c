// SPDX-License-Identifier: Apache-2.0
/* Who may read from the terminal, and how is it left behind? */
#define _GNU_SOURCE 1

#include "user/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>

#include "user/base.h"

void comet_terminal_open(struct comet_terminal *terminal)
{
	*terminal = (struct comet_terminal){ .fd = open("/dev/tty", O_RDWR | O_CLOEXEC) };
	if (terminal->fd < 0)
		return;
	if (tcgetattr(terminal->fd, &terminal->modes) < 0 ||
	    ioctl(terminal->fd, TIOCGETD, &terminal->discipline) < 0 ||
	    ioctl(terminal->fd, TIOCGEXCL, &terminal->exclusive) < 0) {
		comet_close_fd(&terminal->fd);
		return;
	}
	/* tcgetpgrp answers for the controlling terminal only, not for any other one. */
	terminal->eager = tcgetpgrp(STDIN_FILENO) > 0 && tcgetpgrp(STDOUT_FILENO) > 0 &&
			  comet_terminal_is_ours(terminal);
	terminal->given = terminal->eager;
}

bool comet_terminal_is_ours(const struct comet_terminal *terminal)
{
	return terminal->fd >= 0 && tcgetpgrp(terminal->fd) == getpgrp();
}

void comet_terminal_give(struct comet_terminal *terminal, pid_t group)
{
	if (terminal->fd >= 0 && tcsetpgrp(terminal->fd, group) == 0)
		terminal->given = true;
}

/* Without waiting for output: the agent may have stopped it. */
static void reset(const struct comet_terminal *terminal)
{
	tcflow(terminal->fd, TCOON);
	tcsetattr(terminal->fd, TCSANOW, &terminal->modes);
}

/*
 * A line discipline that is none of a terminal's leaves it deaf and mute, an exclusive one cannot
 * be opened again: no shell that takes it back would mend that.
 */
static void mend(const struct comet_terminal *terminal)
{
	int now;

	if (ioctl(terminal->fd, TIOCGETD, &now) == 0 && now != terminal->discipline)
		ioctl(terminal->fd, TIOCSETD, &terminal->discipline);
	if (ioctl(terminal->fd, TIOCGEXCL, &now) == 0 && now && !terminal->exclusive)
		ioctl(terminal->fd, TIOCNXCL);
}

void comet_terminal_close(struct comet_terminal *terminal, bool reset_modes)
{
	if (terminal->fd < 0)
		return;
	mend(terminal);
	if (terminal->given)
		tcsetpgrp(terminal->fd, getpgrp());
	if (terminal->given && reset_modes)
		reset(terminal);
	terminal->given = false;
	comet_close_fd(&terminal->fd);
}
