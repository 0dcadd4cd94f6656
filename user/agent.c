// SPDX-License-Identifier: Apache-2.0
/* What does the agent's process do before it becomes the agent? */
#define _GNU_SOURCE 1

#include "user/agent.h"

#include <linux/close_range.h>

#include "user/base.h"
#include "user/control.h"
#include "user/fault.h"
#include "user/sandbox.h"

static void __attribute__((noreturn)) fail(const struct comet_init *init, const char *step, int err)
{
	struct comet_error error;

	comet_error_set(&error, -err, "cannot %s: %s", step, strerror(-err));
	comet_control_send(init->control, COMET_MESSAGE_FAILED, -err, error.text,
			   strlen(error.text));
	_exit(125);
}

/*
 * A process group of its own, as a shell gives to each job: the terminal's signals are delivered
 * once, and kill(0, ...) in the agent reaches nobody outside.
 */
static void set_group(const struct comet_init *init)
{
	setpgid(0, 0);
	if (init->terminal >= 0 && init->foreground)
		tcsetpgrp(init->terminal, getpid());
}

static int set_output(int fd, int target)
{
	return fd < 0 || dup2(fd, target) >= 0 ? 0 : -errno;
}

/* What the caller's shell said of its own directory is not so for the agent: shells look there. */
static int correct_environment(char **environment, const char *directory)
{
	int err = comet_environment_replace(environment, "PWD", directory);

	return err < 0 ? err : comet_environment_replace(environment, "OLDPWD", NULL);
}

void comet_agent_main(const struct comet_init *init, const char *program, const char *directory)
{
	const char *step = "set the agent's output";
	int err;

	comet_fault_at("agent", NULL);
	set_group(init);
	err = set_output(init->output, STDOUT_FILENO);
	if (err == 0)
		err = set_output(init->errors, STDERR_FILENO);
	/* As the supervisor's user: the caller may stand where the agent's user may not go. */
	if (err == 0) {
		step = "change to the agent's directory";
		err = chdir(directory) < 0 ? -errno
					   : correct_environment(init->environment, directory);
	}
	if (err == 0)
		err = comet_sandbox_drop(init->account, &step);
	if (err == 0 && close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) < 0) {
		step = "close the agent's descriptors";
		err = -errno;
	}
	if (err < 0)
		fail(init, step, err);
	comet_fault_at("agent-ready", NULL);
	comet_control_send(init->control, COMET_MESSAGE_HELLO, 0, NULL, 0);
	comet_signals_restore(init->signals);
	execve(program, init->argv, init->environment);
	comet_control_send(init->control, COMET_MESSAGE_NO_EXEC, errno, NULL, 0);
	_exit(127);
}
